"""Sub-step readings for Gymnasium's own MuJoCo environments, without touching their physics."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from safegym.errors import ScenarioError
from safegym.formula.terms import Signal
from safegym.scenario.signals.engine import mj
from safegym.scenario.signals.extremes import Extremes, Reader, Value
from safegym.scenario.signals.stepper import exact_timestep, has_diverged, poisoned

_STATE = int(mj.mjtState.mjSTATE_INTEGRATION)


class ShadowStepper:
    """Reads each sub-step's state in a second MjData; the first stays bit for bit as it was.

    After each `mj_step` the whole integration state is copied and `mj_forward` run on the copy:
    every reading, forces included, belongs to the new instant, whatever the integrator.
    """

    def __init__(self, model: Any, readers: Sequence[tuple[Signal, Reader]], substeps: int) -> None:
        self.model, self.shadow = model, mj.MjData(model)
        self.signals = tuple(signal for signal, _ in readers)
        self.dt = exact_timestep(model) * substeps
        self.values: tuple[Value, ...] = ()
        self.diverged = False
        self._extremes = Extremes(
            self.signals, [reader.bind(model, self.shadow) for _, reader in readers]
        )
        self._room = np.zeros(mj.mj_stateSize(model, _STATE))

    def reset(self, data: Any) -> None:
        """Read sample 0."""
        self.diverged = False
        self._extremes.open()
        self._read(data)
        self._finish(data)

    def advance(self, data: Any, steps: int) -> None:
        """`steps` physics steps, each read."""
        self._extremes.open()
        for _ in range(steps):
            mj.mj_step(self.model, data)
            self._read(data)
        self._finish(data)

    def _finish(self, data: Any) -> None:
        values = self._extremes.close()
        self.diverged = self.diverged or has_diverged(data)
        self.values = poisoned(values) if self.diverged else tuple(values)

    def _read(self, data: Any) -> None:
        mj.mj_getState(self.model, data, self._room, _STATE)
        mj.mj_setState(self.model, self.shadow, self._room, _STATE)
        mj.mj_forward(self.model, self.shadow)
        self._extremes.read()


def hook_substeps(env: Any, readers: Sequence[tuple[Signal, Reader]]) -> ShadowStepper:
    """Make a Gymnasium `MujocoEnv` read `readers` at every physics step; returns the stepper.

    env: the environment or a wrapper of it. The stepper is kept as `env.unwrapped.stepper`, so
    `read_stepper` is its `read_signals`. Rewards, observations and states stay as without the hook.
    Raises ScenarioError if the environment has no MuJoCo model to step.
    """
    inner = env.unwrapped
    if not all(
        hasattr(inner, name) for name in ("model", "data", "frame_skip", "_step_mujoco_simulation")
    ):
        raise ScenarioError(
            f"{type(inner).__name__} is not a Gymnasium MujocoEnv; "
            "hook_substeps needs its model, data and frame_skip."
        )
    stepper = ShadowStepper(inner.model, readers, int(inner.frame_skip))
    reset_model = inner.reset_model

    def simulate(ctrl: Any, n_frames: int) -> None:
        inner.data.ctrl[:] = ctrl
        stepper.advance(inner.data, n_frames)
        mj.mj_rnePostConstraint(inner.model, inner.data)

    def reset() -> Any:
        observation = reset_model()
        stepper.reset(inner.data)
        return observation

    inner._step_mujoco_simulation = simulate
    inner.reset_model = reset
    inner.stepper = stepper
    return stepper
