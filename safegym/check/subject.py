"""Which claim of a scenario an id names."""

from difflib import get_close_matches

from safegym.errors import ScenarioError
from safegym.formula.claim import Claim
from safegym.scenario.spec import ScenarioSpec


def claim_named(spec: ScenarioSpec, asked: str) -> Claim:
    """The scenario's claim of this id. Raises ScenarioError with the ids that come nearest."""
    ids = [claim.id for claim in spec.claims]
    if asked in ids:
        return spec.claims[ids.index(asked)]
    near = get_close_matches(asked, ids, n=3, cutoff=0.4) or ids
    raise ScenarioError(
        f"{spec.name} has no claim {asked!r}"
        + (f"; did you mean {', '.join(near)}?" if near else ", and declares none.")
    )
