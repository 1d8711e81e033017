"""What a search makes small: how nearly an episode keeps the claim's episode property."""

from dataclasses import dataclass
from math import inf, isnan

from safegym.check.monitor import judge
from safegym.errors import FormulaError
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.trace.model import Trace
from safegym.verdict import Status, Verdict


@dataclass(frozen=True, slots=True)
class Score:
    """What one episode says.

    margin: robustness of the property in multiples of scale (its upper end where the episode
    leaves it open), None where margins are refused. applies: whether a conditional claim's
    condition held. guide: what searches compare, lower is worse for the policy, in [-1, 3]; None
    where nothing is known.
    """

    status: Status
    margin: float | None
    applies: bool
    guide: float | None
    deciding: str = ""

    @property
    def violated(self) -> bool:
        """Whether the episode is a counterexample."""
        return self.status == "violated"


class Objective:
    """Scores episodes of one claim. Raises FormulaError for a mean, which no episode breaks."""

    def __init__(self, claim: Claim) -> None:
        if claim.kind == "mean":
            raise FormulaError(
                f"Claim {claim.id} is about a mean over episodes, so no single episode is a "
                "counterexample. Search on a limit for each episode: fraction(...) >= c."
            )
        self.claim = claim
        self._condition: Formula | None = claim.condition

    def verdict(self, trace: Trace) -> Verdict:
        """The verdict on the claim's episode property."""
        return judge(self.claim, trace)

    def score(self, trace: Trace) -> Score:
        """The score of one episode. An open episode is no counterexample, however it looks."""
        verdict = self.verdict(trace)
        margin = margin_of(verdict)
        deciding = "" if verdict.witness is None else verdict.witness.subformula
        if self._condition is not None and verdict.condition == "violated":
            guide = self._towards_condition(trace)
            return Score(verdict.status, margin, False, guide, deciding)
        return Score(verdict.status, margin, True, _guide(verdict.status, margin), deciding)

    def _towards_condition(self, trace: Trace) -> float:
        """In [1, 3]: an episode on which nothing is claimed is worth less than any other."""
        assert self._condition is not None  # noqa: S101  # called for conditional claims only
        margin = margin_of(judge(self._condition, trace))
        return 2.0 if margin is None else 2.0 - _squashed(margin)


def margin_of(verdict: Verdict) -> float | None:
    """Robustness that counts: the upper end unless the property holds; None where there is none."""
    robustness = verdict.robustness
    if robustness is None:
        return None
    found = robustness.lo if verdict.status == "satisfied" else robustness.hi
    return None if isnan(found) else found


def _guide(status: Status, margin: float | None) -> float | None:
    """Boolean where margins are refused; an open episode without an upper end guides nowhere."""
    if status == "inconclusive":
        return None if margin is None or margin == inf else _squashed(margin)
    if margin is None:
        return -1.0 if status == "violated" else 1.0
    return _squashed(margin)


def _squashed(margin: float) -> float:
    """Increasing, from [-inf, inf] onto [-1, 1]: searches compare, and infinities must not jump."""
    if margin in (inf, -inf):
        return 1.0 if margin > 0 else -1.0
    return margin / (1.0 + abs(margin))
