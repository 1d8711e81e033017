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
    read_fraction,
    written,
)
from safegym.check.statistics.grid import above_mixture, below_mixture
from safegym.check.statistics.outcomes import Decision, Outcome, read_outcome
from safegym.errors import EvidenceError
from safegym.verdict import Status

SMALLEST_THRESHOLD: Final = Fraction(1, 10**12)


class EProcess:
    """Decides between p < threshold ("below") and p > threshold ("above"), at every peek.

    p is the probability that the episode property fails; episodes are independent and are fed in
    index order (feeding them as they finish is invalid). Each side errs with probability at most
    `level` over the whole run, however often and for whatever reason one looks or stops.
    Undecided episodes count as violations for "below" and as safe for "above".

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
        "_episodes",
        "_level",
        "_look_at",
        "_look_is_exact",
        "_surplus",
        "_threshold",
        "_undecided",
        "_violations",
    )

    def __init__(self, threshold: Probability, level: Probability) -> None:
        self._threshold = exact_probability(threshold, "threshold")
        self._level = exact_probability(level, "level")
        if not SMALLEST_THRESHOLD <= self._threshold <= 1 - SMALLEST_THRESHOLD:
            raise EvidenceError(
                f"threshold = {threshold} is within 1e-12 of 0 or 1: no number of episodes "
                "that can be run would decide it. Prove the claim instead, or write a threshold "
                "of at least 1e-12."
            )
        self._below = below_boundary(self._threshold, self._level)
        self._above = above_boundary(self._threshold, self._level)
        self._violations = 0
        self._undecided = 0
        self._episodes = 0
        self._decision: Decision | None = None
        self._surplus = (0, 0, 0)
        self._look_at = self.first_clean
        self._look_is_exact = True

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
        """Episodes up to the decision, undecided ones included."""
        return self._episodes

    @property
    def decision(self) -> Decision | None:
        """What is claimed: "below" (p < threshold), "above" (p > threshold), or None as yet."""
        return self._decision

    @property
    def decided_at(self) -> int | None:
        """Number of episodes at the look that decided; None before."""
        return self._episodes if self._decision is not None else None

    @property
    def surplus(self) -> tuple[int, int, int]:
        """(episodes, violations, undecided) fed after the decision: outside the evidence."""
        return self._surplus

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
        """Whether "below" can no longer be reached within `cap` episodes in all, come what may."""
        if self._decision is not None:
            return self._decision == "above"
        worst = self._violations + self._undecided
        if self._episodes >= cap:
            return True
        return self._earliest(worst) > cap or self.episodes_needed(worst) > cap

    def update(
        self, *, violations: int = 0, undecided: int = 0, episodes: int = 1
    ) -> Decision | None:
        """Add episodes, look once, and return the decision.

        With episodes > 1 the look is at the end of the chunk only. That is valid (any subset of
        looks is), but the decision may come later than episode by episode, or not come where a
        crossing inside the chunk was left again; use `update_each` to look after every episode.
        Raises EvidenceError for negative counts or more violations + undecided than episodes.
        """
        if type(episodes) is not int or type(violations) is not int or type(undecided) is not int:
            episodes = count(episodes, "episodes")
            violations = count(violations, "violations")
            undecided = count(undecided, "undecided")
        if violations < 0 or undecided < 0 or violations + undecided > episodes:
            raise EvidenceError(
                f"violations={violations}, undecided={undecided}, episodes={episodes}: counts must "
                "be >= 0 and violations + undecided at most episodes."
            )
        if episodes > MOST_EPISODES - self._episodes:
            raise EvidenceError("An e-process takes at most 10^15 episodes.")
        if self._decision is not None:
            more, failed, open_ = self._surplus
            self._surplus = (more + episodes, failed + violations, open_ + undecided)
            return self._decision
        self._episodes += episodes
        if violations or undecided:
            self._count_bad(violations, undecided)
        if self._episodes >= self._look_at and self._decision is None:
            self._look_below()
        return self._decision

    def update_each(self, outcomes: Iterable[Outcome | Status]) -> Decision | None:
        """Add episodes one by one in index order, looking after each; return the decision.

        An outcome is "safe", "violated" or "undecided"; a verdict's status is understood too.
        Raises EvidenceError for any other, before anything of the sequence is counted.
        """
        for outcome in [read_outcome(outcome) for outcome in outcomes]:
            self.update(
                violations=int(outcome == "violated"), undecided=int(outcome == "undecided")
            )
        return self._decision

    def e_value(self, side: Decision) -> Decimal:
        """A lower end (50 digits) of the side's e-value now; 1/e is a p-value at any stopping."""
        worst = self._violations + (self._undecided if side == "below" else 0)
        make = below_mixture if side == "below" else above_mixture
        return make(self._threshold).enclosure(worst, self._episodes - worst, 50)[0]

    def state(self) -> dict[str, Any]:
        """Everything, as a JSON value. `EProcess.from_state` reads it back."""
        return {
            "kind": "e-process/1",
            "threshold": written(self._threshold),
            "level": written(self._level),
            "episodes": self._episodes,
            "violations": self._violations,
            "undecided": self._undecided,
            "decision": self._decision,
            "surplus": list(self._surplus),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The process as it was at `state()`.

        Raises EvidenceError if the state is malformed or if its decision is not what its own
        counts give (a latched state holds the counts at the look that decided).
        """
        try:
            if state["kind"] != "e-process/1":
                raise EvidenceError(f"This is not the state of an e-process: {state['kind']!r}.")
            process = cls(
                read_fraction(state["threshold"], "threshold"),
                read_fraction(state["level"], "level"),
            )
            process.update(**{n: state[n] for n in ("violations", "undecided", "episodes")})
            decision, surplus = state["decision"], [count(n, "surplus") for n in state["surplus"]]
        except (KeyError, TypeError) as error:
            raise EvidenceError(f"The state of an e-process is malformed: {error}.") from error
        if decision != process._decision or decision not in (None, *get_args(Decision)):
            raise EvidenceError(
                f"The state says decision {decision!r}, but its counts give {process._decision!r}."
            )
        if len(surplus) != 3 or (decision is None and any(surplus)):
            raise EvidenceError(f"The state's surplus {surplus} does not fit its decision.")
        process._surplus = (surplus[0], surplus[1], surplus[2])
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
            > (self._episodes * self._threshold.numerator)
            and self._above.episodes_allowed(self._violations) >= self._episodes
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
