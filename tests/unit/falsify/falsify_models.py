"""Piecewise-constant systems whose smallest counterexamples are known, as scenarios.

`level` after the last step is a plain function of what reset was given, so that every point can be
judged without the library.
"""

from fractions import Fraction
from functools import partial

import gymnasium as gym
import numpy as np

from safegym.formula.build import always, eventually, never, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym.trace.model import Clock

LEVEL = Signal("level", unit="m", scale=1.0)
HEAT = Signal("heat", unit="K")
HORIZON = 8
PARAMETERS = (
    Parameter("load", "kg", 0.0, 2.0, 0.5, "weight on the float"),
    Parameter("start", "m", -1.0, 1.0, 0.0, "where it starts", role="initial"),
)
FAULTS = (
    Parameter("leak", "1", 0.0, 1.0, 0.0, "share that leaks"),
    Parameter("stuck", "1", 0.0, 1.0, 0.0, "how far the valve sticks"),
)
PUSHES = (Disturbance("push", "N", -1.0, 1.0, 4), Disturbance("pull", "N", 0.0, 2.0, 2))
INPUTS = Inputs(HORIZON, PARAMETERS, FAULTS, PUSHES)


def sum_of_pushes(v):
    """Each piece counts its value; nothing else counts."""
    return sum(v["push"])


def weighted(v):
    """One piece counts for three others."""
    p = v["push"]
    return 3.0 * p[0] + p[1] + p[2] + p[3]


def fault_and_push(v):
    """The leak alone does nothing, and neither does the push alone."""
    return v["leak"] * max(v["push"]) * 2.0


def needle(v):
    """Only near one inner point of the cube: corners never meet it."""
    gaps = (v["load"] - 1.3, v["start"] - 0.4, v["push"][1] + 0.2)
    return 1.0 - max(abs(g) for g in gaps)


def everything(v):
    """All of it, with different weights."""
    return (
        0.2 * v["load"]
        + 0.5 * v["start"]
        + 0.7 * v["leak"]
        + 0.4 * v["stuck"]
        + 0.3 * sum(v["push"])
        + 0.1 * sum(v["pull"])
    )


class Tank(gym.Env):
    """Ends at `rule` of what it was given, rising evenly; `noise` adds what the seed draws."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (1,), np.float32)
    action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
    resets = 0

    def __init__(self, rule, noise=0.0, drift=0.0, stop=None, refuses=9.0, deaf=False):
        self.rule, self.noise, self.drift, self.stop = rule, noise, drift, stop
        self.refuses, self.deaf = refuses, deaf

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        drawn = INPUTS.draw(self.np_random, options)
        Tank.resets += 1
        if drawn.parameters["start"] > self.refuses:
            raise RuntimeError("it overflows")
        pieces = {each.name: drawn.disturbances.get(each.name) for each in PUSHES}
        for each in PUSHES:
            if pieces[each.name] is None:
                pieces[each.name] = tuple(
                    self.np_random.uniform(each.low, each.high, each.pieces).tolist()
                )
        self.height = self.rule({**drawn.parameters, **pieces})
        self.height += self.noise * float(self.np_random.uniform(-1.0, 1.0))
        self.height += self.drift * Tank.resets
        self.count = 0
        if self.deaf:
            return self._seen(), {"parameters": {"load": 0.25}}
        return self._seen(), drawn.info

    def step(self, action):
        self.count += 1
        over = self.stop is not None and self.count >= self.stop
        return self._seen(), 0.0, over, False, {"terminal": "lost"} if over else {}

    @property
    def level(self):
        return self.height * self.count / HORIZON

    def _seen(self):
        return np.array((self.level,), np.float32)


def read_level(env):
    return env.level, 300.0 + env.level


def nothing(observations):
    return np.zeros((len(observations), 1), np.float32)


def constant(v):
    """Nothing matters."""
    return 1.0


def idle(name="idle"):
    return ScriptedPolicy(name, nothing)


def over(limit, *, id="tank.over"):
    return Claim(id=id, statement=never(LEVEL > limit))


def tank(rule, limit=1.5, *, claims=None, **more):
    return ScenarioSpec(
        name="test/tank-v0",
        summary="A tank.",
        make_env=partial(Tank, rule, **more),
        read_signals=read_level,
        signals=(LEVEL, HEAT),
        clock=Clock(Fraction(1, 10)),
        horizon=HORIZON,
        claims=claims or (over(limit),),
        parameters=PARAMETERS,
        faults=FAULTS,
        disturbances=PUSHES,
        good=idle,
        physics=("gymnasium",),
    )


CONDITIONAL = "tank.when_low"


def conditional(limit, low):
    """Of the episodes that end under `low`, hardly any go under `limit`."""
    ends_low = eventually(LEVEL < low, window=("0.8", "0.8"))
    return Claim(CONDITIONAL, prob(eventually(LEVEL < limit), given=ends_low) < 0.1)


MIXED = Claim(id="tank.mixed", statement=always((LEVEL < 1.5) | (HEAT < 290.0)))
