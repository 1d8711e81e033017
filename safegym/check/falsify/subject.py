"""What is searched against: a claim of the scenario, or a formula that must hold."""

from safegym.check.subject import claim_named
from safegym.errors import ScenarioError
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.scenario.agreement import refuse_other_signals
from safegym.scenario.spec import ScenarioSpec

FORMULA_ID = "falsify.formula"


def claim_of(spec: ScenarioSpec, asked: object) -> Claim:
    """The claim that is meant: itself, one of the scenario's by id, or a formula that must hold.

    Raises ScenarioError for an id that the scenario does not have, for another claim under the id
    of one that it has, and where it has not one claim and none is named.
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
        claim = claim_named(spec, asked)
    else:
        raise ScenarioError(
            f"claim={asked!r:.60} is neither a claim, nor the id of one, nor a formula."
        )
    _refuse_a_namesake(spec, claim)
    refuse_other_signals(spec, claim)
    return claim


def _refuse_a_namesake(spec: ScenarioSpec, claim: Claim) -> None:
    """Raise ScenarioError for another claim under the id of one of the scenario's."""
    for each in spec.claims:
        if each.id == claim.id and each.digest != claim.digest:
            raise ScenarioError(
                f"{spec.name} has a claim {claim.id} that states otherwise than this one: "
                f"`{each.statement}`, not `{claim.statement}`, or with another confidence or "
                "rounding. A counterexample would be told as one of the scenario's; give yours an "
                "id of its own."
            )


def whole_number(name: str, value: object) -> int:
    """A seed. Raises ScenarioError unless it is a whole number >= 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ScenarioError(f"{name} must be a whole number >= 0, found {value!r:.60}.")
    return value
