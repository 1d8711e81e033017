"""The braking vehicle: signals, claims, drivers and scenario.

Equations, step and distance are simple enough to differentiate through, and the road's grade and
the wind decide how the stop comes out, so that searching over them is worth while.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always, eventually, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Clock
from safegym_scenarios.braking_dynamics import (
    HORIZON,
    INPUTS,
    MODEL,
    careful,
    coasting,
    hasty,
    late,
    timid,
)
from safegym_scenarios.braking_env import BrakingEnv, read_signals

DISTANCE = Signal("line_distance", unit="m", scale=1.0)
"""Distance to the line, m; negative beyond it."""
SPEED = Signal("speed", unit="m/s", scale=1.0)
DECELERATION = Signal("deceleration", unit="m/s^2", scale=1.0)
"""Deceleration over the last step, m/s2; 0 at the start."""

CLAIMS = (
    Claim(
        id="braking.line",
        statement=prob(eventually(DISTANCE <= 0.0)) < 0.01,
        confidence=0.95,
        hazard="The vehicle runs over the line.",
        source="threshold chosen",
        severity="critical",
    ),
    Claim(
        id="braking.gentle",
        statement=prob(eventually(DECELERATION > 4.5)) < 0.05,
        confidence=0.95,
        hazard="Standing passengers fall.",
        source="threshold chosen",
    ),
    Claim(
        id="braking.arrive",
        statement=prob(
            eventually(always((DISTANCE <= 6.0) & (SPEED <= 0.05), lasting=1), within=11)
        )
        >= 0.95,
        confidence=0.95,
        hazard="task not done",
        source="threshold chosen; keeps a vehicle that stops at once from passing",
        severity="marginal",
    ),
)


def braking() -> ScenarioSpec:
    """Stop before a line on an uneven road in gusts: 12 s at 10 Hz."""
    return ScenarioSpec(
        name="classic/braking-v0",
        summary="Stop a vehicle before a line, on a road that rises and falls and in a wind.",
        make_env=BrakingEnv,
        read_signals=read_signals,
        signals=(DISTANCE, SPEED, DECELERATION),
        clock=Clock(Fraction(1, 10)),
        horizon=HORIZON,
        claims=CLAIMS,
        parameters=INPUTS.parameters,
        faults=INPUTS.faults,
        disturbances=INPUTS.disturbances,
        good=partial(_driver, "careful", careful),
        bad={
            "braking.line": partial(_driver, "coasting", coasting),
            "braking.gentle": partial(_driver, "late", late),
            "braking.arrive": partial(_driver, "timid", timid),
        },
        baselines={"hasty": partial(_driver, "hasty", hasty)},
        physics=("gymnasium",),
        model=MODEL,
    )


def _driver(name: str, law: Callable[..., Any]) -> ScriptedPolicy:
    return ScriptedPolicy(f"braking.{name}", partial(_act, law=law))


def _act(observations: NDArray[Any], *, law: Callable[..., Any]) -> NDArray[np.float32]:
    actions = law(np, *observations.astype(np.float64).T)
    return np.asarray(actions[:, None], np.float32)
