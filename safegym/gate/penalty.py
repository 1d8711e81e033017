"""Penalties for violated claims: at which step, and how large.

A violation is penalised at its settling sample: the first sample at which the episode so far
already violates the claim, whatever comes next. The action before that sample settled it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from safegym.check.monitor import Settling, judge, settling
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
from safegym.trace.model import Clock, EpisodeEnd, Trace


@dataclass(frozen=True, slots=True)
class PenaltySettings:
    """How a violation is turned into a negative reward.

    The reward at the settling step is lowered by weight * clip(-margin, floor, cap), where the
    margin is the robustness there in multiples of the claim's scale. The floor also holds where the
    margin is 0 (a limit touched exactly) or refused (mixed units without scales), so that no
    violation is free.

    weight: in units of reward. cap, floor: in multiples of scale.
    end_weight: weight for violations that only the episode's end decides (a goal not reached in
    time); 0 penalises safety claims alone.
    claims: claim id -> weight of that claim, for every violation of it, instead of the two above.
    """

    weight: float = 4.0
    cap: float = 1.0
    floor: float = 0.25
    end_weight: float = 0.0
    claims: Mapping[str, float] = field(default_factory=dict[str, float])

    def __post_init__(self) -> None:
        object.__setattr__(self, "claims", dict(self.claims))
        numbers = {"weight": self.weight, "end_weight": self.end_weight, **self.claims}
        for name, value in numbers.items():
            if not (math.isfinite(value) and value >= 0.0):
                raise GateError(f"Penalty weight {name} is {value}; give a finite number >= 0.")
        if not (0.0 <= self.floor <= self.cap and math.isfinite(self.cap)):
            raise GateError(
                f"The penalty has floor {self.floor} and cap {self.cap}; give 0 <= floor <= cap."
            )

    @property
    def idle(self) -> bool:
        """Whether no violation can be penalised."""
        return self.cap == 0.0 or not any((self.weight, self.end_weight, *self.claims.values()))

    def weight_of(self, claim_id: str, *, at_end: bool = False) -> float:
        """The claim's own weight, else `end_weight` or `weight`."""
        return self.claims.get(claim_id, self.end_weight if at_end else self.weight)

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON."""
        return {
            "weight": self.weight,
            "cap": self.cap,
            "floor": self.floor,
            "end_weight": self.end_weight,
            "claims": dict(self.claims),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "PenaltySettings":
        """The settings of `to_json`. Raises GateError when a field is missing or unknown."""
        try:
            return cls(**data)
        except TypeError as error:
            raise GateError(f"Stored penalty settings are malformed: {error}.") from error


@dataclass(frozen=True, slots=True)
class Violation:
    """One claim violated on one training episode.

    step: the settling sample, from 0. margin: robustness there in multiples of scale, None where
    margins are refused. at_end: only the episode's end decided it. size: what is added to the
    reward of the action before `step`, in units of reward, <= 0; 0 where nothing is penalised:
    weight 0, or settled at sample 0, before any action.
    """

    claim_id: str
    trace_digest: str
    step: int
    margin: float | None
    at_end: bool
    size: float


class Penaliser:
    """Finds violations in training traces and sizes their penalties.

    Claims about a mean over episodes have no violation of one episode and are passed over.
    Raises UnsupportedError or FormulaError when a claim cannot be put on the clock's grid.
    """

    def __init__(
        self, claims: Sequence[Claim], clock: Clock, horizon: int, settings: PenaltySettings
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
        self._waits = frozenset(name for name, formula in steps.items() if only_waits(formula))
        self._shown_by_samples = frozenset(
            name for name, formula in steps.items() if shown_by_samples(formula)
        )

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims that one episode can violate."""
        return self._claims

    def violations(self, trace: Trace) -> tuple[Violation, ...]:
        """Violations of a whole trace, or of an open episode's prefix, in the claims' order."""
        found = (self._violation(claim, trace) for claim in self._claims)
        return tuple(violation for violation in found if violation is not None)

    def _violation(self, claim: Claim, trace: Trace) -> Violation | None:
        settled = self._settled(claim, trace)
        if settled is None:
            return None
        at_end = self._decided_by_end(claim, trace, settled.step)
        weight = self._settings.weight_of(claim.id, at_end=at_end)
        margin = settled.margin
        known = margin is not None and not math.isnan(margin)
        size = 0.0 if settled.step == 0 else penalty_size(margin, weight, self._settings)
        return Violation(
            claim_id=claim.id,
            trace_digest=trace.digest,
            step=settled.step,
            margin=margin if known else None,
            at_end=at_end,
            size=size,
        )

    def _settled(self, claim: Claim, trace: Trace) -> Settling | None:
        if claim.id not in self._waits:
            return settling(claim, trace)
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
        if trace.end.kind != "interrupted":
            end = EpisodeEnd("interrupted", trace.end.time, "")
            if judge(claim, replace(trace, end=end, digest="")).status != "violated":
                return True
        return last >= self._horizon and self._reach[claim.id] >= self._horizon


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
