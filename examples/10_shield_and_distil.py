"""Shield a policy with a model and a proved set, then distil the backup into a tree and prove it.

A mass on a line must stay within 1 m of the middle while something pushes it. A set is proved to be
kept under a small network; a shield with that set then lets a random policy act only where the
next state stays inside. Last, the network becomes a decision tree, which z3 proves.

Run: python examples/10_shield_and_distil.py
"""

from typing import Any

import gymnasium as gym
import numpy as np
from safegym_scenarios.models import double_integrator, find_model

import safegym as sg
from safegym.check.loop.inductive import prove_inductive
from safegym.check.loop.shield import ModelShield
from safegym.check.loop.simulate import advance
from safegym.check.symbolic.model import check_model
from safegym.gate.distill import distil

model = find_model("double-integrator")
plant, network = model.dynamics, model.policy()
position, kept = double_integrator.POSITION, double_integrator.SET
near = {"position": (-0.15, 0.15), "velocity": (-0.15, 0.15)}

proof = prove_inductive(plant, network, near, abs(position) <= 1.0, kept)
print(f"the set is kept under the network: {proof.result} in {proof.seconds:.1f} s")


class Mass(gym.Env[Any, Any]):
    """The mass, pushed outwards as hard as the model allows."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = gym.spaces.Box(-2.0, 2.0, (1,), np.float32)

    def reset(  # noqa: D102
        self, *, seed: int | None = None, options: Any = None
    ) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.state = self.np_random.uniform(-0.15, 0.15, 2)
        return self.state.copy(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Any]:  # noqa: D102
        push = np.array([[np.copysign(0.1, self.state[0])]])
        self.state = advance(plant, self.state[None], np.asarray(action, float)[None], push)[0]
        return self.state.copy(), 0.0, False, False, {}


def farthest(env: gym.Env[Any, Any]) -> tuple[float, int]:
    """How far from the middle a random policy comes in 20 episodes, and steps of the backup."""
    rng, far, backed = np.random.default_rng(0), 0.0, 0
    for seed in range(20):
        env.reset(seed=seed)
        for _ in range(100):
            seen, *_, info = env.step(rng.uniform(-2.0, 2.0, 1))
            far = max(far, abs(seen[0]))
        backed += info.get("shield", {"steps": 0})["steps"]
    return far, backed


shield = ModelShield(plant, abs(position) <= 1.0, network, inside=kept, proof=proof)
print(shield.guarantee)
print("random policy alone:  farthest {:.2f} m".format(*farthest(Mass())))
print("random policy behind: farthest {:.2f} m, backup in {} of 2000 steps".format(
    *farthest(shield.wrap(Mass()))))  # fmt: skip

found = distil(network, plant, leaves=16, rounds=4, steps=60, claims=[abs(position) <= 1.2],
               start={"position": (-0.5, 0.5), "velocity": (-0.5, 0.5)},
               reward=lambda states, actions: -(states**2).sum(axis=1))  # fmt: skip
print(found)
answer = check_model(plant, model.policy("tree"), sg.always(kept), initial=near, steps=1,
                     method="induction")  # fmt: skip
print(f"the shipped tree: {answer.standing}")
assert (proof.result, answer.result) == ("PROVED", "PROVED")
