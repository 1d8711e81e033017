"""A pole on a cart: Gymnasium's full equations and Euler step, with a continuous force.

The pole's acceleration divides by `4/3 - (1/11) cos^2`. With s = sin^2 and r = s (1/11) / (41/33)
that is (41/33) (1 + r), and 1/(1 + r) = (1 - r (1 - r)) / (1 + r^3). The last divisor is left to a
disturbance: `reciprocal_error` e stands for 1/(1 + r^3) - 1, which lies in [-0.0004, 0] at every
angle, because r <= 3/41. So the model allows all that the equations do, and is polynomial but for
sine and cosine.
"""

from safegym.formula.dynamics import Dynamics
from safegym.formula.functions import cos, quantity, sin
from safegym.formula.terms import Signal
from safegym_scenarios.models.ready import OneStepClaim, ReachClaim, ReadyModel, network

CART = Signal("cart_position", "m", scale=1.0)
CART_SPEED = Signal("cart_velocity", "m/s", scale=1.0)
POLE = Signal("pole_angle", "rad", scale=0.2)
POLE_SPEED = Signal("pole_angular_speed", "rad/s", scale=1.0)
FORCE = Signal("force", "N", bounds=(-10.0, 10.0))
PUSH = Signal("cart_push", "N", bounds=(-0.1, 0.1))
ERROR = Signal("reciprocal_error", bounds=(-0.0004, 0.0))

GRAVITY, POLE_MASS, MASS, HALF_LENGTH = 9.8, 0.1, 1.1, 0.5
"""m/s^2; kg of the pole, and of pole and cart; m from the hinge to the pole's middle."""
R_BY_SINE_SQUARED, DIVISOR = 3.0 / 41.0, 41.0 / 33.0
"""r / s and 41/33 of the rewritten divisor above, without units."""

_DT = quantity(0.02, "s")
_SINE, _COSINE = sin(POLE), cos(POLE)
_SWING = quantity(POLE_MASS * HALF_LENGTH / MASS, "m/rad^2") * (POLE_SPEED * POLE_SPEED) * _SINE
_PUSHED = (FORCE + PUSH) / quantity(MASS, "kg") + _SWING
_R = R_BY_SINE_SQUARED * (_SINE * _SINE)
_RECIPROCAL = (1.0 - _R * (1.0 - _R)) * (1.0 + ERROR)
_DRIVEN = quantity(GRAVITY, "m/s^2") * _SINE - _COSINE * _PUSHED
_TURNING = (_DRIVEN * _RECIPROCAL) * quantity(1.0 / (HALF_LENGTH * DIVISOR), "rad/m")
_MOVING = _PUSHED - quantity(POLE_MASS * HALF_LENGTH / MASS, "m/rad") * _TURNING * _COSINE

DYNAMICS = Dynamics(
    "cart-pole",
    states=(CART, CART_SPEED, POLE, POLE_SPEED),
    actions=(FORCE,),
    disturbances=(PUSH, ERROR),
    next={
        "cart_position": CART + _DT * CART_SPEED,
        "cart_velocity": CART_SPEED + _DT * _MOVING,
        "pole_angle": POLE + _DT * POLE_SPEED,
        "pole_angular_speed": POLE_SPEED + _DT * _TURNING,
    },
    dt="0.02",
)

_ACTION = Signal("action", shape=(1,))
_POLE_LIMIT = 0.2094
"""Rad: Gymnasium's 12 degrees, rounded down."""


def _around(size: float) -> dict[str, tuple[float, float]]:
    return {signal.name: (-size, size) for signal in DYNAMICS.states}


MODEL = ReadyModel(
    name="cart-pole",
    summary="Balance a pole on a cart by pushing the cart.",
    dynamics=DYNAMICS,
    equations=(
        "q = (force + cart_push + 0.05 pole_angular_speed^2 sin(pole_angle)) / 1.1",
        "a = (9.8 sin(pole_angle) - cos(pole_angle) q) / (0.5 (4/3 - cos(pole_angle)^2 / 11))",
        "cart_position' = cart_position + 0.02 cart_velocity",
        "cart_velocity' = cart_velocity + 0.02 (q - (0.05 / 1.1) a cos(pole_angle))",
        "pole_angle' = pole_angle + 0.02 pole_angular_speed",
        "pole_angular_speed' = pole_angular_speed + 0.02 a",
    ),
    claims=(
        ReachClaim(
            id="cart-pole.upright",
            meaning="From within 0.05 of rest in every state, the pole is within 12 degrees for "
            "0.5 s.",
            start=_around(0.05),
            safe=abs(POLE) <= _POLE_LIMIT,
            steps=25,
            answer="PROVED",
        ),
        ReachClaim(
            id="cart-pole.rolling",
            meaning="From within 0.05 of rest but for a cart that rolls at up to 1.3 m/s, the pole "
            "is within 12 degrees for 0.5 s.",
            start=_around(0.05) | {"cart_velocity": (-1.3, 1.3)},
            safe=abs(POLE) <= _POLE_LIMIT,
            steps=25,
            answer="VIOLATED",
        ),
        OneStepClaim(
            id="cart-pole.follows",
            meaning="Near the middle, with the pole leaning and falling right, it pushes right.",
            formula=_ACTION[0] > 0.0,
            region=((-0.1, 0.1), (-0.1, 0.1), (0.05, 0.15), (0.1, 0.5)),
            answer="PROVED",
        ),
    ),
    trained="imitates a saturated linear-quadratic regulator; 4-32-32-1 ReLU",
    policies={"network": network("cart-pole")},
)
