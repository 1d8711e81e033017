"""What is searched against: a claim of the scenario, and how far its episodes must run."""

from difflib import get_close_matches

from safegym.check.tail import tail_steps
from safegym.errors import ScenarioError, UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.rewrite import to_steps
from safegym.scenario.agreement import refuse_other_signals
from safegym.scenario.spec import ScenarioSpec

FORMULA_ID = "falsify.formula"


def claim_of(spec: ScenarioSpec, asked: object) -> Claim:
    """The claim that is meant: itself, one of the scenario's by id, or a formula that must hold.

    Raises ScenarioError for an id that the scenario does not have, and where it has not one claim
    and none is named.
    """
    ids = [claim.id for claim in spec.claims]
    if asked is None:
        if len(ids) == 1:
            return spec.claims[0]
        raise ScenarioError(
            f"{spec.name} has {len(ids)} claims; say which is to be violated: "
            + (f'claim="{ids[0]}". It has {", ".join(ids)}.' if ids else "claim=Claim(...).")
        )
    if isinstance(asked, Claim):
        claim = asked
    elif isinstance(asked, Formula):
        claim = Claim(FORMULA_ID, asked)
    elif isinstance(asked, str):
        claim = _named(spec, ids, asked)
    else:
        raise ScenarioError(
            f"claim={asked!r:.60} is neither a claim, nor the id of one, nor a formula."
        )
    refuse_other_signals(spec, claim)
    return claim


def _named(spec: ScenarioSpec, ids: list[str], asked: str) -> Claim:
    for claim in spec.claims:
        if claim.id == asked:
            return claim
    near = get_close_matches(asked, ids, n=3, cutoff=0.4) or ids
    raise ScenarioError(
        f"{spec.name} has no claim {asked!r}"
        + (f"; did you mean {', '.join(near)}?" if near else ", and declares none.")
    )


def tail_of(spec: ScenarioSpec, claim: Claim) -> int:
    """Samples past the horizon that settle the claim. UnsupportedError if they cannot be run."""
    steps = to_steps(claim.property, spec.clock.dt, rounding=claim.rounding, claim=claim.id)
    tail = tail_steps(steps, spec.horizon)
    if tail and not spec.can_run_tail:
        raise UnsupportedError(
            f"Claim {claim.id} reads {tail} samples past the horizon of {spec.name}, and its "
            "simulator cannot run on; shorten the claim's windows or raise the horizon."
        )
    return tail


def whole_number(name: str, value: object) -> int:
    """A seed. Raises ScenarioError unless it is a whole number >= 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ScenarioError(f"{name} must be a whole number >= 0, found {value!r:.60}.")
    return value
