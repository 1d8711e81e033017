"""Which class counts which kind of obligation."""

from collections.abc import Callable

from safegym.check.statistics.levels import spent_level
from safegym.errors import GateError
from safegym.gate.counts.count import Count
from safegym.gate.counts.invariant import InvariantCount
from safegym.gate.counts.mean import MeanCount
from safegym.gate.counts.probability import ProbabilityCount
from safegym.gate.obligation import Obligation, ObligationKind


def make_count(item: Obligation, attempt: int, look: int = 1, *, latest: bool = False) -> Count:
    """A fresh count of the obligation at the level left at that attempt.

    look: episodes between two looks. latest: the limit told is the one over all episodes alone, as
    plans of version 1 told it. Raises GateError where the kind cannot be looked at so.
    """
    return _BY_KIND[item.kind](item, attempt, look, latest)


def _probability(item: Obligation, attempt: int, look: int, latest: bool) -> Count:
    return ProbabilityCount(item, spent_level(item.level, attempt), look, latest=latest)


def _mean(item: Obligation, attempt: int, look: int, latest: bool) -> Count:
    if look > 1:
        raise GateError(
            f"Claim {item.claim.id} bounds a mean, whose process looks after every episode; with "
            'strata in rounds it would not hold. Write Strata(..., mode="random").'
        )
    return MeanCount(item, spent_level(item.level, attempt), latest=latest)


def _invariant(item: Obligation, attempt: int, look: int, latest: bool) -> Count:
    return InvariantCount(item)


_BY_KIND: dict[ObligationKind, Callable[[Obligation, int, int, bool], Count]] = {
    "probability": _probability,
    "conditional": _probability,
    "quantile": _probability,
    "mean": _mean,
    "invariant": _invariant,
}
