"""Write a scenario: a system, its signals, its hazards as claims, policies that separate them.

A cart on a rail brakes before a wall; the track's grip differs from episode to episode.

Run: python examples/04_a_scenario_of_your_own.py
"""

from fractions import Fraction
from typing import Any

import gymnasium as gym
import numpy as np

import safegym as sg
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter
from safegym.trace.model import Clock

GAP = sg.Signal("gap", unit="m", scale=1.0)
SPEED = sg.Signal("speed", unit="m/s", scale=1.0)
DT = Fraction(1, 20)
HORIZON = 160
INPUTS = Inputs(HORIZON, (Parameter("grip", "1", 0.6, 1.0, meaning="share of full friction"),))


class Cart(gym.Env[Any, Any]):
    """Observation: gap (m), speed (m/s). Action in [0, 1]: braking, 3 m/s^2 at full grip."""

    observation_space = gym.spaces.Box(-50.0, 50.0, (2,), np.float64)
    action_space = gym.spaces.Box(0.0, 1.0, (1,), np.float64)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """The seed decides the whole episode; parameters may be set from outside."""
        super().reset(seed=seed)
        drawn = INPUTS.draw(self.np_random, options)
        self.grip, self.gap, self.speed = drawn.parameters["grip"], 10.0, 4.0
        return np.array([self.gap, self.speed]), drawn.info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One control step; the end is named in info["terminal"]."""
        self.speed = max(0.0, self.speed - 3.0 * self.grip * float(action[0]) * float(DT))
        self.gap -= self.speed * float(DT)
        end = "crash" if self.gap <= 0 else "parked" if self.speed == 0 else ""
        info = {"terminal": end} if end else {}
        return np.array([self.gap, self.speed]), self.speed, bool(end), False, info


def read(env: Any) -> tuple[float, float]:
    """The signals' values, in the order declared; called after reset and after each step."""
    return env.gap, env.speed


def brake_within(gap: float) -> Any:
    """A policy maker: full braking once the wall is nearer than `gap`. Acts on whole batches."""
    name = f"brake within {gap:g} m"
    return lambda: sg.ScriptedPolicy(name, lambda rows: (rows[:, :1] < gap).astype(np.float64))


safe = sg.prob(sg.always(GAP > 0)) >= 0.95
stops = sg.prob(sg.eventually(SPEED <= 0.01, within=8)) >= 0.95
spec = sg.ScenarioSpec(
    name="mylab/cart-v0",
    summary="A cart brakes before a wall on a track of unknown grip.",
    make_env=Cart,
    read_signals=read,
    signals=(GAP, SPEED),
    clock=Clock(DT),
    horizon=HORIZON,
    claims=(sg.Claim(id="cart.gap", statement=safe), sg.Claim(id="cart.stop", statement=stops)),
    parameters=INPUTS.parameters,
    terminals={"crash": "failed", "parked": "absorbed"},
    good=brake_within(8.0),
    bad={"cart.gap": brake_within(3.0), "cart.stop": brake_within(-1.0)},
    physics=("gymnasium",),
)
assert not spec.validate(), spec.validate()
for make in (spec.good, spec.bad["cart.gap"]):
    for item in sg.certify(spec, make(), budget=400):
        print(f"{make().card.name}: {item.claim_id} {item.status}, {item.violations} failed")
