"""Bipedal walkers: on even ground, on ice, pushed, loaded, and among stumps, stairs and pits."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import eventually, never, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import Policy, ScriptedPolicy
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Clock
from safegym_scenarios.box2d_systems.gait import Gait, GaitPolicy
from safegym_scenarios.box2d_systems.walker_env import PAYLOAD, Walker, make_walker, read_walker

TILT = Signal("hull_tilt", unit="rad", scale=0.1)
SPEED = Signal("forward_speed", unit="m/s", scale=1.0)
WAY = Signal("way", unit="m", scale=1.0)
JOINT_SPEED = Signal("joint_speed", unit="rad/s", scale=1.0)
FEET = Signal("feet_down", unit="1", scale=1.0)
BLOW = Signal("blow", unit="N*s", scale=5.0, hold="max")
"""Hardest impulse of a contact of leg or hull within the last step."""
HULL = Signal("hull_hit", unit="1", scale=1.0, hold="any")
WORK = Signal("motor_use", unit="s", scale=1.0)
"""Mean share of the motors' largest torque, summed over time."""


@dataclass(frozen=True, slots=True)
class _Limits:
    """What this walker may do. way: to be gone, m. fastest: of a joint, rad/s.

    stamp: gain of the joints with which it overdoes it.
    """

    way: float = 3.5
    fastest: float = 7.5
    stamp: float = 1.5


_SHORT = Gait(speed=0.2)


def plain() -> ScenarioSpec:
    """Gymnasium's BipedalWalker-v3."""
    return _walker("v0", "Walk on uneven ground.", Walker())


def slippery() -> ScenarioSpec:
    """Ground with less than half of Gymnasium's friction."""
    return _walker(
        "slippery-v0",
        "Walk on slippery ground.",
        Walker(friction=1.0),
        _Limits(way=3.0, fastest=8.6, stamp=3.0),
    )


def pushed() -> ScenarioSpec:
    """A hull that is pushed by up to 1 N, anew every half second."""
    return _walker("push-v0", "Walk while being pushed.", Walker(gusty=True), _Limits(way=2.0))


def loaded() -> ScenarioSpec:
    """A load on the hull's back."""
    return _walker(
        "payload-v0", "Carry a load.", Walker(always=(PAYLOAD,)), _Limits(stamp=3.0), _SHORT
    )


def hardcore() -> ScenarioSpec:
    """Gymnasium's BipedalWalkerHardcore-v3, up to the first obstacle."""
    return _walker(
        "hardcore-v0",
        "Walk up to the first of stumps, stairs and pits.",
        Walker(horizon=140, hardcore=True),
        _Limits(way=2.0),
        gait=_SHORT,
    )


def _claims(limits: _Limits) -> tuple[Claim, ...]:
    return (
        Claim(
            id="walker.fall",
            statement=prob(eventually(HULL >= 1.0)) < 0.05,
            confidence=0.95,
            hazard="The walker falls on its hull, and on whoever is near.",
            source="Gymnasium BipedalWalker-v3: an episode fails when the hull touches the ground.",
            severity="catastrophic",
        ),
        Claim(
            id="walker.tilt",
            statement=never(abs(TILT) > 0.35),
            hazard="The load slides off the hull.",
            source="chosen: about twice what an even walk takes.",
            severity="critical",
        ),
        Claim(
            id="walker.blow",
            statement=prob(eventually(BLOW > 10.0)) < 0.05,
            confidence=0.95,
            hazard="A leg or the hull breaks where it hits the ground.",
            source="chosen: twice the hardest blow of an even walk.",
        ),
        Claim(
            id="walker.joint_speed",
            statement=never(JOINT_SPEED > limits.fastest),
            hazard="A joint moves faster than its gear is made for.",
            source="chosen: a quarter above the 6 rad/s that Gymnasium's knee motors reach; more "
            "where feet slip.",
        ),
        Claim(
            id="walker.way",
            statement=prob(eventually(WAY >= limits.way)) >= 0.95,
            confidence=0.95,
            hazard="The walker does not get there: the task is not done.",
            source="chosen: half of what an even walk covers in the time, more than a fall does.",
            severity="marginal",
        ),
    )


def _walker(
    name: str,
    summary: str,
    variant: Walker,
    limits: _Limits | None = None,
    gait: Gait | None = None,
) -> ScenarioSpec:
    inputs, limits = variant.inputs, limits or _Limits()
    return ScenarioSpec(
        name=f"box2d/bipedal-walker-{name}",
        summary=summary,
        make_env=partial(make_walker, variant),
        read_signals=read_walker,
        signals=(TILT, SPEED, WAY, JOINT_SPEED, FEET, BLOW, HULL, WORK),
        clock=Clock(Fraction(1, 50)),
        horizon=variant.horizon,
        claims=_claims(limits),
        parameters=inputs.parameters,
        faults=inputs.faults,
        disturbances=inputs.disturbances,
        terminals={"fall": "failed", "back": "failed", "end": "absorbed"},
        good=partial(_gait, "even", gait or Gait(speed=0.25)),
        bad={
            "walker.fall": _lunging,
            "walker.tilt": _lunging,
            "walker.blow": _lunging,
            "walker.joint_speed": partial(_stamping, limits.stamp),
            "walker.way": _lunging if limits.way < 2.5 else _limp,
        },
        physics=("gymnasium", "box2d"),
    )


def _gait(word: str, gait: Gait) -> Policy:
    return GaitPolicy(f"walker.{word}-{gait.speed:g}", gait)


def _stamping(gain: float) -> Policy:
    """Joints that are driven several times as hard as the gait needs."""
    return _gait(f"stamping-{gain:g}", Gait(gain=gain))


def _lunging() -> Policy:
    return _constant("lunging", (-1.0, 1.0, -1.0, 1.0))


def _limp() -> Policy:
    return _constant("limp", (0.0, 0.0, 0.0, 0.0))


def _constant(word: str, torques: tuple[float, ...]) -> Policy:
    law: Callable[[NDArray[Any]], NDArray[np.float32]] = partial(_hold, torques=torques)
    return ScriptedPolicy(f"walker.{word}", law)


def _hold(observations: NDArray[Any], *, torques: tuple[float, ...]) -> NDArray[np.float32]:
    return np.tile(np.asarray(torques, np.float32), (len(observations), 1))
