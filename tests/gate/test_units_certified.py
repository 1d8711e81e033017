"""A claim in another unit than its scenario records: certified, refuted, and derived again."""

from pathlib import Path

import pytest
from chain import chain_spec, still

from safegym.audit.sign import default_key
from safegym.audit.verify import verify
from safegym.errors import UnitError
from safegym.formula.build import eventually, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.gate.certify import certify
from safegym.gate.rederive import rederive

PERCENT = Signal("hazard", "%", bounds=(0.0, 100.0), hold="max")
SAFE = Claim(id="chain.percent", statement=prob(eventually(PERCENT >= 50)) < 0.05, confidence=0.95)


@pytest.mark.parametrize(("failure", "status"), [(0.0, "satisfied"), (1.0, "violated")])
def test_a_claim_in_another_unit_is_certified_or_refuted_on_the_converted_signal(
    failure: float, status: str, tmp_path: Path
) -> None:
    """Compared as bare numbers, a hazard of 1 would never reach 50."""
    out = tmp_path / "run"
    spec = chain_spec(failure, (2, 5))
    (evidence,) = certify(spec, still("candidate"), claims=[SAFE], budget=400, out=out)
    assert evidence.status == status
    assert "signal hazard: recorded in 1, read in % (x 100)" in evidence.assumptions
    report = verify(out, keys=[default_key()], rederive=rederive)
    assert report.result == "intact", [(step.name, step.detail) for step in report.steps]


def test_a_claim_in_the_recorded_unit_assumes_no_conversion() -> None:
    spec = chain_spec(0.0, (2, 5))
    (evidence,) = certify(spec, still("candidate"), budget=400)
    assert not any("recorded in" in line for line in evidence.assumptions)


def test_a_claim_in_another_dimension_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    length = Signal("hazard", "m")
    claim = Claim(id="chain.length", statement=prob(eventually(length >= 50)) < 0.05)
    told = r"Claim chain\.length reads hazard in m, but .* records it in 1: .*m \(length\)"
    with pytest.raises(UnitError, match=told):
        certify(chain_spec(0.0, (2, 5)), still("one"), claims=[claim], out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
