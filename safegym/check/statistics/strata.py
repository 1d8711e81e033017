"""Strata with declared weights: complete proportional rounds, or a bound for each stratum."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, Self, SupportsIndex

from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.exact import (
    Probability,
    count,
    exact_probability,
    finite_float,
    float_at_least,
    float_at_most,
    read_fraction,
    written,
)
from safegym.check.statistics.limits import lower_limit, upper_limit
from safegym.check.statistics.outcomes import OUTCOMES, Decision, Outcome, read_outcome
from safegym.errors import EvidenceError
from safegym.verdict import Status

LONGEST_ROUND: Final = 100_000

_NUMBER: Final = re.compile(r"[0-9]{1,40}(\.[0-9]{1,40}|/0*[1-9][0-9]{0,39})?", re.ASCII)

Weight = Fraction | float | str


def read_weights(weights: Sequence[Weight]) -> tuple[Fraction, ...]:
    """Weights of strata as exact fractions that sum to 1.

    A float means the decimal it prints as (0.3 is 3/10), text is a decimal or a quotient ("1/3").
    Raises EvidenceError unless all are > 0 and they sum to exactly 1.
    """
    try:
        exact = tuple(_weight(weight) for weight in weights)
    except TypeError:
        raise EvidenceError(
            f"Weights come as a sequence, got {weights!r}; write for example [0.7, 0.3]."
        ) from None
    if len(exact) < 2 or any(weight <= 0 for weight in exact) or sum(exact) != 1:
        raise EvidenceError(
            f"Weights {[str(weight) for weight in exact]} of strata must be two or more, each > 0, "
            'with the sum exactly 1; write for example [0.7, 0.3] or ["1/3", "2/3"].'
        )
    return exact


def _weight(weight: Weight) -> Fraction:
    if isinstance(weight, Fraction):
        return weight
    if not isinstance(weight, str):
        return Fraction(repr(finite_float(weight, "weight")))
    if not _NUMBER.fullmatch(weight):
        raise EvidenceError(f"{weight!r} is no weight; write for example 0.3 or '1/3'.")
    return Fraction(weight)


def round_of(weights: Sequence[Fraction]) -> tuple[int, ...]:
    """Episodes of each stratum in the shortest complete proportional round.

    Raises EvidenceError where it is longer than 100 000 episodes.
    """
    length = math.lcm(*(weight.denominator for weight in weights))
    if length > LONGEST_ROUND:
        raise EvidenceError(
            f"A complete round of these strata has {length} episodes and nothing may be said "
            "inside it; round the weights, draw the stratum at random, or use stratified_limits."
        )
    return tuple(int(weight * length) for weight in weights)


def stratum_of(index: SupportsIndex, weights: Sequence[Weight]) -> int:
    """Stratum of episode `index` when rounds run evenly mixed: the one furthest behind its share.

    Strata of a round may come in any order; this one keeps every prefix close to the weights.
    Raises EvidenceError as `read_weights` and `round_of` do.
    """
    order = _order(read_weights(weights))
    return order[count(index, "index") % len(order)]


@lru_cache(maxsize=32)
def _order(weights: tuple[Fraction, ...]) -> tuple[int, ...]:
    sizes = round_of(weights)
    due = [
        (Fraction(2 * i + 1, 2 * size), stratum)
        for stratum, size in enumerate(sizes)
        for i in range(size)
    ]
    return tuple(stratum for _, stratum in sorted(due))


class StratifiedEProcess:
    """`EProcess` on the weighted mean p of the strata, fed in complete proportional rounds.

    In a round stratum s has m_s = w_s * m episodes. Each factor's mean is a straight line f(p_s),
    so its product over the round has mean prod f(p_s)^m_s <= f(mean p)^m (the geometric mean is
    at most the arithmetic one), which is <= 1 on the null of the weighted mean, whatever the single
    p_s are. Under a condition that stratum s meets with chance c_s the mean factor of an episode is
    1 - c_s + c_s f(p_s), and the same step leads to 1 + c (f(p) - 1), where c and p are those of
    the whole scenario; so skipped and doubtful episodes belong to their round like any other.
    Inside a round all this fails: a claim after the safe strata of a round would be wrong in up to
    every run. So episodes wait until their round is complete; only then is looked.
    A stratum beyond its share of the round raises EvidenceError.
    """

    __slots__ = ("_counts", "_left", "_process", "_round", "_sizes", "_weights")

    def __init__(
        self, threshold: Probability, level: Probability, weights: Sequence[Weight]
    ) -> None:
        self._weights = read_weights(weights)
        self._sizes = round_of(self._weights)
        self._process = EProcess(threshold, level)
        self._counts = [[0] * len(OUTCOMES) for _ in self._sizes]
        self._start()

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """Weights of the strata, exactly."""
        return self._weights

    @property
    def round_size(self) -> int:
        """Episodes of a complete round."""
        return sum(self._sizes)

    @property
    def waiting(self) -> int:
        """Episodes of the round that is not complete: outside the evidence so far."""
        return sum(self._sizes) - sum(self._left)

    @property
    def process(self) -> EProcess:
        """The e-process of the complete rounds. It is for reading: feed only `update`."""
        return self._process

    @property
    def decision(self) -> Decision | None:
        """What is claimed of the weighted mean, latched, or None."""
        return self._process.decision

    @property
    def counts(self) -> tuple["StratumCount", ...]:
        """Counts of each stratum over all episodes fed, open round and surplus included."""
        return tuple(
            StratumCount(violated, open_, safe + violated + open_, skipped + doubtful)
            for safe, violated, open_, skipped, doubtful in self._counts
        )

    def stratum_of(self, index: SupportsIndex) -> int:
        """The stratum that episode `index` is to be run in."""
        return stratum_of(index, self._weights)

    def update(self, stratum: SupportsIndex, outcome: Outcome | Status) -> Decision | None:
        """Add one episode, in index order, and return the decision, which moves at round ends."""
        number, code = count(stratum, "stratum"), OUTCOMES.index(read_outcome(outcome))
        self._refuse(number)
        self._left[number] -= 1
        self._counts[number][code] += 1
        self._round[code] += 1
        if not any(self._left):
            safe, violated, open_, skipped, doubtful = self._round
            self._process.update(
                violations=violated,
                undecided=open_,
                episodes=safe + violated + open_,
                skipped=skipped,
                doubtful=doubtful,
            )
            self._start()
        return self._process.decision

    def update_each(
        self, episodes: Iterable[tuple[SupportsIndex, Outcome | Status]]
    ) -> Decision | None:
        """Add (stratum, outcome) pairs in index order and return the decision.

        Raises EvidenceError, and counts nothing, for what are no pairs.
        """
        pairs: list[tuple[SupportsIndex, Outcome]]
        try:
            pairs = [(stratum, read_outcome(outcome)) for stratum, outcome in episodes]
        except (TypeError, ValueError) as error:
            if isinstance(error, EvidenceError):
                raise
            raise EvidenceError(
                f"Episodes of strata come as (stratum, outcome) pairs: {error}; write for example "
                '[(0, "safe"), (1, "violated")].'
            ) from None
        for stratum, outcome in pairs:
            self.update(stratum, outcome)
        return self._process.decision

    def look(self) -> Decision | None:
        """The decision as of the last complete round.

        Raises EvidenceError inside a round: nothing may be said of a part of it.
        """
        if self.waiting:
            raise EvidenceError(
                f"{self.waiting} of {self.round_size} episodes of this round are in: pooled strata "
                "may be looked at only at the end of a round. Run the round to its end, draw the "
                "stratum at random, or use stratified_limits."
            )
        return self._process.decision

    def state(self) -> dict[str, Any]:
        """Everything, as a JSON value. `StratifiedEProcess.from_state` reads it back."""
        return {
            "kind": "stratified-e-process/1",
            "weights": [written(weight) for weight in self._weights],
            "process": self._process.state(),
            "counts": [list(row) for row in self._counts],
            "left": list(self._left),
            "round": list(self._round),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The process as it was at `state()`. Raises EvidenceError if the state is malformed."""
        try:
            if state["kind"] != "stratified-e-process/1":
                raise EvidenceError(f"This is no state of stratified rounds: {state['kind']!r}.")
            weights = [read_fraction(text, "weight") for text in state["weights"]]
            process = EProcess.from_state(state["process"])
            stratified = cls(process.threshold, process.level, weights)
            stratified._process = process
            stratified._counts = [[count(n, "counts") for n in row] for row in state["counts"]]
            stratified._left = [count(n, "left") for n in state["left"]]
            stratified._round = [count(n, "round") for n in state["round"]]
        except (KeyError, TypeError, IndexError) as error:
            raise EvidenceError(f"The state of stratified rounds is malformed: {error}.") from error
        if not stratified._fits():
            raise EvidenceError("The state of stratified rounds contradicts itself.")
        return stratified

    def _fits(self) -> bool:
        """Whether counts, open round and e-process add up."""
        if len(self._left) != len(self._sizes) or len(self._counts) != len(self._sizes):
            return False
        rows = (*self._counts, self._round)
        if any(len(row) != len(OUTCOMES) for row in rows) or not any(self._left):
            return False
        if any(left > size for left, size in zip(self._left, self._sizes, strict=True)):
            return False
        process, (more, failed, open_) = self._process, self._process.surplus
        skipped, doubtful = process.surplus_aside
        bad = (process.violations + failed, process.undecided + open_)
        aside = (process.skipped + skipped, process.doubtful + doubtful)
        done = [process.episodes + more - sum(bad), *bad, *aside]
        rounds, part = divmod(sum(done), self.round_size)
        pairs = zip(self._counts, self._sizes, self._left, strict=True)
        return (
            part == 0
            and all(sum(row) == rounds * size + size - left for row, size, left in pairs)
            and sum(self._round) == self.waiting
            and [a + b for a, b in zip(done, self._round, strict=True)]
            == [sum(column) for column in zip(*self._counts, strict=True)]
        )

    def _refuse(self, stratum: int) -> None:
        if stratum >= len(self._sizes):
            raise EvidenceError(
                f"Stratum {stratum} of {len(self._sizes)}: strata are numbered from 0."
            )
        if self._left[stratum] == 0:
            raise EvidenceError(
                f"Stratum {stratum} already has its {self._sizes[stratum]} episodes of this round; "
                "run episode index in stratum_of(index)."
            )

    def _start(self) -> None:
        self._left = list(self._sizes)
        self._round = [0] * len(OUTCOMES)


@dataclass(frozen=True, slots=True)
class StratumCount:
    """Episodes of one stratum: violated, undecided, all that count, and those put aside.

    aside: skipped and doubtful episodes of a conditional claim.
    """

    violations: int
    undecided: int
    episodes: int
    aside: int = 0


def stratified_limits(
    strata: Sequence[StratumCount], weights: Sequence[Weight], *, level: Probability
) -> tuple[float, float]:
    """(lo, hi): limits on the weighted mean p of the strata, each valid at every peek at `level`.

    Each stratum's own limit, by its own e-process in its own index order, gets an even part of the
    level; all hold at once with error at most the level (union bound), and then so does their
    weighted sum, which is taken exactly and rounded outward. No proportion between the strata is
    needed. Raises EvidenceError for counts or weights that do not fit, and for conditional claims.
    """
    exact = read_weights(weights)
    if len(exact) != len(strata):
        raise EvidenceError(f"{len(strata)} strata and {len(exact)} weights: give one each.")
    if any(stratum.aside for stratum in strata):
        raise EvidenceError(
            "Under a condition the strata's weights are not those declared, but those among the "
            "episodes that meet it: use StratifiedEProcess, or draw the stratum at random."
        )
    share = exact_probability(level, "level") / len(exact)
    lo = hi = Fraction(0)
    for weight, stratum in zip(exact, strata, strict=True):
        failed, open_, total = stratum.violations, stratum.undecided, stratum.episodes
        lo += weight * Fraction(lower_limit(failed, total, undecided=open_, level=share))
        hi += weight * Fraction(upper_limit(failed, total, undecided=open_, level=share))
    return float_at_most(lo), min(1.0, float_at_least(hi))
