"""Simulation of a closed loop: the plant in binary64, the policy by its own predict."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from safegym.check.loop.plant import Floats, Plant, actions_of, as_policy_graph, limits
from safegym.check.loop.values import values
from safegym.check.neural.policy import PolicyGraph
from safegym.errors import UnsupportedError
from safegym.formula.flow import Flow
from safegym.trace.model import Trace

SUBSTEPS = 20
"""Runge-Kutta steps of a continuous plant in one control period."""


def advance(plant: Plant, states: Floats, actions: Floats, disturbances: Floats) -> Floats:
    """One control period from states (B, n) under actions (B, m) and disturbances (B, k).

    A continuous plant is integrated by the classical Runge-Kutta rule, SUBSTEPS a period.
    """
    fixed = {signal.name: actions[:, at] for at, signal in enumerate(plant.actions)}
    fixed |= {signal.name: disturbances[:, at] for at, signal in enumerate(plant.disturbances)}
    if not isinstance(plant, Flow):
        return values(plant.next, _named(plant, states) | fixed, len(states))

    def rate(at: Floats) -> Floats:
        return values(plant.derivative, _named(plant, at) | fixed, len(at))

    step = float(plant.dt) / SUBSTEPS
    for _ in range(SUBSTEPS):
        first = rate(states)
        second = rate(states + 0.5 * step * first)
        third = rate(states + 0.5 * step * second)
        fourth = rate(states + step * third)
        states = states + step / 6.0 * (first + 2.0 * second + 2.0 * third + fourth)
    return states


def observe(plant: Plant, states: Floats) -> Floats:
    """What the policy sees of states (B, n), in binary64."""
    return values(plant.observation, _named(plant, states), len(states))


def trajectories(
    plant: Plant,
    policy: PolicyGraph,
    start: ArrayLike,
    steps: int,
    disturbances: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """States (B, steps + 1, n) and actions (B, steps, m) of B trajectories.

    start: (B, n). disturbances: (B, steps, k), the middle of their bounds by default. From where
    an observation is no finite number on, the states are NaN.
    """
    first = np.atleast_2d(np.asarray(start, dtype=np.float64))
    acting = _disturbances(plant, disturbances, len(first), steps)
    states = np.empty((len(first), steps + 1, len(plant.states)))
    actions = np.empty((len(first), steps, len(plant.actions)))
    states[:, 0] = first
    for at in range(steps):
        seen = observe(plant, states[:, at])
        lost = np.flatnonzero(~np.isfinite(seen).all(axis=1))
        seen[lost] = 0.0
        actions[:, at] = actions_of(policy, plant, seen)
        states[:, at + 1] = advance(plant, states[:, at], actions[:, at], acting[:, at])
        states[lost, at + 1] = np.nan
    return states, actions


def simulate(
    plant: Plant,
    policy: Any,
    start: Mapping[str, float] | Sequence[float],
    steps: int,
    *,
    disturbances: ArrayLike | None = None,
) -> Trace:
    """The trace of one trajectory: every state at samples 0..steps, every action and disturbance.

    start: a number for each state, by name or in order. disturbances: (steps, k), the middle of
    their bounds by default. An action or disturbance has no sample after the last step, so its
    last one is repeated there. Raises UnsupportedError where a state leaves the finite numbers.
    """
    found = as_policy_graph(policy, plant)
    first = _start(plant, start)
    acting = None if disturbances is None else np.asarray(disturbances, dtype=np.float64)[None]
    states, actions = trajectories(plant, found, first[None], steps, acting)
    worked = _disturbances(plant, acting, 1, steps)
    return loop_trace(plant, found, states[0], actions[0], worked[0])


def loop_trace(
    plant: Plant, policy: PolicyGraph, states: Floats, actions: Floats, disturbances: Floats
) -> Trace:
    """The trace of states (T + 1, n), actions (T, m) and disturbances (T, k)."""
    if not np.isfinite(states).all():
        at = int(np.argwhere(~np.isfinite(states))[0, 0])
        raise UnsupportedError(
            f"{plant.name}: the state has no finite value at sample {at}; start elsewhere or "
            "simulate fewer steps."
        )
    signals = {signal.name: states[:, at] for at, signal in enumerate(plant.states)}
    for group, held in ((plant.actions, actions), (plant.disturbances, disturbances)):
        for at, signal in enumerate(group):
            signals[signal.name] = np.append(held[:, at], held[-1:, at])
    return Trace.from_arrays(
        signals,
        dt=plant.dt,
        end="horizon",
        horizon=len(actions),
        actions=actions,
        units={signal.name: signal.unit for signal in plant.signals},
        policy_digest=policy.digest,
        scenario_digest=plant.digest,
    )


def _named(plant: Plant, states: Floats) -> dict[str, Floats]:
    return {signal.name: states[:, at] for at, signal in enumerate(plant.states)}


def _start(plant: Plant, start: Mapping[str, float] | Sequence[float]) -> Floats:
    names = [signal.name for signal in plant.states]
    if isinstance(start, Mapping):
        if set(start) != set(names):
            raise UnsupportedError(f"A start gives {sorted(start)}; the states are {names}.")
        return np.array([float(start[name]) for name in names])
    found = np.array([float(value) for value in start])
    if found.shape != (len(names),):
        raise UnsupportedError(f"A start of {found.size} numbers; the states are {names}.")
    return found


def _disturbances(plant: Plant, given: ArrayLike | None, rows: int, steps: int) -> Floats:
    size = len(plant.disturbances)
    if given is None:
        low, high = limits(plant.disturbances)
        return np.broadcast_to(0.5 * (low + high), (rows, steps, size)).copy()
    found = np.asarray(given, dtype=np.float64)
    if found.shape != (rows, steps, size):
        raise UnsupportedError(
            f"Disturbances of shape {found.shape}; {plant.name} takes {(rows, steps, size)}: "
            "trajectories, steps, disturbances."
        )
    return found
