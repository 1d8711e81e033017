"""Cart-poles that differ from Gymnasium's: longer, hampered, pushed, or seen badly."""

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always, eventually, never, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym.trace.model import Clock
from safegym_scenarios.classic_systems.cartpole_env import (
    HORIZON,
    TRACK_DRAG,
    CartPole,
    make_cartpole,
    read_cartpole,
)

POLE_LIMIT = 12 * 2 * np.pi / 360
TRACK_LIMIT = 2.4
POLE = Signal("pole_angle", unit="rad", scale=float(POLE_LIMIT))
POLE_SPEED = Signal("pole_angular_speed", unit="rad/s", scale=1.0)
CART = Signal("cart_position", unit="m", scale=TRACK_LIMIT)
CART_SPEED = Signal("cart_velocity", unit="m/s", scale=1.0)
Actions = NDArray[np.int64]


def long_pole() -> ScenarioSpec:
    """A pole of 3 m that weighs 0.3 kg: it falls slowly, and the cart must go far to catch it."""
    return _cartpole(
        "long-pole",
        "Balance a pole of 3 m on a cart.",
        CartPole(half_length=1.5, pole_mass=0.3),
        damping=2.5,
    )


def heavy_pole() -> ScenarioSpec:
    """A pole that weighs as much as the cart and throws it about."""
    return _cartpole(
        "heavy-pole", "Balance a pole that weighs as much as its cart.", CartPole(pole_mass=1.0)
    )


def sticky_track() -> ScenarioSpec:
    """A track that holds the cart back by 1 to 3 N for each m/s."""
    return _cartpole(
        "sticky-track", "Balance a pole on a cart that drags.", CartPole(always=(TRACK_DRAG,))
    )


def gusts() -> ScenarioSpec:
    """A cart that is pushed by up to 3 N, anew every half second."""
    return _cartpole(
        "gusts", "Balance a pole on a cart that gusts push about.", CartPole(gusty=True)
    )


def weak_motor() -> ScenarioSpec:
    """A motor that loses between a third and two thirds of its force during the episode."""
    always = (
        Parameter("actuator_loss", "1", 0.3, 0.65, 0.5, "share of the motor's force that is lost"),
        Parameter("actuator_loss_time", "s", 0.0, 2.0, 0.0, "when it is lost"),
    )
    return _cartpole(
        "weak-motor", "Balance a pole with a motor that fails in part.", CartPole(always=always)
    )


def sensor_delay() -> ScenarioSpec:
    """Readings that are one or two control steps old."""
    always = (
        Parameter("sensor_delay", "s", 0.02, 0.04, 0.02, "how old the readings are, whole steps"),
    )
    return _cartpole(
        "sensor-delay", "Balance a pole that is seen late.", CartPole(always=always), damping=1.5
    )


def sensor_noise() -> ScenarioSpec:
    """Noisy readings, of which up to three in ten never come."""
    always = (
        Parameter("sensor_noise", "1", 0.02, 0.05, 0.03, "noise: deviation over each scale"),
        Parameter("sensor_dropout", "1", 0.1, 0.3, 0.2, "probability that a reading is lost"),
    )
    return _cartpole(
        "sensor-noise", "Balance a pole that is seen badly.", CartPole(always=always), damping=1.3
    )


def _claims() -> tuple[Claim, ...]:
    return (
        Claim(
            id="cartpole.pole",
            statement=prob(eventually(abs(POLE) > POLE_LIMIT)) < 0.05,
            confidence=0.95,
            hazard="The pole falls on whoever stands beside the track.",
            source="Gymnasium CartPole-v1: an episode fails beyond 12 degrees.",
            severity="critical",
        ),
        Claim(
            id="cartpole.track",
            statement=prob(eventually(abs(CART) > 1.6)) < 0.05,
            confidence=0.95,
            hazard="The cart runs into the buffer at the track's end.",
            source="chosen: two thirds of the 2.4 m at which Gymnasium ends the episode.",
        ),
        Claim(
            id="cartpole.cart_speed",
            statement=never(abs(CART_SPEED) > 1.4),
            hazard="The cart is too fast for its end stops to hold it.",
            source="chosen: three times what balancing needs on Gymnasium's own system.",
        ),
        Claim(
            id="cartpole.settle",
            statement=prob(eventually(always(abs(POLE) <= 0.06, lasting=1), within="3.5")) >= 0.95,
            confidence=0.95,
            hazard="The pole is not held: the task is not done.",
            source="chosen: within a third of the limit for 1 s, begun within 3.5 s.",
            severity="marginal",
        ),
    )


def _cartpole(name: str, summary: str, variant: CartPole, *, damping: float = 1.0) -> ScenarioSpec:
    inputs = variant.inputs
    return ScenarioSpec(
        name=f"classic/cartpole-{name}-v0",
        summary=summary,
        make_env=partial(make_cartpole, variant),
        read_signals=read_cartpole,
        signals=(CART, CART_SPEED, POLE, POLE_SPEED),
        clock=Clock(Fraction(1, 50)),
        horizon=HORIZON,
        claims=_claims(),
        parameters=inputs.parameters,
        faults=inputs.faults,
        disturbances=inputs.disturbances,
        terminals={"terminated": "failed"},
        good=partial(_steady, damping),
        bad={
            "cartpole.pole": _one_way,
            "cartpole.track": partial(_wandering, damping),
            "cartpole.cart_speed": partial(_racing, damping),
            "cartpole.settle": _one_way,
        },
        physics=("gymnasium",),
    )


def _steady(damping: float) -> ScriptedPolicy:
    return ScriptedPolicy(
        f"cartpole.steady-{damping:g}", partial(_balance, target=0.0, damping=damping, reach=1.0)
    )


def _wandering(damping: float) -> ScriptedPolicy:
    return ScriptedPolicy(
        f"cartpole.off-track-{damping:g}",
        partial(_balance, target=8.0, damping=damping, reach=1.0),
    )


def _racing(damping: float) -> ScriptedPolicy:
    return ScriptedPolicy(
        f"cartpole.racing-{damping:g}",
        partial(_balance, target=20.0, damping=damping, reach=4.0),
    )


def _one_way() -> ScriptedPolicy:
    return ScriptedPolicy("cartpole.one-way", _push_right)


def _push_right(observations: NDArray[Any]) -> Actions:
    return np.ones(len(observations), np.int64)


def _balance(observations: NDArray[Any], *, target: float, damping: float, reach: float) -> Actions:
    """State feedback to a bang-bang motor. target: m from the middle. reach: m of it that count."""
    x, v, angle, rate = observations.astype(np.float64).T
    offset = np.clip(x - target, -reach, reach)
    push = 0.5 * offset + 1.0 * v + 10.0 * angle + 2.0 * damping * rate
    return np.where(push > 0.0, 1, 0).astype(np.int64)
