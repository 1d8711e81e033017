"""The face: margins of a formula over tensors, exact or smooth, with gradients."""

import math
import operator
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Literal, cast, get_args

from torch import Tensor, finfo

from safegym.check.gradient.passes import Passes, hidden_of, margins_of
from safegym.check.gradient.readings import read
from safegym.check.gradient.support import refusal_of
from safegym.check.monitor.frame import frame_of, spans_of
from safegym.check.monitor.naming import naming_its_claim
from safegym.check.monitor.plan import Plan, plan_of
from safegym.check.monitor.subject import property_of
from safegym.errors import TraceError, UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.rational import Exact
from safegym.trace.clock import Clock
from safegym.trace.model import EndKind

At = Literal["all", "start"]
RANGE = 1e6
"""A temperature stays this factor away from a dtype's smallest and largest numbers."""
GapsGiven = Iterable[tuple[int, int]] | Mapping[str, Iterable[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Margins:
    """Robustness intervals with gradients; `lo, hi = margins` unpacks them.

    lo, hi: shape (..., T+1), or (...) at the start only, in multiples of the atoms' scale (or
    their common unit). bound: how far each may be from the exact one, lo below and hi above it;
    0.0 where they are exact.
    """

    lo: Tensor
    hi: Tensor
    bound: float = 0.0

    def __iter__(self) -> Iterator[Tensor]:
        return iter((self.lo, self.hi))


@dataclass(frozen=True)
class DifferentiableMonitor:
    """A formula or a claim's episode property over tensors, for any number of calls.

    dt: seconds a sample, exact. end: how the episodes end, a kind of EpisodeEnd. horizon: declared
    horizon H in steps; samples past it are the tail. smooth: None for exact minima and maxima,
    whose gradient goes to the deciding atom and sample; or a temperature, in the unit of the
    margins, for sound smooth ones. at: "all" samples, or the "start" alone.

    Raises UnsupportedError where margins have no gradient (a share of samples) or do not compare
    (mixed units without scales), TraceError for a bad dt, end or horizon, FormulaError for a bound
    off the grid. Sources: Donze and Maler 2010 (robustness).
    """

    subject: Formula | Claim
    dt: Exact
    end: EndKind = "horizon"
    horizon: int | None = None
    smooth: float | None = None
    at: At = "all"
    plan: Plan = field(init=False, repr=False, compare=False)

    @property
    def _subject(self) -> Formula | Claim:
        return self.subject

    @naming_its_claim
    def __post_init__(self) -> None:
        formula, rounding, _ = property_of(self.subject)
        _check_end(self.end, self.at)
        put = object.__setattr__
        put(self, "horizon", _horizon(self.horizon))
        put(self, "smooth", _temperature(self.smooth))
        plan = plan_of(formula, Clock.parse(self.dt).dt, rounding)
        refusal = refusal_of(plan)
        if refusal:
            raise UnsupportedError(refusal)
        put(self, "plan", plan)

    @naming_its_claim
    def __call__(self, signals: Mapping[str, Tensor], gaps: GapsGiven = ()) -> Margins:
        """Returns both ends of the margins' intervals.

        signals: name -> (..., T+1), or (..., T+1, d) for a vector; all float32 or all float64, on
        one device, with the same rows. gaps: closed intervals of samples at which no signal is
        known, or those of each signal by name. Raises TraceError for signals or gaps that do not
        fit or a temperature out of their dtype's range, TypeError for what is no tensor.
        """
        passes = self._passes(signals, gaps)
        low = self._side(passes, -1)
        exact = self.smooth is None
        high = low if exact and passes.settled[-1] else self._side(passes, 1)
        return Margins(low, high, 0.0 if self.smooth is None else passes.bound(self.smooth))

    @naming_its_claim
    def lower(self, signals: Mapping[str, Tensor], gaps: GapsGiven = ()) -> Tensor:
        """Returns the lower ends alone, without the upper pass: for a loss. > 0: satisfied."""
        return self._side(self._passes(signals, gaps), -1)

    def bound(self, samples: int) -> float:
        """Returns how far smooth margins may be from exact ones on `samples` samples, T + 1.

        It grows in proportion to the temperature: a monitor with smooth=1.0 tells what to divide
        a wanted bound by. 0.0 where margins are exact.
        """
        if samples < 1:
            raise TraceError(f"An episode has one sample or more, found {samples}.")
        frame = frame_of(samples - 1, self.end, self.horizon)
        spans = spans_of(self.plan, frame, self._needed(samples))
        passes = Passes(self.plan, frame, spans, 0, {}, {}, Tensor())
        return 0.0 if self.smooth is None else passes.bound(self.smooth)

    def _needed(self, samples: int) -> int:
        return samples - 1 if self.at == "all" else 0

    def _passes(self, signals: Mapping[str, Tensor], gaps: GapsGiven = ()) -> Passes:
        readings = read(self.plan.signals, signals, gaps)
        _check_range(self.smooth, readings.like)
        frame = frame_of(readings.samples - 1, self.end, self.horizon)
        needed = self._needed(readings.samples)
        spans = spans_of(self.plan, frame, needed)
        margins = margins_of(self.plan, frame, spans, readings)
        hidden = hidden_of(self.plan, readings)
        return Passes(self.plan, frame, spans, needed, margins, hidden, readings.like)

    def _side(self, passes: Passes, side: int) -> Tensor:
        smooth = self.smooth
        found = passes.selected(side) if smooth is None else passes.held(side, smooth)
        return found if self.at == "all" else found[..., 0]


def robustness(
    subject: Formula | Claim,
    signals: Mapping[str, Tensor],
    *,
    dt: Exact,
    end: EndKind = "horizon",
    horizon: int | None = None,
    smooth: float | None = None,
    at: At = "all",
    gaps: GapsGiven = (),
) -> Margins:
    """Returns the margins of a formula over tensors, with gradients; `lo, hi = ...` unpacks them.

    See DifferentiableMonitor for the arguments, Margins for shapes and units. Exact margins in
    float64 are bit for bit those of `safegym.robustness`. Smooth ones are sound: lo is never above
    the exact lo and hi never below the exact hi, nor further from it than the bound returned.
    """
    return DifferentiableMonitor(subject, dt, end, horizon, smooth, at)(signals, gaps)


def _check_end(end: object, at: object) -> None:
    kinds = get_args(EndKind)
    if end not in kinds:
        raise TraceError(f"The end is {end!r:.60}; it must be one of {', '.join(kinds)}.")
    if at not in get_args(At):
        raise TraceError(
            f'Margins are wanted at "all" samples or at the "start", found {at!r:.60}.'
        )


def _horizon(horizon: object) -> int | None:
    if horizon is None:
        return None
    try:
        steps = operator.index(cast(int, horizon))
    except TypeError:
        steps = 0
    if isinstance(horizon, bool) or steps < 1:
        raise TraceError(
            f"The horizon is {horizon!r:.40}; it is a whole number of steps, at least 1, or None."
        )
    return steps


def _temperature(smooth: object) -> float | None:
    if smooth is None:
        return None
    number = 0.0 if isinstance(smooth, bool) or not isinstance(smooth, Real) else float(smooth)
    if not (math.isfinite(number) and number > 0):
        raise TraceError(
            f"The temperature is {smooth!r:.40}; it is a finite number > 0 in the unit of the "
            "margins, such as smooth=0.05, or None for exact minima and maxima."
        )
    return number


def _check_range(smooth: float | None, like: Tensor) -> None:
    """Refuses a temperature that the tensors' numbers cannot say: it would turn into 0 or inf."""
    kind = finfo(like.dtype)
    if smooth is not None and not kind.tiny * RANGE <= smooth <= kind.max / RANGE:
        raise TraceError(
            f"The temperature {smooth:g} is out of range of {str(like.dtype).rpartition('.')[2]} "
            f"tensors; take one between {kind.tiny * RANGE:.1g} and {kind.max / RANGE:.1g}, such "
            "as smooth=0.05, or float64 tensors."
        )
