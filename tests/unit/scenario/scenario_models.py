"""Small systems that the scenario tests run on."""

from fractions import Fraction

import gymnasium as gym
import numpy as np

from safegym.formula.build import never
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Clock

LEVEL = Signal("level", unit="m")


class Walk(gym.Env):
    """A random walk that ends after a drawn number of steps, or goes wrong where it is told to.

    Seeds 0 mod 7 run long. `faults` maps a seed to what happens at step 3.
    """

    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def __init__(self, faults=None, endless=False):
        self.faults, self.endless, self.level = dict(faults or {}), endless, 0.0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.seed, self.count = seed, 0
        self.length = 60 if seed % 7 == 0 else int(self.np_random.integers(3, 12))
        if self.faults.get(seed) == "reset":
            raise RuntimeError("no reset today")
        self.level = float(self.np_random.normal())
        return self._seen(), {}

    def step(self, action):
        self.count += 1
        self.level += float(action[0]) + float(self.np_random.normal())
        fault = self.faults.get(self.seed) if self.count == 3 else None
        if fault == "raise":
            raise RuntimeError("the gearbox broke")
        if fault == "nan":
            self.level = float("nan")
        over = self.count >= self.length and not self.endless
        return self._seen(), self.level, over, False, {"terminal": "done"} if over else {}

    def _seen(self):
        return np.array((self.level, self.count), np.float32)


def read_level(env):
    return (env.level,)


def follow(observations):
    return np.clip(-0.3 * observations[:, :1], -1.0, 1.0).astype(np.float32)


def follower(name="follow"):
    return ScriptedPolicy(name, follow)


def walk(make_env=Walk, *, horizon=40, can_run_tail=True, name="test/walk-v0", **more):
    return ScenarioSpec(
        name=name,
        summary="A random walk.",
        make_env=make_env,
        read_signals=read_level,
        signals=(LEVEL,),
        clock=Clock(Fraction(1, 10)),
        horizon=horizon,
        claims=(Claim(id="walk.level", statement=never(LEVEL > 100.0)),),
        terminals={"done": "absorbed"},
        good=follower,
        bad={"walk.level": follower},
        physics=("gymnasium",),
        can_run_tail=can_run_tail,
        **more,
    )
