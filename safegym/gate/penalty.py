"""Penalties for violated claims: at which step, and how large.

A violation is penalised at its settling sample: the first sample at which the episode so far
already violates the claim, whatever comes next. The action before that sample settled it.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from safegym.check.monitor import Settling, judge, satisfaction, settling
from safegym.errors import GateError
from safegym.formula.claim import Claim, MeanBound
from safegym.formula.interning import postorder
from safegym.formula.nodes import (
    Always,
    And,
    Atom,
    Binary,
    Boolean,
    Eventually,
    Formula,
    Fraction,
    Nary,
    Unary,
    Until,
    WindowedBinary,
    WindowedUnary,
)
from safegym.formula.rewrite import to_steps
from safegym.gate.trainer.trigger import earliest
from safegym.gate.weighting.settings import PenaltySettings as PenaltySettings
from safegym.gate.weighting.weights import Weights
from safegym.trace.model import Clock, EpisodeEnd, Trace


@dataclass(frozen=True, slots=True)
class Violation:
    """One claim violated on one training episode.

    step: the settling sample, from 0. margin: robustness there in multiples of scale, None where
    margins are refused. at_end: only the episode's end decided it. size: what is added to the
    reward of the action before `step`, in units of reward, <= 0; 0 where nothing is penalised:
    weight 0, or settled at sample 0, before any action. cost: -size at multiplier 1, >= 0, which
    says whether the violation is penalised at all. weighed: whether the claim declares a weight
    for it, also at sample 0.
    """

    claim_id: str
    trace_digest: str
    step: int
    margin: float | None
    at_end: bool
    size: float
    cost: float = 0.0
    weighed: bool = False


class Penaliser:
    """Finds violations in training traces and sizes their penalties.

    Claims about a mean over episodes have no violation of one episode and are passed over.
    weights: what each claim weighs now; None takes those of the settings, as they begin.
    Raises UnsupportedError or FormulaError when a claim cannot be put on the clock's grid.
    """

    def __init__(
        self,
        claims: Sequence[Claim],
        clock: Clock,
        horizon: int,
        settings: PenaltySettings,
        weights: Weights | None = None,
    ) -> None:
        self._settings = settings
        self._horizon = horizon
        self._claims = tuple(c for c in claims if not isinstance(c.statement, MeanBound))
        unknown = sorted(set(settings.claims) - {claim.id for claim in claims})
        if unknown:
            raise GateError(
                f"Penalty weights are given for {', '.join(unknown)}, which are not among the "
                f"claims {', '.join(claim.id for claim in claims)}."
            )
        steps = {
            claim.id: to_steps(claim.property, clock.dt, rounding=claim.rounding)
            for claim in self._claims
        }
        self._reach = {name: eventual_reach(formula) for name, formula in steps.items()}
        self._earliest = {claim.id: earliest(claim, clock) for claim in self._claims}
        self._waits = frozenset(name for name, formula in steps.items() if only_waits(formula))
        self._shown_by_samples = frozenset(
            name for name, formula in steps.items() if shown_by_samples(formula)
        )
        self._weights = weights or Weights(self._claims, settings, self._waits)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims that one episode can violate."""
        return self._claims

    def at(self, stage: int | None) -> "Penaliser":
        """Who judges training episodes that began in this stage of the run's curriculum."""
        return self

    @property
    def weights(self) -> Weights:
        """What each claim weighs now."""
        return self._weights

    def waits(self, claim_id: str) -> bool:
        """Whether only the episode's end can violate the claim."""
        return claim_id in self._waits

    def void(self, trace: Trace, violated: Collection[str]) -> frozenset[str]:
        """Claims of which a whole trace is no episode, given those that it violated.

        Their condition did not hold, or the episode was cut before it could be told.
        """
        cut = trace.end.kind == "interrupted"
        return frozenset(
            claim.id
            for claim in self._claims
            if (claim.condition is not None and not _held(claim, claim.condition, trace))
            or (cut and claim.id not in violated and judge(claim, trace).status != "satisfied")
        )

    def kept(self, trace: Trace, among: Collection[str]) -> frozenset[str]:
        """Which of these claims an open episode's prefix satisfies, whatever comes next."""
        return frozenset(
            claim.id
            for claim in self._claims
            if claim.id in among and bool(satisfaction(claim, trace)[0][0])
        )

    def violations(
        self, trace: Trace, among: Collection[str] | None = None
    ) -> tuple[Violation, ...]:
        """Violations of a whole trace, or of an open episode's prefix, in the claims' order.

        among: ids of the claims to look at, None for all.
        """
        asked = (c for c in self._claims if among is None or c.id in among)
        found = (self._violation(claim, trace) for claim in asked)
        return tuple(violation for violation in found if violation is not None)

    def _violation(self, claim: Claim, trace: Trace) -> Violation | None:
        settled = self._settled(claim, trace)
        if settled is None:
            return None
        at_end = self._decided_by_end(claim, trace, settled.step)
        declared = self._settings.weight_of(claim.id, at_end=at_end)
        margin = settled.margin
        known = margin is not None and not math.isnan(margin)
        cost = 0.0 if settled.step == 0 else -penalty_size(margin, declared, self._settings)
        return Violation(
            claim_id=claim.id,
            trace_digest=trace.digest,
            step=settled.step,
            margin=margin if known else None,
            at_end=at_end,
            size=-cost * self._weights.multiplier(claim.id) if cost > 0.0 else 0.0,
            cost=cost,
            weighed=declared > 0.0,
        )

    def _settled(self, claim: Claim, trace: Trace) -> Settling | None:
        if claim.id not in self._waits:
            return settling(claim, trace, self._earliest[claim.id])
        if trace.end.kind == "interrupted" and len(trace.rewards) < self._horizon:
            return None
        verdict = judge(claim, trace)
        if verdict.status != "violated":
            return None
        margin = None if verdict.robustness is None else verdict.robustness.hi
        return Settling(len(trace.rewards), margin)

    def _decided_by_end(self, claim: Claim, trace: Trace, step: int) -> bool:
        """Whether the claim was still open before the end came.

        Settled before the last sample: no. At the last sample: yes if the same samples, taken as
        an interrupted episode, leave the claim open; or if the horizon was reached and the claim
        waits for something that long.
        """
        last = len(trace.rewards)
        if claim.id in self._waits:
            return True
        if step < last or claim.id in self._shown_by_samples:
            return False
        if last < self._earliest[claim.id]:
            return True
        if trace.end.kind != "interrupted":
            end = EpisodeEnd("interrupted", trace.end.time, "")
            if judge(claim, replace(trace, end=end, digest="")).status != "violated":
                return True
        return last >= self._horizon and self._reach[claim.id] >= self._horizon


def _held(claim: Claim, condition: Formula, trace: Trace) -> bool:
    asked = Claim(id=claim.id, statement=condition, rounding=claim.rounding)
    return judge(asked, trace).status == "satisfied"


def penalty_size(margin: float | None, weight: float, settings: PenaltySettings) -> float:
    """What is added to the reward: in [-weight * cap, -weight * floor], in units of reward.

    margin: <= 0, in multiples of scale; None or NaN where margins are refused.
    """
    depth = 0.0 if margin is None or math.isnan(margin) else -min(margin, 0.0)
    return -weight * min(settings.cap, max(depth, settings.floor))


def only_waits(formula: Formula) -> bool:
    """Whether only the episode's end can violate a step formula: an unbounded eventually."""
    return isinstance(formula, Eventually) and formula.window.hi is None


def shown_by_samples(formula: Formula) -> bool:
    """Whether every violation of a step formula shows in the samples, whatever the end.

    True for unbounded always over formulas of the present sample, and conjunctions of these.
    """
    if isinstance(formula, And):
        return all(shown_by_samples(part) for part in formula.arguments)
    if isinstance(formula, Always) and formula.window.hi is None:
        return _is_present(formula.argument)
    return False


def _is_present(formula: Formula) -> bool:
    if isinstance(formula, Nary):
        return all(_is_present(part) for part in formula.arguments)
    return isinstance(formula, (Atom, Boolean))


def eventual_reach(formula: Formula) -> float:
    """How many samples ahead a step formula can wait for something to happen; inf if unbounded.

    Windows of eventually and until along the deepest path; 0 for a formula without them.
    """
    reach: dict[object, float] = {}
    for node in postorder(formula):
        own = 0.0
        if isinstance(node, (Eventually, Until)):
            high = node.window.hi
            own = math.inf if high is None else float(high)
        reach[node] = own + max((reach[part] for part in _parts(node)), default=0.0)
    return reach[formula]


def _parts(node: object) -> tuple[Formula, ...]:
    if isinstance(node, (Unary, WindowedUnary, Fraction)):
        return (node.argument,)
    if isinstance(node, (Binary, WindowedBinary)):
        return node.left, node.right
    return node.arguments if isinstance(node, Nary) else ()
