"""Conditional claims and claims about a mean, exactly at their boundary: how often released?"""

import math
from pathlib import Path

import pytest
from chain import still
from mixed import duty, given, mixed_spec

from safegym.check.statistics.ledger import AttemptLedger
from safegym.check.statistics.levels import spent_level
from safegym.formula.claim import Claim
from safegym.gate.attempt import Certifier
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.setting import make_setting
from safegym.gate.strata import Strata, Stratum

RUNS = 150
LEVEL = 0.1


def most(level: float) -> int:
    """Releases that a rate of `level` exceeds with a chance of about 1 in 10 000."""
    mean = RUNS * level
    return math.ceil(mean + 3.9 * math.sqrt(mean * (1 - level)))


def releases(claim: Claim, folder: Path, strata: Strata | None = None, **truth: float) -> int:
    """How many of `RUNS` first attempts, each on a ledger of its own, certify."""
    spec = mixed_spec(claim, **truth)  # type: ignore[arg-type]
    setting = make_setting(spec, Gate(plan=GatePlan(cap=250, strata=strata)))
    found = 0
    for number in range(RUNS):
        home = folder / str(number)
        ledger = AttemptLedger(spec.digest, setting.claims_digest, folder=home)
        attempt = Certifier(setting, ledger).attempt(still(f"run {number}"))
        assert attempt.number == 1
        found += attempt.outcome == "certified"
    return found


@pytest.mark.slow
def test_a_conditional_claim_at_its_boundary_is_released_no_more_often_than_its_level(
    tmp_path: Path,
) -> None:
    """P(hazard | strong wind) is the threshold; in calm it never comes, so P(hazard) is half."""
    claim = given(0.1, confidence=1 - LEVEL)
    assert releases(claim, tmp_path, windy=0.1, calm=0.0) <= most(spent_level(LEVEL, 1))


@pytest.mark.slow
def test_a_mean_at_its_boundary_is_released_no_more_often_than_its_level(tmp_path: Path) -> None:
    """With 5 to 10 good samples of ten, evenly, the mean share is 0.75."""
    claim = duty(0.75, confidence=1 - LEVEL)
    assert releases(claim, tmp_path, good=5) <= most(spent_level(LEVEL, 1))


@pytest.mark.slow
def test_strata_in_rounds_at_the_boundary_release_no_more_often_than_the_level(
    tmp_path: Path,
) -> None:
    """Every hazard lies in one stratum, the worst case for looking inside a round."""
    from mixed import any_

    calm = Stratum("calm", "4/5", parameters={"wind": [0.0, 4.0]})
    windy = Stratum("windy", "1/5", parameters={"wind": [6.0, 10.0]})
    claim = any_(0.1, confidence=1 - LEVEL)
    strata = Strata((calm, windy), "rounds")
    assert releases(claim, tmp_path, strata, windy=0.5) <= most(spent_level(LEVEL, 1))
