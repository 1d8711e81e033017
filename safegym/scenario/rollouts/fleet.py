"""Physics of many copies by `mujoco.rollout`, the solver's warm start carried along.

`mujoco.rollout` returns positions and velocities, not what the constraint solver starts from, and
begins from zero where none is given. So a copy that is stepped bit by bit has its own MjData, in
which the warm start is found after each call; threads share out the copies. An episode whose
controls are known runs in one call.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.scenario.signals.engine import mj

Array = NDArray[np.float64]
_STATE = int(mj.mjtState.mjSTATE_FULLPHYSICS)
_CONTROL = int(mj.mjtState.mjSTATE_CTRL)


class Fleet:
    """`copies` places for episodes of one model, or of changed copies of it.

    after `step`, `states` (copies, n, 1 + nq + nv + ...) holds time, positions and velocities of
    each physics step.
    """

    def __init__(self, model: Any, *, copies: int, substeps: int, threads: int) -> None:
        size = int(mj.mj_stateSize(model, _STATE))
        self.nq, self.nv, self.substeps = int(model.nq), int(model.nv), substeps
        self.models = [model] * copies
        self.states = np.zeros((copies, substeps, size))
        self._starts = np.zeros((copies, size))
        self._warm = np.zeros((copies, self.nv))
        self._sensors = np.zeros((copies, substeps, int(model.nsensordata)))
        self._data: list[Any] = [None] * copies
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        make = import_module("mujoco.rollout").Rollout
        self._single = [make(nthread=0) for _ in range(threads)]
        self._many: Any = make(nthread=threads if threads > 1 else 0)
        self._many_data: list[Any] = []

    def place(self, slot: int, model: Any, data: Any) -> None:
        """An episode of this model begins in this slot, in the state that `data` is in."""
        self.models[slot] = model
        mj.mj_getState(model, data, self._starts[slot], _STATE)
        self._warm[slot] = data.qacc_warmstart

    def step(self, slots: Sequence[int], controls: Array) -> None:
        """One control step of the copies in `slots`; controls (copies, nu)."""
        held = np.repeat(controls[:, None, :], self.substeps, axis=1)
        self._run(slots, np.ascontiguousarray(held, np.float64), self.states, self._sensors)

    def along(self, slots: Sequence[int], controls: Array) -> Array:
        """States of so many control steps, (len(slots), steps * n, ...), to be gone on from.

        controls (steps, nu): the same for each copy.
        """
        held = np.repeat(controls, self.substeps, axis=0)[None]
        room = (len(self.models), held.shape[1])
        states = np.zeros((*room, self.states.shape[2]))
        sensors = np.zeros((*room, self._sensors.shape[2]))
        self._run(slots, np.ascontiguousarray(held, np.float64), states, sensors)
        return states[list(slots)]

    def _run(self, slots: Sequence[int], controls: Array, states: Array, sensors: Array) -> None:
        if self._pool is None:
            self._run_some(0, slots, controls, states, sensors)
            return
        shares = [(k, slots[k :: self._threads]) for k in range(self._threads)]
        arrays = (controls, states, sensors)
        for done in [self._pool.submit(self._run_some, *share, *arrays) for share in shares]:
            done.result()

    def _run_some(
        self, worker: int, slots: Sequence[int], controls: Array, states: Array, sensors: Array
    ) -> None:
        """Controls (copies, m, nu), or (1, m, nu) for all; m physics steps."""
        run, starts, warm = self._single[worker].rollout, self._starts, self._warm
        shared, steps = len(controls) == 1, states.shape[1]
        for slot in slots:
            data, own = self._data_of(slot), slice(slot, slot + 1)
            run(
                [self.models[slot]],
                [data],
                starts[own],
                controls if shared else controls[own],
                control_spec=_CONTROL,
                skip_checks=True,
                nstep=steps,
                initial_warmstart=warm[own],
                state=states[own],
                sensordata=sensors[own],
            )
            starts[slot] = states[slot, -1]
            warm[slot] = data.qacc_warmstart

    def _data_of(self, slot: int) -> Any:
        if self._data[slot] is None:
            self._data[slot] = mj.MjData(self.models[slot])
        return self._data[slot]

    def whole(self, slots: Sequence[int], controls: Array) -> Array:
        """States of whole episodes, (len(slots), steps * n, ...).

        controls (steps, nu): the same for each of them.
        """
        if not self._many_data:
            self._many_data = [mj.MjData(self.models[slots[0]]) for _ in range(self._threads)]
        where = list(slots)
        states, _ = self._many.rollout(
            [self.models[slot] for slot in where],
            self._many_data,
            self._starts[where],
            np.repeat(controls, self.substeps, axis=0)[None],
            initial_warmstart=self._warm[where],
        )
        found: Array = states
        return found

    def split(self, states: Array) -> tuple[Array, Array]:
        """Positions and velocities in states (..., size)."""
        nq, nv = self.nq, self.nv
        return states[..., 1 : 1 + nq], states[..., 1 + nq : 1 + nq + nv]

    def close(self) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()
        for each in (*self._single, self._many):
            each.close()


def advanced(states: Array, first: Array) -> NDArray[np.bool_]:
    """Which copies (B,) went through all their physics steps; states (B, n, size), first (B,) s.

    After a warning MuJoCo's rollout repeats the state, and a diverged simulation starts its clock
    afresh: either way the time does not go on.
    """
    times = np.concatenate([first[:, None], states[..., 0]], axis=1)
    whole = np.isfinite(states).all(axis=(1, 2))
    return np.asarray(whole & (np.diff(times, axis=1) > 0.0).all(axis=1), np.bool_)
