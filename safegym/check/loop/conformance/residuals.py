"""Whether recorded steps are ones that a declared model allows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.loop.plant import Floats, Plant, limits
from safegym.check.loop.simulate import advance
from safegym.check.loop.values import truth
from safegym.check.monitor.intake import taken
from safegym.check.monitor.readings import Readings
from safegym.check.statistics.outcomes import Outcome
from safegym.errors import UnsupportedError
from safegym.formula.declared import check_unit, unit_of
from safegym.formula.formulas import Formula
from safegym.formula.terms import Signal, Term, signals_of
from safegym.trace.model import Trace

Actions = Callable[[NDArray[Any]], NDArray[Any]]
ROUNDING = 1e-9
"""Relative to 1 + |state|: what counts as rounding, where no tolerance is given."""


@dataclass(frozen=True, slots=True)
class EpisodeFit:
    """One episode beside the model.

    outcome: "violated" where a step from S has a residual outside W, "undecided" where none has
    but the episode was broken off or something of it is not known, else "safe". steps: steps from
    states in S. worst: the step that is furthest outside, its residual by state, in its unit.
    visited: states in S, (m, n).
    """

    outcome: Outcome
    steps: int
    outside: int
    worst: int | None
    residual: tuple[float, ...]
    visited: Floats = field(repr=False)


@dataclass(frozen=True, slots=True)
class Model:
    """A plant, a set S of its states, and how a trace shows state and action.

    states: state's name -> term over the trace's signals, in the state's unit; by default the
    signal of that name. actions: from the trace's (T, ...) to the plant's (T, m), as they are by
    default. tolerance: state's name -> what counts as rounding, in its unit. Disturbances are W,
    and what the tolerance allows is not part of the proof.
    """

    plant: Plant
    inside: Formula
    states: Mapping[str, Term] = field(default_factory=dict[str, Term])
    actions: Actions | None = None
    tolerance: Mapping[str, float] = field(default_factory=dict[str, float])

    def __post_init__(self) -> None:
        names = {signal.name for signal in self.plant.states}
        for given in (self.states, self.tolerance):
            for name in given:
                if name not in names:
                    raise UnsupportedError(
                        f"{name} is no state of {self.plant.name}; its states are "
                        f"{', '.join(sorted(names))}."
                    )
        for name, value in self.tolerance.items():
            if not (np.isfinite(value) and value >= 0.0):
                raise UnsupportedError(
                    f"The tolerance of {name} is {value}; it must be a finite number, 0 or above."
                )
        for signal, found in zip(self.plant.states, self._terms(), strict=True):
            check_unit("conformance", f"the state {signal.name}", found, unit_of(signal))

    def fit(self, trace: Trace) -> EpisodeFit:
        """The episode beside the model. Raises UnsupportedError where they do not fit together."""
        if trace.clock.dt != self.plant.dt:
            raise UnsupportedError(
                f"The trace has dt = {trace.clock.dt} s, {self.plant.name} has "
                f"{self.plant.dt} s; declare the model at the scenario's clock."
            )
        states, known = self._states(trace)
        before, after, actions = states[:-1], states[1:], self._actions(trace)
        from_s = self._inside(before) & known[:-1]
        rows = np.flatnonzero(from_s & known[1:])
        residual = self.residuals(before[rows], actions[rows], after[rows])
        excess = _excess(residual, self._allowed(after[rows]))
        outside = int((excess > 1.0).sum())
        lacking = trace.end.kind == "interrupted" or not known.all()
        outcome: Outcome = "violated" if outside else "undecided" if lacking else "safe"
        at = int(np.argmax(excess)) if outside else None
        return EpisodeFit(
            outcome=outcome,
            steps=int(from_s.sum()),
            outside=outside,
            worst=None if at is None else int(rows[at]),
            residual=() if at is None else tuple(float(each) for each in residual[at]),
            visited=states[self._inside(states) & known],
        )

    def residuals(self, before: Floats, actions: Floats, after: Floats) -> Floats:
        """What no disturbance in W explains, (B, n): zeros to rounding where one does.

        The disturbance is looked for; a residual outside is one for which none was found.
        """
        low, high = limits(self.plant.disturbances)
        middle, reach = 0.5 * (low + high), 0.5 * (high - low)
        held = np.broadcast_to(middle, (len(before), middle.size))
        left: Floats = after - advance(self.plant, before, actions, held)
        if not middle.size or not len(before):
            return left
        slopes = self._slopes(before, actions, held, reach)
        within_reach = np.abs(left) <= 1.01 * np.abs(slopes).sum(axis=2) + self._allowed(after)
        usable = np.isfinite(slopes).all(axis=(1, 2)) & np.isfinite(left).all(axis=1)
        pushed = np.zeros((len(before), middle.size))
        turned = np.linalg.pinv(slopes[usable])
        pushed[usable] = np.clip(np.einsum("bkn,bn->bk", turned, left[usable]), -1.0, 1.0)
        left = after - advance(self.plant, before, actions, held + pushed * reach)
        allowed = self._allowed(after)
        open_ = (np.abs(left) > allowed).any(axis=1) & within_reach.all(axis=1)
        open_ &= usable
        for row in np.flatnonzero(open_):
            part = slice(row, row + 1)
            left[row] = self._fitted(before[part], actions[part], after[part], middle, reach)
        return left

    def _fitted(
        self, before: Floats, actions: Floats, after: Floats, middle: Floats, reach: Floats
    ) -> Floats:
        """The residual of one step, by bounded least squares in multiples of what is allowed."""
        from scipy.optimize import lsq_linear

        at = np.zeros(middle.size)
        scale = self._allowed(after)[0]
        best = after - advance(self.plant, before, actions, middle[None])
        for _ in range(4):
            held = (middle + at * reach)[None]
            left = (after - advance(self.plant, before, actions, held))[0]
            if np.max(np.abs(left) / scale) <= np.max(np.abs(best[0]) / scale):
                best = left[None]
            slopes = self._slopes(before, actions, held, reach)[0]
            if not (np.isfinite(slopes).all() and np.isfinite(left).all()):
                break
            found: Any = lsq_linear(
                slopes / scale[:, None], (left + slopes @ at) / scale, bounds=(-1.0, 1.0)
            )
            at = np.clip(found.x, -1.0, 1.0)
        left = after - advance(self.plant, before, actions, (middle + at * reach)[None])
        better = np.max(np.abs(left[0]) / scale) <= np.max(np.abs(best[0]) / scale)
        found_best: Floats = left[0] if better else best[0]
        return found_best

    def _slopes(self, before: Floats, actions: Floats, held: Floats, reach: Floats) -> Floats:
        """How the next state follows each disturbance over half its range, (B, n, k)."""
        base = advance(self.plant, before, actions, held)
        columns = []
        for at in range(reach.size):
            moved = held.copy()
            moved[:, at] += reach[at]
            columns.append(advance(self.plant, before, actions, moved) - base)
        return np.stack(columns, axis=2)

    def _allowed(self, states: Floats) -> Floats:
        allowed = ROUNDING * (1.0 + np.abs(states))
        for at, signal in enumerate(self.plant.states):
            if signal.name in self.tolerance:
                allowed[:, at] = self.tolerance[signal.name]
        return allowed

    def _terms(self) -> list[Term]:
        return [self.states.get(signal.name, signal) for signal in self.plant.states]

    def _states(self, trace: Trace) -> tuple[Floats, NDArray[np.bool_]]:
        terms = self._terms()
        read: dict[str, Signal] = {s.name: s for each in terms for s in signals_of(each)}
        readings = Readings(taken(read.values(), trace), trace.unseen)
        samples = trace.steps + 1
        states = np.stack(
            [np.broadcast_to(readings.value(each), (samples,)) for each in terms], axis=1
        )
        known = np.ones(samples, dtype=np.bool_)
        for first, last in trace.gaps_of(read):
            known[first : last + 1] = False
        return states, known

    def _actions(self, trace: Trace) -> Floats:
        wanted = (trace.steps, len(self.plant.actions))
        given = trace.actions if self.actions is None else self.actions(trace.actions)
        found = np.asarray(given, dtype=np.float64)
        if found.size != wanted[0] * wanted[1]:
            raise UnsupportedError(
                f"The trace has actions of shape {found.shape}, {self.plant.name} takes {wanted}: "
                f"{', '.join(each.name for each in self.plant.actions)}. Pass actions=, a function "
                "from the one to the other."
            )
        low, high = limits(self.plant.actions)
        return np.clip(found.reshape(wanted), low, high)

    def _inside(self, states: Floats) -> NDArray[np.bool_]:
        given = {each.name: states[:, at] for at, each in enumerate(self.plant.states)}
        return truth(self.inside, given, len(states))


def _excess(residual: Floats, allowed: Floats) -> Floats:
    """The greatest residual of each row in multiples of what is allowed, (B,), inf for no number.

    A step whose model has no value, such as a root of a negative number, is no step of the model.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = np.where(residual == 0.0, 0.0, np.abs(residual) / allowed)
    found: Floats = np.where(np.isnan(share), np.inf, share).max(axis=1, initial=0.0)
    return found
