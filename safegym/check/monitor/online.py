"""The online monitor: B episodes at once, one sample of each a call."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.check.monitor.incoming import in_units_read
from safegym.check.monitor.intake import converter
from safegym.check.monitor.naming import name_claim
from safegym.check.monitor.outcome import Outcome, Update
from safegym.check.monitor.plan import Plan, plan_of
from safegym.check.monitor.prefix.engine import PrefixEngine
from safegym.check.monitor.stream.engine import StreamEngine
from safegym.check.monitor.stream.scope import can_be_streamed
from safegym.check.monitor.subject import property_of
from safegym.errors import SafegymError, TraceError
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.trace.clock import Clock, Exact

__all__ = ["Monitor", "Outcome", "Update"]


class Monitor:
    """Monitors B episodes online.

    subject: a formula or claim. dt: seconds between samples, exact. batch: B. horizon: declared
    horizon H in steps. exact: make `episode` the offline answer on every prefix. units: signal name
    -> unit of the numbers that come, for signals that do not come in their own; they are converted
    as a trace's are.

    An update costs the same however long the windows and the episode are, and `episode` is the
    offline answer on the prefix taken as interrupted wherever `tight` says so; else an interval
    around it, which it becomes once all windows are settled. exact=True works out what is open
    afresh at each sample, which costs as much as the windows are long. A formula with an unbounded
    future operator inside another temporal one is always monitored so, and its whole episode is
    kept: an update then costs as much as the episode is long.

    Picklable; `reset` starts new episodes by mask. Raises TraceError for a batch or horizon that is
    no whole number, UnitError for units of another dimension.
    """

    def __init__(
        self,
        subject: Formula | Claim,
        dt: Exact,
        batch: int = 1,
        horizon: int | None = None,
        *,
        exact: bool = False,
        units: Mapping[str, str] | None = None,
    ) -> None:
        self._subject = subject
        self._dt: Fraction = Clock.parse(dt).dt
        self._batch = _whole(batch, "A monitor's batch")
        self._horizon = None if horizon is None else _whole(horizon, "A monitor's horizon")
        self._exact = bool(exact)
        self._units = dict(units or {})
        try:
            self._compile()
        except SafegymError as error:
            name_claim(error, subject)
            raise

    def _compile(self) -> None:
        formula, rounding, _ = property_of(self._subject)
        self._plan: Plan = plan_of(formula, self._dt, rounding)
        self._changes = converter(self._plan.signals, self._units)
        stream = not self._exact and can_be_streamed(self._plan)
        engine = StreamEngine if stream else PrefixEngine
        self._engine = engine(self._plan, self._batch, self._horizon)
        self._update = self._converted if self._changes else self._engine.update

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: self.__dict__[name] for name in _KEPT}
        return kept | {"state": self._engine.state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: state[name] for name in _KEPT})
        self._compile()
        self._engine.restore(state["state"])

    @property
    def look_ahead(self) -> int:
        """How many samples `delayed` lags behind."""
        return self._plan.slots[-1].ahead

    @property
    def tight(self) -> bool:
        """Whether `episode` is the offline answer on every prefix, not only an interval around."""
        return self._engine.tight

    @property
    def steps(self) -> NDArray[np.int64]:
        """Index of each episode's last sample, -1 before the first, shape (B,)."""
        return self._engine.steps

    def reset(self, mask: ArrayLike | None = None) -> None:
        """Starts new episodes: where `mask` (B,) is true, or everywhere."""
        found = np.ones(self._batch, bool) if mask is None else np.asarray(mask)
        true_or_false = found.dtype == np.bool_ or np.isin(found, (0, 1)).all()
        if found.shape != (self._batch,) or not true_or_false:
            raise TraceError(
                f"The mask {str(mask)[:60]} has shape {found.shape}; it must be truth values of "
                f"shape ({self._batch},), one for each of the B = {self._batch} episodes."
            )
        self._engine.reset(found.astype(bool))

    def update(self, samples: Mapping[str, ArrayLike]) -> Update:
        """Takes one sample of every signal, (B,) or (B, d), and returns what is known.

        Raises TraceError for a missing, misshapen or non-finite signal, naming claim, signal,
        episode and sample; UnsupportedError, with exact=True only, for past windows that slide too
        far on. The state is then as before the call.
        """
        try:
            return self._update(samples)
        except SafegymError as error:
            name_claim(error, self._subject)
            raise

    def _converted(self, samples: Mapping[str, ArrayLike]) -> Update:
        """Takes a sample that comes in other units."""
        return self._engine.update(in_units_read(samples, self._changes, self._engine.steps))


_KEPT = ("_subject", "_dt", "_batch", "_horizon", "_exact", "_units")


def _whole(value: object, what: str) -> int:
    """A whole number >= 1. Raises TraceError."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or int(cast(int, value)) < 1:
        raise TraceError(f"{what} must be a whole number of at least 1, found {value!r:.40}.")
    return int(cast(int, value))
