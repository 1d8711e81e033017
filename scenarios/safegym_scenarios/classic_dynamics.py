"""Gymnasium's pendulum and cart-pole with pushes from outside, and a motor that may weaken.

The equations are those of Gymnasium's `PendulumEnv` and `CartPoleEnv` in the same order of
operations, so that without a push and with a whole motor every bit agrees. Each function takes the
namespace first, numpy or torch, and numbers of it: float64, but the action as the policy gave it.
"""

import math
from typing import Any

from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.model import DifferentiableModel, Numbers, State
from safegym.scenario.spec import Parameter
from safegym_scenarios.classic_control import balance, hold_still, pump_and_catch, whirl

PENDULUM_DT = 0.05
PENDULUM_HORIZON = 200
CARTPOLE_DT = 0.02
CARTPOLE_HORIZON = 500

MOTOR_LOSS = Parameter("motor_loss", "1", 0.0, 1.0, 0.0, "share of the motor's effort that is lost")


def _loss_time(horizon: float) -> Parameter:
    return Parameter("motor_loss_time", "s", 0.0, horizon, 0.0, "when it is lost")


def _start(name: str, unit: str, limit: float, meaning: str) -> Parameter:
    return Parameter(name, unit, -limit, limit, 0.0, meaning, "initial")


PENDULUM_INPUTS = Inputs(
    PENDULUM_HORIZON,
    (
        _start("start_angle", "rad", math.pi, "angle from upright at the start"),
        _start("start_angular_speed", "rad/s", 1.0, "angular speed at the start"),
    ),
    (MOTOR_LOSS, _loss_time(10.0)),
    (
        Disturbance(
            "torque", "N m", -0.5, 0.5, 10, 0.0, "on the pendulum from outside; no seed draws it"
        ),
    ),
)
CARTPOLE_INPUTS = Inputs(
    CARTPOLE_HORIZON,
    (
        _start("start_cart_position", "m", 0.05, "cart's place from the middle at the start"),
        _start("start_cart_velocity", "m/s", 0.05, "cart's velocity at the start"),
        _start("start_pole_angle", "rad", 0.05, "pole's angle from upright at the start"),
        _start("start_pole_angular_speed", "rad/s", 0.05, "pole's angular speed at the start"),
    ),
    (MOTOR_LOSS, _loss_time(10.0)),
    (
        Disturbance(
            "cart_push", "N", -3.0, 3.0, 10, 0.0, "on the cart from outside; no seed draws it"
        ),
        Disturbance(
            "pole_torque", "N m", -0.05, 0.05, 10, 0.0, "on the pole from outside; no seed draws it"
        ),
    ),
)


def effort(xp: Any, parameters: Numbers, step: int, dt: float) -> Any:
    """Share of the motor's effort that is left, averaged over the step from `step` to the next."""
    after = xp.clip((step + 1) - parameters["motor_loss_time"] / dt, 0.0, 1.0)
    return 1.0 - parameters["motor_loss"] * after


def pendulum_step(xp: Any, state: State, motor: Any, left: Any, torque: Any) -> State:
    """One step of 0.05 s. motor: torque in N m within [-2, 2]; left: share of it that arrives."""
    angle, speed = state
    g, m, length = 10.0, 1.0, 1.0
    motor = 3.0 / (m * length**2) * motor
    turning = 3 * g / (2 * length) * xp.sin(angle) + motor * left + 3.0 / (m * length**2) * torque
    speed = xp.clip(speed + turning * PENDULUM_DT, -8.0, 8.0)
    return angle + speed * PENDULUM_DT, speed


def cartpole_step(xp: Any, state: State, force: Any, torque: Any) -> State:
    """One step of 0.02 s under a force on the cart (N) and a torque on the pole (N m).

    The torque adds torque / (mass x half length) to the numerator of the pole's acceleration, as it
    follows from the pole's equation 4/3 m l^2 a + m l x'' cos - m g l sin = torque.
    """
    x, v, angle, rate = state
    gravity, pole_mass, length = 9.8, 0.1, 0.5
    mass = pole_mass + 1.0
    moment = pole_mass * length
    cosine, sine = xp.cos(angle), xp.sin(angle)
    push = (force + moment * xp.square(rate) * sine) / mass
    turning = (gravity * sine - cosine * push + torque / moment) / (
        length * (4.0 / 3.0 - pole_mass * xp.square(cosine) / mass)
    )
    moving = push - moment * turning * cosine / mass
    return (
        x + CARTPOLE_DT * v,
        v + CARTPOLE_DT * moving,
        angle + CARTPOLE_DT * rate,
        rate + CARTPOLE_DT * turning,
    )


def _pendulum_start(xp: Any, parameters: Numbers) -> State:
    return parameters["start_angle"], parameters["start_angular_speed"]


def _pendulum_model_step(
    xp: Any, state: State, action: Any, parameters: Numbers, pushes: Numbers, step: int
) -> State:
    left = effort(xp, parameters, step, PENDULUM_DT)
    return pendulum_step(xp, state, xp.clip(action, -2.0, 2.0), left, pushes["torque"])


def _pendulum_signals(xp: Any, state: State) -> tuple[Any, ...]:
    angle, speed = state
    return (angle + math.pi) % (2.0 * math.pi) - math.pi, speed


def _pendulum_observation(xp: Any, state: State) -> tuple[Any, ...]:
    angle, speed = state
    return xp.cos(angle), xp.sin(angle), speed


def _cartpole_start(xp: Any, parameters: Numbers) -> State:
    return tuple(parameters[each.name] for each in CARTPOLE_INPUTS.parameters)


def _cartpole_model_step(
    xp: Any, state: State, action: Any, parameters: Numbers, pushes: Numbers, step: int
) -> State:
    left = effort(xp, parameters, step, CARTPOLE_DT)
    force = (10.0 if action == 1 else -10.0) * left + pushes["cart_push"]
    return cartpole_step(xp, state, force, pushes["pole_torque"])


def _whole_state(xp: Any, state: State) -> tuple[Any, ...]:
    return state


def _balance_at_centre(xp: Any, *observation: Any) -> Any:
    return balance(xp, *observation, target=0.0)


def _balance_off_track(xp: Any, *observation: Any) -> Any:
    return balance(xp, *observation, target=8.0)


def _push_right(xp: Any, *observation: Any) -> Any:
    return 1


PENDULUM_MODEL = DifferentiableModel(
    start=_pendulum_start,
    step=_pendulum_model_step,
    signals=_pendulum_signals,
    observe=_pendulum_observation,
    twins={
        "pendulum.swing-up": pump_and_catch,
        "pendulum.idle": hold_still,
        "pendulum.whirl": whirl,
    },
)
CARTPOLE_MODEL = DifferentiableModel(
    start=_cartpole_start,
    step=_cartpole_model_step,
    signals=_whole_state,
    observe=_whole_state,
    twins={
        "cartpole.steady": _balance_at_centre,
        "cartpole.wander": _balance_off_track,
        "cartpole.push": _push_right,
    },
)
