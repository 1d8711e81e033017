"""How a scenario's episodes follow from positions and velocities alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Flight:
    """The physics of one episode of T control steps of n physics steps each.

    model: the MuJoCo model of this episode. start (nq,): positions at sample 0. q (T, n, nq) and
    v (T, n, nv): positions and velocities after each physics step. actions (T, ...): as the
    policy gave them, in the type of the action space.
    """

    model: Any
    start: NDArray[np.float64]
    q: NDArray[np.float64]
    v: NDArray[np.float64]
    actions: Array


@dataclass(frozen=True, slots=True)
class Rollout:
    """An environment on MuJoCo as functions of arrays, so that its physics can be run in bulk.

    It must be true of the environment that, between a reset and an end, nothing reaches the physics
    but the control, constant over the `substeps` physics steps of a control step, and that what it
    shows follows from positions and velocities. `env` is the environment, unwrapped, just made and
    reset; read constants of it only. Every function gives the environment's own numbers, bit for
    bit; `rollout_traces` is as exact as they are.

    control(env, actions (B, ...)) -> (B, nu). observe(env, q (B, nq), v (B, nv)) -> (B, n).
    rewards(env, flight) -> (T,). signals(env, flight) -> one array (T,) or (T, d) a signal, in the
    declared order, for samples 1..T. ends(env, q, v) -> {terminal reason: bool (B,)}; None where
    the environment never terminates. heeds: names of parameters and faults that act through the
    model and the start alone; others cannot be given. changes_model: whether parameters and faults
    change the model. simulator(env) -> (MjModel, MjData).
    """

    substeps: int
    control: Callable[[Any, Array], NDArray[np.float64]]
    observe: Callable[[Any, Array, Array], Array]
    rewards: Callable[[Any, Flight], Array]
    signals: Callable[[Any, Flight], tuple[Array, ...]]
    ends: Callable[[Any, Array, Array], Mapping[str, NDArray[np.bool_]]] | None = None
    heeds: frozenset[str] = frozenset()
    changes_model: bool = False
    simulator: Callable[[Any], tuple[Any, Any]] | None = None

    def physics(self, env: Any) -> tuple[Any, Any]:
        """Model and data of an environment."""
        if self.simulator is not None:
            return self.simulator(env)
        return env.model, env.data
