"""What a pack's scenarios promise, run where its simulator is installed; skipped elsewhere."""

import os

import pytest

from safegym.check.monitor import judge
from safegym.scenario.adapt import conformance_issues
from safegym.scenario.campaign import Campaign
from safegym.scenario.registry import find, names, packs

pytestmark = pytest.mark.slow
EXTRAS = [pack for pack in packs() if pack.name != "core"]
MANY = int(os.environ.get("SAFEGYM_PACK_SCENARIOS", "4"))
"""How many of a pack's scenarios are run, spread over its names; 0 for all."""


def sampled(pack):
    """Names spread evenly over the pack."""
    found = names(pack.name)
    return found if MANY == 0 else found[:: max(1, len(found) // MANY)][:MANY]


@pytest.mark.parametrize("pack", EXTRAS, ids=lambda pack: pack.name)
def test_scenarios_conform_and_their_policies_tell_the_claims_apart(pack):
    if pack.missing:
        pytest.skip(f"pack {pack.name} {pack.missing}")
    assert sampled(pack), f"pack {pack.name} has no scenario: measure its table"
    for name in sampled(pack):
        spec = find(name)
        assert spec.validate() == []
        assert conformance_issues(spec, steps=min(40, spec.horizon)) == [], name
        good = statuses(spec, spec.good())
        for claim in spec.claims:
            assert set(good[claim.id]) == {"satisfied"}, (name, claim.id)
            assert "violated" in statuses(spec, spec.bad[claim.id]())[claim.id], (name, claim.id)


def statuses(spec, policy):
    """Claim -> verdicts over seeds, those that the limits were measured on."""
    with Campaign(spec, policy, seed_of=int, tail=0, copies=10, episodes=10) as campaign:
        traces = [trace for _, trace in campaign]
    return {claim.id: [judge(claim, t).status for t in traces] for claim in spec.claims}
