"""Which of these systems can run in bulk, and how: their `Rollout`.

A system can if what the policy sees and every signal follow from positions and velocities, and
nothing but the drives acts during an episode. What Gymnasium reads from MuJoCo's derived data
(body positions, contact forces) cannot be had so: they stand as of another stage of the step.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.scenario.rollouts.declaration import Flight, Rollout
from safegym_scenarios.mujoco_systems.batched import columns, travelled
from safegym_scenarios.mujoco_systems.measures import Measure
from safegym_scenarios.mujoco_systems.surroundings import Setup

Array = NDArray[Any]
_IN_MODEL = frozenset(
    (
        "payload",
        "floor_friction",
        "friction_loss",
        "slope",
        "headwind",
        "thickness",
        "current",
        "motor_share",
        "dry_friction",
        "bearing_friction",
        "lame",
        "side_gravity",
    )
)
"""Knobs that a reset puts into the model, once for the episode."""


@dataclass(frozen=True, slots=True)
class Form:
    """A Gymnasium system as functions of positions and velocities."""

    substeps: int
    observe: Callable[[Any, Array, Array], Array]
    rewards: Callable[[Any, Flight], Array]
    ends: Callable[[Any, Array, Array], Mapping[str, NDArray[np.bool_]]] | None = None


def rollout_of(system: str, setup: Setup) -> Rollout | None:
    """The rollout of a system, by its class's name; None where it cannot run in bulk."""
    form = FORMS.get(system)
    drawn = {parameter.name for parameter in setup.parameters}
    if form is None or not drawn <= _IN_MODEL or any(m.needs_contacts for m in setup.measures):
        return None
    return Rollout(
        substeps=int(dict(setup.options).get("frame_skip", form.substeps)),
        control=_control,
        observe=form.observe,
        rewards=form.rewards,
        signals=partial(_signals, setup.measures),
        ends=form.ends,
        heeds=_IN_MODEL & {each.name for each in (*setup.parameters, *setup.faults)},
        changes_model=True,
    )


def _signals(measures: tuple[Measure, ...], env: Any, flight: Flight) -> tuple[Array, ...]:
    return columns(measures, env, flight)


def _control(env: Any, actions: Array) -> NDArray[np.float64]:
    return actions.astype(np.float64)


def _planar(env: Any, q: Array, v: Array) -> Array:
    """Positions without those along the floor, and velocities."""
    skipped = env.observation_structure["skipped_qpos"]
    return np.concatenate([q[:, skipped:], v], axis=1)


def _planar_clipped(env: Any, q: Array, v: Array) -> Array:
    return _planar(env, q, np.clip(v, -10, 10))


def _all(env: Any, q: Array, v: Array) -> Array:
    return np.concatenate([q, v], axis=1)


def _costs(env: Any, flight: Flight) -> Array:
    """What the drives cost, in the type of the actions as Gymnasium has it, (T,)."""
    found: Array = env._ctrl_cost_weight * np.sum(np.square(flight.actions), axis=1)
    return found


def _running(env: Any, flight: Flight) -> Array:
    """Reward of a robot that cannot fall."""
    forward = env._forward_reward_weight * travelled(env, flight, 0)
    found: Array = forward - _costs(env, flight)
    return found


def _healthy(env: Any, q: Array) -> NDArray[np.bool_]:
    """Within Gymnasium's ranges of height and pitch."""
    (low, high), (back, front) = env._healthy_z_range, env._healthy_angle_range
    z, angle = q[:, 1], q[:, 2]
    found: NDArray[np.bool_] = (low < z) & (z < high) & (back < angle) & (angle < front)
    return found


def _standing(env: Any, flight: Flight) -> Array:
    """Reward of a robot that can fall."""
    forward = env._forward_reward_weight * travelled(env, flight, 0)
    healthy = _healthy(env, flight.q[:, -1]) * env._healthy_reward
    found: Array = forward + healthy - _costs(env, flight)
    return found


def _falls(env: Any, q: Array, v: Array) -> Mapping[str, NDArray[np.bool_]]:
    return {"unhealthy": ~_healthy(env, q) & env._terminate_when_unhealthy}


def _healthy_hopper(env: Any, q: Array, v: Array) -> NDArray[np.bool_]:
    low, high = env._healthy_state_range
    state = np.concatenate([q, v], axis=1)[:, 2:]
    found: NDArray[np.bool_] = _healthy(env, q) & ((low < state) & (state < high)).all(axis=1)
    return found


def _hopping(env: Any, flight: Flight) -> Array:
    forward = env._forward_reward_weight * travelled(env, flight, 0)
    healthy = _healthy_hopper(env, flight.q[:, -1], flight.v[:, -1]) * env._healthy_reward
    found: Array = forward + healthy - _costs(env, flight)
    return found


def _hopper_falls(env: Any, q: Array, v: Array) -> Mapping[str, NDArray[np.bool_]]:
    return {"unhealthy": ~_healthy_hopper(env, q, v) & env._terminate_when_unhealthy}


def _topples(env: Any, q: Array, v: Array) -> Mapping[str, NDArray[np.bool_]]:
    return {"unhealthy": np.abs(q[:, 1]) > 0.2}


def _upright(env: Any, flight: Flight) -> Array:
    last = flight.q[:, -1]
    return (~_topples(env, last, last)["unhealthy"]).astype(np.float64)


FORMS: Mapping[str, Form] = {
    "HalfCheetah": Form(5, _planar, _running),
    "Hopper": Form(4, _planar_clipped, _hopping, _hopper_falls),
    "InvertedPendulum": Form(2, _all, _upright, _topples),
    "Swimmer": Form(4, _planar, _running),
    "Walker2d": Form(4, _planar_clipped, _standing, _falls),
}
"""Class of `environments` -> how it looks in bulk, at Gymnasium's own frame skips."""
