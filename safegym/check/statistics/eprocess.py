"""The gate statistic: a one-sided e-process on episode failures, with its mirror."""

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, Self, cast, get_args

from safegym.check.statistics.boundary import above_boundary, below_boundary
from safegym.check.statistics.exact import (
    MOST_EPISODES,
    Probability,
    count,
    episode_count,
    exact_probability,
    one_of,
    read_fraction,
    written,
)
from safegym.check.statistics.grid import above_mixture, below_mixture
from safegym.check.statistics.outcomes import Decision, Outcome, read_outcomes
from safegym.errors import EvidenceError
from safegym.verdict import Status

SMALLEST_THRESHOLD: Final = Fraction(1, 10**12)
KINDS: Final = ("e-process/1", "e-process/2")
"""State formats that are read; the first knows no conditions."""
_ONE: Final[dict[str, dict[str, int]]] = {
    "violated": {"violations": 1},
    "undecided": {"undecided": 1},
    "skipped": {"skipped": 1},
    "doubtful": {"doubtful": 1},
}


class EProcess:
    """Decides between p < threshold ("below") and p > threshold ("above"), at every peek.

    p is the probability that the episode property fails; episodes are independent and are fed in
    index order (feeding them as they finish is invalid). Each side errs with probability at most
    `level` over the whole run, however often and for whatever reason one looks or stops.

    Undecided episodes count as violations for "below" and as safe for "above". For a conditional
    claim p is the probability of failing among the episodes whose condition holds: skipped episodes
    move neither side, doubtful ones (condition open, property kept) are skipped for "below" and
    safe for "above". This is sound whatever the open episodes really were: in every term of the
    "below" mixture the factor of a violation is <= 1 <= that of a safe episode, and a skipped
    episode has 1; so each outcome is given the least factor among its completions, and each term,
    and their sum, stays at every episode at or below the e-process of the true completion, to which
    Ville's inequality applies. In the "above" mixture the order is reversed: safe is the least.

    threshold, level: in (0, 1); a float means its exact binary64 value; a Fraction is exact.
    Decisions are exact: E_n >= 1/level is decided on rationals, not on rounded numbers. The first
    decision latches; what comes after it is surplus, counted apart.
    Raises EvidenceError for a threshold or level outside (0, 1), and for a threshold within
    1e-12 of 0 or 1. Valid by Ville's inequality; the grid is in `safegym.check.statistics.grid`.
    """

    __slots__ = (
        "_above",
        "_below",
        "_decision",
        "_doubtful",
        "_episodes",
        "_level",
        "_look_at",
        "_look_is_exact",
        "_skipped",
        "_surplus",
        "_surplus_aside",
        "_threshold",
        "_undecided",
        "_violations",
    )

    def __init__(self, threshold: Probability, level: Probability) -> None:
        self._threshold, self._level = self.checked(threshold, level)
        self._below = below_boundary(self._threshold, self._level)
        self._above = above_boundary(self._threshold, self._level)
        self._violations = 0
        self._undecided = 0
        self._episodes = 0
        self._skipped = 0
        self._doubtful = 0
        self._decision: Decision | None = None
        self._surplus = (0, 0, 0)
        self._surplus_aside = (0, 0)
        self._look_at = self.first_clean
        self._look_is_exact = True

    @staticmethod
    def checked(threshold: Probability, level: Probability) -> tuple[Fraction, Fraction]:
        """Both exactly. Raises EvidenceError for what the class refuses."""
        exact = exact_probability(threshold, "threshold")
        allowed = exact_probability(level, "level")
        if not SMALLEST_THRESHOLD <= exact <= 1 - SMALLEST_THRESHOLD:
            raise EvidenceError(
                f"threshold = {threshold} is within 1e-12 of 0 or 1: no number of episodes "
                "that can be run would decide it. Prove the claim instead, or write a threshold "
                "such as 1e-11."
            )
        return exact, allowed

    @property
    def threshold(self) -> Fraction:
        """The boundary p0, exactly."""
        return self._threshold

    @property
    def level(self) -> Fraction:
        """The error level of each side, exactly."""
        return self._level

    @property
    def violations(self) -> int:
        """Violated episodes up to the decision."""
        return self._violations

    @property
    def undecided(self) -> int:
        """Undecided episodes up to the decision."""
        return self._undecided

    @property
    def episodes(self) -> int:
        """Episodes counted for "below" up to the decision, undecided ones included."""
        return self._episodes

    @property
    def skipped(self) -> int:
        """Episodes up to the decision whose condition did not hold; outside `episodes`."""
        return self._skipped

    @property
    def doubtful(self) -> int:
        """Episodes up to the decision that only "above" counts, as safe; outside `episodes`."""
        return self._doubtful

    @property
    def decision(self) -> Decision | None:
        """What is claimed: "below" (p < threshold), "above" (p > threshold), or None as yet."""
        return self._decision

    @property
    def decided_at(self) -> int | None:
        """`episodes` at the look that decided; None before."""
        return self._episodes if self._decision is not None else None

    @property
    def surplus(self) -> tuple[int, int, int]:
        """(episodes, violations, undecided) fed after the decision: outside the evidence."""
        return self._surplus

    @property
    def surplus_aside(self) -> tuple[int, int]:
        """(skipped, doubtful) fed after the decision."""
        return self._surplus_aside

    @property
    def first_clean(self) -> int:
        """Episodes needed for "below" when none is violated or undecided."""
        return self._below.episodes_needed(0)

    def kmax(self, episodes: int) -> int:
        """Most violations (undecided included) with which `episodes` claim "below"; -1: none."""
        return self._below.kmax(episode_count(episodes, "episodes"))

    def kmin(self, episodes: int) -> int | None:
        """Fewest violations with which that many episodes claim "above"; None: no number does."""
        return self._above.kmin(episode_count(episodes, "episodes"))

    def episodes_needed(self, violations: int) -> int:
        """Least number of episodes with which that many violations claim "below"."""
        return self._below.episodes_needed(episode_count(violations, "violations"))

    def futile(self, cap: int) -> bool:
        """Whether "below" can no longer be reached within `cap` episodes in all, come what may.

        `cap` is on the episodes run: skipped and doubtful ones use it up.
        """
        if self._decision is not None:
            return self._decision == "above"
        worst = self._violations + self._undecided
        cap = episode_count(cap, "cap")
        cap -= self._skipped + self._doubtful
        if self._episodes >= cap:
            return True
        return self._earliest(worst) > cap or self.episodes_needed(worst) > cap

    def update(
        self,
        *,
        violations: int = 0,
        undecided: int = 0,
        episodes: int | None = None,
        skipped: int = 0,
        doubtful: int = 0,
    ) -> Decision | None:
        """Add episodes, look once, and return the decision.

        `episodes` counts safe, violated and undecided ones, not skipped and doubtful ones; without
        it it is 1, or 0 where only skipped or doubtful ones are given. With episodes > 1 the look
        is at the end of the chunk only. That is valid (any subset of looks is), but the decision
        may come later than episode by episode, or not come where a crossing inside the chunk was
        left again; use `update_each` to look after every episode.
        Raises EvidenceError for negative counts or more violations + undecided than episodes.
        """
        if type(skipped) is not int or type(doubtful) is not int or skipped or doubtful:
            skipped = episode_count(skipped, "skipped")
            doubtful = episode_count(doubtful, "doubtful")
            if (skipped or doubtful) and episodes is None and not violations and not undecided:
                episodes = 0
        if episodes is None:
            episodes = 1
        if type(episodes) is not int or type(violations) is not int or type(undecided) is not int:
            episodes = count(episodes, "episodes")
            violations = count(violations, "violations")
            undecided = count(undecided, "undecided")
        if violations < 0 or undecided < 0 or violations + undecided > episodes:
            raise EvidenceError(
                f"violations={violations}, undecided={undecided}, episodes={episodes}: counts must "
                "be >= 0 and violations + undecided at most episodes."
            )
        if episodes + doubtful > MOST_EPISODES - self._episodes - self._doubtful:
            raise EvidenceError("An e-process takes at most 10^15 episodes.")
        if self._decision is not None:
            more, failed, open_ = self._surplus
            self._surplus = (more + episodes, failed + violations, open_ + undecided)
            passed_over, unsure = self._surplus_aside
            self._surplus_aside = (passed_over + skipped, unsure + doubtful)
            return self._decision
        self._skipped += skipped
        self._doubtful += doubtful
        self._episodes += episodes
        if violations or undecided:
            self._count_bad(violations, undecided)
        if self._episodes >= self._look_at and self._decision is None:
            self._look_below()
        return self._decision

    def update_each(self, outcomes: Iterable[Outcome | Status]) -> Decision | None:
        """Add episodes one by one in index order, looking after each; return the decision.

        An outcome is "safe", "violated", "undecided", "skipped" or "doubtful" (see `outcome_of`);
        the status of a verdict on a claim without a condition is understood too.
        Raises EvidenceError for any other, before anything of the sequence is counted.
        """
        for outcome in read_outcomes(outcomes):
            if outcome == "safe":
                self.update()
            else:
                self.update(**_ONE[outcome])
        return self._decision

    def e_value(self, side: Decision) -> Decimal:
        """A lower end (50 digits) of the side's e-value now; 1/e is a p-value at any stopping.

        Raises EvidenceError for a side that is neither "below" nor "above".
        """
        if not one_of(side, ("below", "above")):
            raise EvidenceError(f"side = {side!r} is not 'below' or 'above'.")
        worst = self._violations + (self._undecided if side == "below" else 0)
        safe = self._episodes - worst + (0 if side == "below" else self._doubtful)
        make = below_mixture if side == "below" else above_mixture
        return make(self._threshold).enclosure(worst, safe, 50)[0]

    def state(self) -> dict[str, Any]:
        """Everything, as a JSON value. `EProcess.from_state` reads it back."""
        return {
            "kind": "e-process/2",
            "threshold": written(self._threshold),
            "level": written(self._level),
            "episodes": self._episodes,
            "violations": self._violations,
            "undecided": self._undecided,
            "skipped": self._skipped,
            "doubtful": self._doubtful,
            "decision": self._decision,
            "surplus": [*self._surplus, *self._surplus_aside],
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The process as it was at `state()`.

        Raises EvidenceError if the state is malformed or if its decision is not what its own
        counts give (a latched state holds the counts at the look that decided).
        """
        try:
            kind, names = state["kind"], ["episodes", "violations", "undecided"]
            if kind not in KINDS:
                raise EvidenceError(f"This is not the state of an e-process: {kind!r}.")
            if kind != "e-process/1":
                names += ["skipped", "doubtful"]
            process = cls(
                read_fraction(state["threshold"], "threshold"),
                read_fraction(state["level"], "level"),
            )
            process.update(**{name: count(state[name], name) for name in names})
            decision = state["decision"]
            surplus = [episode_count(n, "surplus") for n in state["surplus"]]
        except (KeyError, TypeError, IndexError) as error:
            raise EvidenceError(f"The state of an e-process is malformed: {error}.") from error
        if decision != process._decision or decision not in (None, *get_args(Decision)):
            raise EvidenceError(
                f"The state says decision {decision!r}, but its counts give {process._decision!r}."
            )
        if (
            len(surplus) != len(names)
            or surplus[0] < surplus[1] + surplus[2]
            or (decision is None and any(surplus))
        ):
            raise EvidenceError(f"The state's surplus {surplus} does not fit its decision.")
        process._surplus = (surplus[0], surplus[1], surplus[2])
        process._surplus_aside = (surplus[3], surplus[4]) if len(surplus) > 3 else (0, 0)
        return process

    def to_json(self) -> str:
        """`state()` as JSON text."""
        return json.dumps(self.state(), sort_keys=True)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Inverse of `to_json`. Raises EvidenceError if the text is not such a state."""
        try:
            state = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise EvidenceError(f"The state of an e-process is not JSON: {error}.") from error
        if not isinstance(state, dict):
            raise EvidenceError("The state of an e-process must be a JSON object.")
        return cls.from_state(cast("dict[str, Any]", state))

    def __repr__(self) -> str:
        return (
            f"EProcess(threshold={float(self._threshold)!r}, level={float(self._level)!r}): "
            f"{self._violations} violated, {self._undecided} undecided of {self._episodes}, "
            f"{self._skipped + self._doubtful} aside, "
            f"decision {self._decision}"
        )

    def _count_bad(self, violations: int, undecided: int) -> None:
        self._violations += violations
        self._undecided += undecided
        worst = self._violations + self._undecided
        self._look_at = max(self._look_at, self._earliest(worst))
        self._look_is_exact = False
        if (
            violations
            and self._violations * self._threshold.denominator
            > ((self._episodes + self._doubtful) * self._threshold.numerator)
            and self._above.episodes_allowed(self._violations) >= self._episodes + self._doubtful
        ):
            self._decision = "above"

    def _look_below(self) -> None:
        worst = self._violations + self._undecided
        if not self._look_is_exact:
            self._look_at = self._below.episodes_needed(worst)
            self._look_is_exact = True
        if self._episodes >= self._look_at:
            self._decision = "below"

    def _earliest(self, worst: int) -> int:
        """No claim with `worst` violations in fewer episodes: E > 1 needs k/n < p0."""
        return worst * self._threshold.denominator // self._threshold.numerator + 1
