"""What is asked for: a claim whose property fails in a share of the episodes."""

from dataclasses import dataclass

from safegym.check.monitor import judge, support
from safegym.check.subject import claim_named
from safegym.check.tail import tail_of
from safegym.errors import EvidenceError, ScenarioError, UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.scenario.agreement import refuse_other_signals
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Trace
from safegym.verdict import Status

KINDS = ("trace", "probability", "quantile")
GUIDE = "rare.guide"


def claim_of(spec: ScenarioSpec, asked: object) -> Claim:
    """The claim that is meant, itself or by its id.

    Raises ScenarioError where the scenario has no such claim or does not record what it reads,
    UnsupportedError for one that is not about the share of failing episodes, or whose margins do
    not compare.
    """
    claim = claim_named(spec, asked) if isinstance(asked, str) else asked
    if not isinstance(claim, Claim):
        raise ScenarioError(f"claim={asked!r:.60} is neither a claim nor the id of one.")
    refuse_other_signals(spec, claim)
    if claim.kind not in KINDS:
        raise UnsupportedError(
            f"Claim {claim.id} is about a {claim.kind}; a rare event is an episode that breaks one "
            "property, so estimate a claim prob(...) < p instead."
        )
    found = support(claim.property)
    if not found.ok:
        raise UnsupportedError(f"Claim {claim.id} cannot be monitored: {found.reason}")
    return claim


@dataclass(frozen=True, slots=True)
class Aim:
    """What counts, and what leads there.

    claim: its property fails or not. guide: its property's robustness gives the levels; the claim
    itself unless another formula is given. tail: samples past the horizon that settle both.
    """

    claim: Claim
    guide: Claim
    tail: int


def aim_of(spec: ScenarioSpec, asked: Claim | str, guide: Formula | None) -> Aim:
    """The aim, checked against what the scenario records. Raises as `claim_of` does."""
    claim = claim_of(spec, asked)
    if guide is None:
        return Aim(claim, claim, tail_of(spec, claim))
    leading = Claim(GUIDE, guide)
    refuse_other_signals(spec, leading)
    found = support(guide)
    if not found.ok:
        raise UnsupportedError(f"The guide cannot be monitored: {found.reason}")
    return Aim(claim, leading, max(tail_of(spec, claim), tail_of(spec, leading)))


def judged(aim: Aim, trace: Trace) -> tuple[Status, float]:
    """The property's status on a whole episode, and minus the largest robustness of the guide.

    Raises UnsupportedError where the guide's margins do not compare.
    """
    verdict = judge(aim.claim, trace)
    own = aim.guide is aim.claim
    found = verdict.robustness if own else judge(aim.guide, trace).robustness
    if found is None:
        raise UnsupportedError(
            f"The margins of {aim.guide.property!s:.80} do not compare, so nothing "
            "says how near an episode came; give each of its signals a scale."
        )
    return verdict.status, -found.hi


def whole(value: object, name: str, least: int) -> int:
    """A whole number of at least `least`. Raises EvidenceError."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise EvidenceError(
            f"{name} must be a whole number >= {least}, found {value!r:.40}; write for example "
            f"{name}={max(least, 10)}."
        )
    return value
