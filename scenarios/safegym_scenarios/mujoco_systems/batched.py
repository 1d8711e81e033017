"""Measures over whole episodes at once: the same numbers as `measures` gives step by step."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.scenario.rollouts.declaration import Flight
from safegym.scenario.signals.engine import mj
from safegym_scenarios.mujoco_systems.measures import (
    Change,
    Coordinate,
    Effort,
    Energy,
    JointMargin,
    JointSpeed,
    MeanEffort,
    Measure,
    Power,
    Rate,
    Travel,
    Window,
)

Array = NDArray[np.float64]
Read = Callable[[Any, Any, Flight], Array]
_HINGE = int(mj.mjtJoint.mjJNT_HINGE)


def columns(measures: tuple[Measure, ...], env: Any, flight: Flight) -> tuple[Array, ...]:
    """One array (T,) a measure, for samples 1..T."""
    return tuple(_reader(each)(each, env, flight) for each in measures)


def _reader(each: Measure) -> Read:
    found = _READ.get(type(each))
    return _windowed if found is None else found


def before(flight: Flight) -> Array:
    """Positions at the sample before each, (T, nq)."""
    return np.concatenate([flight.start[None], flight.q[:-1, -1]])


def travelled(env: Any, flight: Flight, index: int) -> Array:
    """Gymnasium's x_velocity, m/s (T,)."""
    found: Array = (flight.q[:, -1, index] - before(flight)[:, index]) / env.dt
    return found


def _controls(flight: Flight) -> Array:
    """What drives the robot, within its limits, (T, nu)."""
    low, high = flight.model.actuator_ctrlrange.T
    return np.clip(flight.actions.astype(np.float64), low, high)


def _coordinate(each: Coordinate, env: Any, flight: Flight) -> Array:
    pick = _PICK[each.hold]
    if each.magnitude:
        return pick(np.abs(flight.q[:, :, each.index] + each.offset))
    return pick(flight.q[:, :, each.index]) + each.offset


def _rate(each: Rate, env: Any, flight: Flight) -> Array:
    found: Array = np.abs(flight.v[:, :, each.index]).max(axis=1)
    return found


def _travel(each: Travel, env: Any, flight: Flight) -> Array:
    if len(each.indices) == 1:
        return travelled(env, flight, each.indices[0])
    return _windowed(each, env, flight)


def _margin(each: JointMargin, env: Any, flight: Flight) -> Array:
    model = flight.model
    joints = [joint for joint in _driven(model) if model.jnt_limited[joint]]
    low, high = model.jnt_range[joints].T.copy()
    q = flight.q[:, :, [int(model.jnt_qposadr[joint]) for joint in joints]]
    found: Array = np.minimum(q - low, high - q).min(axis=(1, 2))
    return found


def _joint_speed(each: JointSpeed, env: Any, flight: Flight) -> Array:
    where = [int(flight.model.jnt_dofadr[joint]) for joint in _driven(flight.model)]
    found: Array = np.abs(flight.v[:, :, where]).max(axis=(1, 2))
    return found


def _effort(each: Effort, env: Any, flight: Flight) -> Array:
    share = np.abs(_controls(flight)) / flight.model.actuator_ctrlrange[:, 1]
    found: Array = share.max(axis=1)
    return found


def _mean_effort(each: MeanEffort, env: Any, flight: Flight) -> Array:
    share = np.abs(_controls(flight)) / flight.model.actuator_ctrlrange[:, 1]
    found: Array = share.mean(axis=1)
    return found


def _change(each: Change, env: Any, flight: Flight) -> Array:
    commands = flight.actions.astype(np.float64)
    span = flight.model.actuator_ctrlrange[:, 1] - flight.model.actuator_ctrlrange[:, 0]
    moved = (np.abs(commands[1:] - commands[:-1]) / span).max(axis=1)
    return np.concatenate([np.zeros(1), moved])


def _powers(flight: Flight) -> Array:
    """Mechanical power at each physics step, W (T, n)."""
    model = flight.model
    driven = model.jnt_dofadr[model.actuator_trnid[:, 0]]
    torque = _controls(flight) * model.actuator_gear[:, 0]
    found: Array = np.abs(flight.v[:, :, driven] * torque[:, None]).sum(axis=2)
    return found


def _power(each: Power, env: Any, flight: Flight) -> Array:
    found: Array = _powers(flight).max(axis=1)
    return found


def _energy(each: Energy, env: Any, flight: Flight) -> Array:
    parts = _powers(flight).sum(axis=1) * float(flight.model.opt.timestep)
    return np.cumsum(parts)


def _windowed(each: Measure, env: Any, flight: Flight) -> Array:
    """Any other measure of positions and velocities, a step at a time."""
    read, controls, last = each.bind(flight.model), _controls(flight), before(flight)
    count, dt = flight.q.shape[1], float(env.dt)
    unseen = np.zeros(count)
    return np.array(
        [
            read(Window(q, v, unseen, unseen, control, previous, dt))
            for q, v, control, previous in zip(flight.q, flight.v, controls, last, strict=True)
        ]
    )


_PICK: dict[str, Callable[[Array], Array]] = {
    "sample": lambda values: values[:, -1],
    "max": partial(np.max, axis=1),
    "min": partial(np.min, axis=1),
}
_READ: dict[type[Any], Read] = {
    Coordinate: _coordinate,
    Rate: _rate,
    Travel: _travel,
    JointMargin: _margin,
    JointSpeed: _joint_speed,
    Effort: _effort,
    MeanEffort: _mean_effort,
    Change: _change,
    Power: _power,
    Energy: _energy,
}


def _driven(model: Any) -> list[int]:
    """The hinges that actuators drive, by number, in the model's order."""
    joints = sorted({int(joint) for joint in model.actuator_trnid[:, 0]})
    return [joint for joint in joints if int(model.jnt_type[joint]) == _HINGE]
