"""The limit that evidence tells never contradicts what the attempt decided."""

import random
from collections.abc import Sequence
from fractions import Fraction

import pytest

from safegym.check.statistics.limits import upper_limit
from safegym.check.statistics.mean_limits import mean_limits
from safegym.errors import GateError
from safegym.formula.build import eventually, fraction, mean, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.gate.certify import certification_setting
from safegym.gate.evidence import Basis, gather
from safegym.gate.obligation import obligations
from safegym.gate.plan import GatePlan
from safegym.gate.reading import Reading
from safegym.gate.strata import Stratum
from safegym.gate.tally import Tally
from safegym.verdict import Evidence

X = Signal("x")
EARLY = Claim("t.early", prob(eventually(X > 1)) < 0.05, confidence=0.9)
LATE = Claim("t.late", prob(eventually(X > 2)) >= 0.995, confidence=0.9)
DUTY = Claim("t.duty", mean(fraction(X > 3)) >= 0.5, confidence=0.9)
RARE = Claim("t.duty", mean(fraction(X > 3)) < 0.5, confidence=0.9)
GOOD, BAD = Reading("satisfied"), Reading("violated")


def share(value: float) -> Reading:
    return Reading("satisfied", None, (value, value))


def counted(claims: Sequence[Claim], rows: Sequence[Sequence[Reading]], version: int = 2) -> Tally:
    tally = Tally(obligations(claims, GatePlan()), 1, 3000, version=version)
    for row in rows:
        if tally.add(row) is not None:
            break
    return tally


def evidence(tally: Tally) -> dict[str, Evidence]:
    return {item.claim_id: item for item in gather(tally, Basis((), "", {}))}


def worsening(seed: int) -> list[tuple[Reading, Reading]]:
    rng = random.Random(seed)
    late = [BAD if rng.random() < 0.3 else GOOD for _ in range(800)]
    return [(GOOD, GOOD)] * 100 + [(reading, GOOD) for reading in late]


@pytest.mark.parametrize("seed", range(3))
def test_a_claim_that_crossed_keeps_its_limit_when_later_episodes_fail(seed: int) -> None:
    tally = counted([EARLY, LATE], worsening(seed))
    found = evidence(tally)["t.early"]
    crossed = tally.counts[0].crossed_at
    assert tally.outcome == "certified"
    assert found.violations > 0.1 * found.episodes
    assert crossed is not None
    limit = upper_limit(0, crossed, level=tally.counts[0].level or 0)
    assert found.bound == limit
    assert limit < 0.05


def test_later_clean_episodes_still_tighten_the_limit() -> None:
    tally = counted([EARLY, LATE], [(GOOD, GOOD)] * 900)
    found = evidence(tally)["t.early"]
    assert found.bound == upper_limit(0, found.episodes, level=tally.counts[0].level or 0)


def test_a_plan_of_version_one_tells_the_limit_over_all_episodes_as_it_did() -> None:
    found = evidence(counted([EARLY, LATE], worsening(0), version=1))["t.early"]
    assert found.status == "satisfied"
    assert found.bound is not None
    assert found.bound > 0.05


def test_a_mean_that_crossed_keeps_its_limit_when_later_shares_fall() -> None:
    rows = [(share(0.9), GOOD)] * 40 + [(share(0.1), GOOD)] * 900
    tally = counted([DUTY, LATE], rows)
    found, level = evidence(tally)["t.duty"], tally.counts[0].level or Fraction(0)
    assert found.status == "satisfied"
    assert mean_limits([0.9] * 40 + [0.1] * (found.episodes - 40), level=level)[0] < 0.5
    assert found.bound is not None
    assert found.bound >= 0.5


@pytest.mark.parametrize(("claim", "value", "side"), [(DUTY, 0.3, "upper"), (RARE, 0.7, "lower")])
def test_a_refuted_mean_tells_the_threshold_that_the_refuting_process_passed(
    claim: Claim, value: float, side: str
) -> None:
    found = evidence(counted([claim], [(share(value),)] * 200))["t.duty"]
    assert (found.status, found.bound, found.side) == ("violated", 0.5, side)


def test_what_left_episodes_undecided_is_told_when_an_attempt_is_futile() -> None:
    tally = Tally(obligations([EARLY], GatePlan()), 1, 100)
    while tally.add([Reading("inconclusive")], "", "ValueError in the policy:\nbroke") is None:
        pass
    assert tally.reasons[-1] == (
        f"undecided, {tally.episodes} times: ValueError in the policy: broke"
    )


def test_a_new_certification_under_an_older_plan_is_refused() -> None:
    with pytest.raises(GateError, match=r"begins no new run.*GatePlan\(\.\.\.\) without version="):
        certification_setting(
            "chain/plant-v0", plan=GatePlan(version=1, repeats=0, screen_share=None)
        )
    with pytest.raises(GateError, match="version=True"):
        GatePlan(version=True, repeats=0)


@pytest.mark.parametrize("weight", ["1e-50000000", "1E9", "1_0/2_0", " 1", "-1/2", "1/" + "9" * 60])
def test_a_weight_that_is_no_plain_number_is_refused_at_once(weight: str) -> None:
    with pytest.raises(GateError, match="write it as text, which is exact"):
        Stratum("a", weight)
