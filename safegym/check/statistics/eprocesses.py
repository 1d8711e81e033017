"""Many e-processes at once: one episode of all of them is a handful of array operations."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.exact import (
    MOST_EPISODES,
    Probability,
    count,
    episode_count,
    read_fraction,
    written,
)
from safegym.check.statistics.mixture import log_of
from safegym.check.statistics.mixtures import Mixtures
from safegym.check.statistics.outcomes import OUTCOMES, Decision, Outcome, read_outcomes
from safegym.errors import EvidenceError
from safegym.verdict import Status

CODES: Final[dict[Outcome, int]] = {outcome: code for code, outcome in enumerate(OUTCOMES)}
"""How `EProcesses.update` takes outcomes as numbers."""
DECISIONS: Final[tuple[Decision | None, ...]] = (None, "below", "above")
_NEVER: Final = np.iinfo(np.int64).max
_CARE: Final = 1.0 - 1e-12
_FAR: Final = 1e18
"""Beyond all episodes that can be run, and within int64."""

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Codes = NDArray[np.int8]


def codes_of(outcomes: Sequence[Outcome | Status]) -> Codes:
    """Outcomes, or statuses, as the numbers of `CODES`, shape (n,)."""
    return np.array([CODES[outcome] for outcome in read_outcomes(outcomes)], dtype=np.int8)


class EProcesses:
    """One `EProcess` a claim, shape (m,), each with its own threshold and level.

    Each decides at the same episode as its own `EProcess` would, bit for bit; claims with the same
    (threshold, level) share a boundary. Claims that share episodes are each valid at their own
    level; `release_level` and `holm` say what may be said of them together.
    Raises EvidenceError as `EProcess` does, or for rows of different length.
    """

    def __init__(self, thresholds: Sequence[Probability], levels: Sequence[Probability]) -> None:
        if len(thresholds) != len(levels) or not len(thresholds):
            raise EvidenceError(
                f"{len(thresholds)} thresholds and {len(levels)} levels: give one of each a claim, "
                "for example EProcesses([0.01, 0.02], [0.05, 0.05])."
            )
        known: dict[tuple[Fraction, Fraction], int] = {}
        pairs: list[int] = []
        for threshold, level in zip(thresholds, levels, strict=True):
            single = EProcess.checked(threshold, level)
            pairs.append(known.setdefault(single, len(known)))
        self._pairs = np.array(pairs, dtype=np.int64)
        self._distinct = tuple(known)
        columns = ([pair[0] for pair in known], [pair[1] for pair in known])
        self._below = Mixtures(*columns, rising=True)
        self._above = Mixtures(*columns, rising=False)
        self._p = np.array([float(p) for p in columns[0]])[self._pairs]
        self._q = np.array([float(1 - p) for p in columns[0]])[self._pairs]
        self._step = -np.where(self._p < 0.5, np.log1p(-self._p), np.log(self._q))
        self._goal = np.array([log_of(1 / level) for level in columns[1]])[self._pairs]
        size = len(pairs)
        self._updates = 0
        self._totals = np.zeros((len(OUTCOMES), size), dtype=np.int64)
        self._counted = np.zeros(size, dtype=np.int64)
        self._evidence = np.zeros((len(OUTCOMES), size), dtype=np.int64)
        self._decided = np.zeros(size, dtype=np.int8)
        self._look_at = self._first_clean()[self._pairs]
        self._open = size

    def __len__(self) -> int:
        return len(self._pairs)

    @property
    def episodes(self) -> Integers:
        """Episodes counted for "below" up to each decision, shape (m,)."""
        found: Integers = self._counts()[:3].sum(axis=0)
        return found

    @property
    def violations(self) -> Integers:
        """Violated episodes up to each decision, shape (m,)."""
        found: Integers = self._counts()[CODES["violated"]]
        return found

    @property
    def undecided(self) -> Integers:
        """Undecided episodes up to each decision, shape (m,)."""
        found: Integers = self._counts()[CODES["undecided"]]
        return found

    @property
    def below(self) -> NDArray[np.bool_]:
        """Which claims have shown p < threshold, shape (m,)."""
        found: NDArray[np.bool_] = self._decided == 1
        return found

    @property
    def above(self) -> NDArray[np.bool_]:
        """Which claims have shown p > threshold, shape (m,)."""
        found: NDArray[np.bool_] = self._decided == 2
        return found

    @property
    def open(self) -> int:
        """How many claims are not decided."""
        return self._open

    def decision(self, claim: int) -> Decision | None:
        """What claim number `claim` has shown, or None as yet."""
        return DECISIONS[int(self._decided[self._number(claim)])]

    def process(self, claim: int) -> EProcess:
        """The single e-process of one claim, as it would stand had it been fed alone."""
        claim = self._number(claim)
        threshold, level = self._distinct[self._pairs[claim]]
        counts, surplus = self._counts()[:, claim], self._surplus()[:, claim]
        return EProcess.from_state(
            {
                "kind": "e-process/2",
                "threshold": written(threshold),
                "level": written(level),
                **_named(counts),
                "decision": self.decision(claim),
                "surplus": list(_named(surplus).values()),
            }
        )

    def update(self, outcomes: Codes | Sequence[Outcome | Status]) -> NDArray[np.int8]:
        """Add one episode to every claim, in index order; return the decisions, shape (m,).

        outcomes: shape (m,), names or the numbers of `CODES` (int8). Decisions: 0 none as yet,
        1 below, 2 above; a read-only view that the next update changes.
        Raises EvidenceError, and counts nothing, for any other outcome.
        """
        codes = outcomes if isinstance(outcomes, np.ndarray) else codes_of(outcomes)
        fits = codes.shape == self._pairs.shape and codes.dtype == np.int8
        if not fits or codes.min() < 0 or codes.max() >= len(OUTCOMES):
            raise EvidenceError(
                f"An update needs {len(self)} outcomes, names or int8 numbers from 0 to "
                f"{len(OUTCOMES) - 1}; codes_of([...]) makes them."
            )
        if self._updates >= MOST_EPISODES:
            raise EvidenceError("E-processes take at most 10^15 episodes.")
        self._updates += 1
        self._counted += 1
        unsafe = np.flatnonzero(codes)
        if len(unsafe):
            self._take_in(unsafe, codes[unsafe])
        due = np.flatnonzero(self._counted >= self._look_at)
        if len(due):
            self._look_below(due)
        return _frozen(self._decided)

    def _take_in(self, claims: Integers, codes: Codes) -> None:
        """Count the episode of those claims for which it was not safe."""
        self._totals[codes, claims] += 1
        self._counted[claims[codes >= 3]] -= 1
        open_ = self._decided[claims] == 0
        claims, codes = claims[open_], codes[open_]
        bad = claims[codes <= 2]
        self._look_at[bad] = np.maximum(self._look_at[bad], self._earliest(bad))
        self._look_above(claims[codes == 1])

    def state(self) -> dict[str, Any]:
        """Everything, as a JSON value. `EProcesses.from_state` reads it back."""
        return {
            "kind": "e-processes/1",
            "thresholds": [written(self._distinct[pair][0]) for pair in self._pairs],
            "levels": [written(self._distinct[pair][1]) for pair in self._pairs],
            "counts": self._counts().tolist(),
            "surplus": self._surplus().tolist(),
            "decisions": [DECISIONS[code] for code in self._decided],
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The processes as they were at `state()`.

        Raises EvidenceError if the state is malformed or a decision is not what its counts give.
        """
        try:
            if state["kind"] != "e-processes/1":
                raise EvidenceError(f"This is no state of e-processes: {state['kind']!r}.")
            processes = cls(
                [read_fraction(text, "threshold") for text in state["thresholds"]],
                [read_fraction(text, "level") for text in state["levels"]],
            )
            counts, surplus = (_matrix(state[n], len(processes)) for n in ("counts", "surplus"))
            decisions = list(state["decisions"])
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            if isinstance(error, EvidenceError):
                raise
            raise EvidenceError(f"The state of e-processes is malformed: {error}.") from error
        totals = counts + surplus
        updates = totals.sum(axis=0)
        if bool((updates != updates[0]).any()):
            raise EvidenceError("The state's claims have not all seen the same number of episodes.")
        if int(updates[0]) > MOST_EPISODES:
            raise EvidenceError("E-processes take at most 10^15 episodes.")
        processes._restore(counts)
        found = [DECISIONS[code] for code in processes._decided]
        if decisions != found:
            raise EvidenceError("The state's decisions are not what its counts give.")
        if bool(surplus[:, processes._decided == 0].any()):
            raise EvidenceError("The state has a surplus where nothing is decided.")
        processes._restore_surplus(totals, int(updates[0]))
        return processes

    def _number(self, claim: int) -> int:
        number = count(claim, "claim")
        if number >= len(self):
            raise EvidenceError(f"Claim {number} of {len(self)}: claims are numbered from 0.")
        return number

    def _counts(self) -> Integers:
        """Counts per outcome up to each decision, shape (5, m)."""
        now = self._totals.copy()
        now[0] = self._updates - now[1:].sum(axis=0)
        return np.where(self._decided == 0, now, self._evidence)

    def _surplus(self) -> Integers:
        now = self._totals.copy()
        now[0] = self._updates - now[1:].sum(axis=0)
        return np.where(self._decided == 0, 0, now - self._evidence)

    def _restore(self, counts: Integers) -> None:
        """Look once at these counts, as the last update before them did."""
        self._totals, self._counted = counts.copy(), counts[:3].sum(axis=0)
        every = np.arange(len(self))
        self._look_at = self._earliest(every)
        self._look_above(every)
        self._look_below(np.flatnonzero(self._counted >= self._look_at))
        self._evidence = np.where(self._decided == 0, 0, counts)

    def _restore_surplus(self, totals: Integers, updates: int) -> None:
        self._totals, self._updates = totals, updates
        self._counted = totals[:3].sum(axis=0)

    def _first_clean(self) -> Integers:
        """Episodes needed by each distinct pair when none is bad."""
        pairs = np.arange(len(self._distinct))
        step = np.zeros(len(pairs))
        step[self._pairs] = self._step
        needed = np.zeros(len(pairs), dtype=np.int64)
        while len(pairs):
            missing = self._below.missing(pairs, np.zeros_like(pairs), needed[pairs])
            pairs, missing = pairs[missing >= 0.0], missing[missing >= 0.0]
            needed[pairs] += np.maximum(missing / step[pairs] * _CARE, 1.0).astype(np.int64)
        return needed

    def _earliest(self, claims: Integers) -> Integers:
        """No claim with k bad episodes before k/n < p0: a number that is never too late."""
        earliest: Floats = np.floor(self._worst(claims) / self._p[claims] * _CARE)
        return np.minimum(earliest, _FAR).astype(np.int64)

    def _worst(self, claims: Integers) -> Integers:
        worst: Integers = self._totals[1, claims] + self._totals[2, claims]
        return worst

    def _look_above(self, claims: Integers) -> None:
        """Only claims whose best single alternative reaches the goal are worth the mixture."""
        failed = self._totals[1, claims]
        total = self._counted[claims] + self._totals[4, claims]
        k, n = failed.astype(np.float64), total.astype(np.float64)
        p, q = self._p[claims], self._q[claims]
        hopeful = k > n * p * _CARE
        with np.errstate(divide="ignore", invalid="ignore"):
            best = k * np.log(k / (n * p))
            best += np.where(k < n, (n - k) * np.log((n - k) / (n * q)), 0.0)
        hopeful &= ~(best + 1e-9 * (1.0 + n) < self._goal[claims])
        claims, failed, total = claims[hopeful], failed[hopeful], total[hopeful]
        if len(claims):
            missing = self._above.missing(self._pairs[claims], failed, total - failed)
            self._close(claims[missing < 0.0], 2)

    def _look_below(self, claims: Integers) -> None:
        """Decide, or put the next look off: a safe episode raises log E by at most -log(1 - p0)."""
        worst, counted = self._worst(claims), self._counted[claims]
        missing = self._below.missing(self._pairs[claims], worst, counted - worst)
        wait = np.maximum(np.floor(missing / self._step[claims] * _CARE), 1.0)
        self._look_at[claims] = counted + np.minimum(wait, _FAR).astype(np.int64)
        self._close(claims[missing < 0.0], 1)

    def _close(self, claims: Integers, decided: int) -> None:
        self._decided[claims] = decided
        self._evidence[:, claims] = self._totals[:, claims]
        self._evidence[0, claims] = self._updates - self._totals[1:, claims].sum(axis=0)
        self._look_at[claims] = _NEVER
        self._open -= len(claims)


def _named(counts: Integers) -> dict[str, int]:
    """Counts per outcome as `EProcess` names them."""
    safe, violated, undecided, skipped, doubtful = (int(n) for n in counts)
    return {
        "episodes": safe + violated + undecided,
        "violations": violated,
        "undecided": undecided,
        "skipped": skipped,
        "doubtful": doubtful,
    }


def _matrix(rows: Any, size: int) -> Integers:
    if len(rows) != len(OUTCOMES) or any(len(row) != size for row in rows):
        raise EvidenceError(f"Counts must be {len(OUTCOMES)} rows of {size} numbers.")
    return np.array([[episode_count(n, "counts") for n in row] for row in rows], dtype=np.int64)


def _frozen(values: NDArray[Any]) -> NDArray[Any]:
    view = values.view()
    view.flags.writeable = False
    return view
