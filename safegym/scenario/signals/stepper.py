"""The sub-step loop of our own MuJoCo environments."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from safegym.errors import ScenarioError
from safegym.formula.terms import Signal
from safegym.scenario.signals.engine import mj
from safegym.scenario.signals.extremes import Extremes, Reader, Value
from safegym.trace.clock import exact

_BAD_STATE = tuple(
    int(warning)
    for warning in (
        mj.mjtWarning.mjWARN_BADQPOS,
        mj.mjtWarning.mjWARN_BADQVEL,
        mj.mjtWarning.mjWARN_BADQACC,
    )
)
_VELOCITY_STAGE = int(mj.mjtStage.mjSTAGE_VEL)


class SubstepStepper:
    """Steps MuJoCo and keeps each signal's worst value since the last control sample.

    readers: (signal, reader) pairs; the signal's `hold` says what a sample keeps. substeps:
    physics steps per control step.

    A sub-step is `mj_step2` then `mj_step1`: after it positions, velocities, distances and
    contacts belong to the new instant, where a plain `mj_step` leaves them one sub-step behind.
    State readers see the instants t_1 .. t_n of a control step; force readers see the force over
    each sub-step and the one at t_n. Raises ScenarioError for a Runge-Kutta model.

    When the simulation diverges, MuJoCo silently starts it afresh; then `diverged` is True and
    every value NaN until the next `reset`, so that the recorder ends the episode there.
    """

    def __init__(
        self, model: Any, data: Any, readers: Sequence[tuple[Signal, Reader]], *, substeps: int
    ) -> None:
        if substeps < 1:
            raise ScenarioError(f"A control step needs at least 1 sub-step, found {substeps}.")
        if int(model.opt.integrator) == int(mj.mjtIntegrator.mjINT_RK4):
            raise ScenarioError(
                "SubstepStepper cannot split a Runge-Kutta step; "
                "use integrator='implicitfast' or 'Euler'."
            )
        self.model, self.data, self.substeps = model, data, substeps
        self.signals = tuple(signal for signal, _ in readers)
        self.dt = exact_timestep(model) * substeps
        self.values: tuple[Value, ...] = ()
        self.diverged = False
        self._order, self._state, self._force = _split(model, data, readers)

    def reset(self) -> None:
        """Make the data consistent with the state that was set, and read sample 0."""
        self.data.warning.number[:] = 0
        self.diverged = False
        mj.mj_forward(self.model, self.data)
        self._state.open()
        self._force.open()
        self._state.read()
        self._force.read()
        self._finish()

    def advance(self, control: Callable[[], None] | None = None) -> None:
        """One control step. `control()` is called before each sub-step and may set `data.ctrl`."""
        model, data, state, force = self.model, self.data, self._state, self._force
        step1, step2 = mj.mj_step1, mj.mj_step2
        state.open()
        force.open()
        step1(model, data)  # the state may have been set from outside since the last call
        for _ in range(self.substeps):
            if control is not None:
                control()
            step2(model, data)
            force.read()
            step1(model, data)
            state.read()
        if data.ncon > 0:
            mj.mj_forwardSkip(model, data, _VELOCITY_STAGE, 1)
            force.read()
        self._finish()

    def _finish(self) -> None:
        values = self._state.close() + self._force.close()
        self.diverged = self.diverged or has_diverged(self.data)
        ordered = tuple(values[index] for index in self._order)
        self.values = poisoned(ordered) if self.diverged else ordered


def exact_timestep(model: Any) -> Fraction:
    """The model's time step in s: the simplest rational within 1e-12 of it, relative."""
    return exact(float(model.opt.timestep), what="timestep")


def has_diverged(data: Any) -> bool:
    """Whether MuJoCo found NaN, infinity or a huge value in the state since the last reset."""
    return bool(data.warning.number.take(_BAD_STATE).any())


def poisoned(values: Sequence[Value]) -> tuple[Value, ...]:
    """NaN in place of each value, shapes kept."""
    return tuple(value * float("nan") for value in values)


def _split(
    model: Any, data: Any, readers: Sequence[tuple[Signal, Reader]]
) -> tuple[tuple[int, ...], Extremes, Extremes]:
    """Readers by phase, and where each declared signal's value stands in state + force values."""
    groups: dict[str, list[int]] = {"state": [], "force": []}
    for index, (_, reader) in enumerate(readers):
        groups[reader.phase].append(index)
    placed = groups["state"] + groups["force"]
    order = tuple(placed.index(index) for index in range(len(readers)))

    def extremes(indices: list[int]) -> Extremes:
        signals = [readers[index][0] for index in indices]
        return Extremes(signals, [readers[index][1].bind(model, data) for index in indices])

    return order, extremes(groups["state"]), extremes(groups["force"])


def read_stepper(env: Any) -> tuple[Value, ...]:
    """The `read_signals` of a scenario whose environment keeps a `SubstepStepper` as `stepper`."""
    values: tuple[Value, ...] = env.unwrapped.stepper.values
    return values
