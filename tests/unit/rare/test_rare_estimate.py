"""What an estimate says, what its interval is made of, and that no gate takes it."""

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rare_chains import climb_spec, still
from scipy import stats

from safegym.audit.read import read_log
from safegym.check.rare import RareEstimate, WeightedMean, estimate_rare, replicate_interval
from safegym.errors import EvidenceError
from safegym.gate.certify import certify
from safegym.gate.rederive import rederive


@pytest.fixture(scope="module")
def found() -> RareEstimate:
    return estimate_rare(
        climb_spec(1, 6, 0.35, 40), still(), "climb.top", budget=300, replicates=4, particles=12
    )


def with_replicates(found: RareEstimate, *values: float) -> RareEstimate:
    lo, hi, how = replicate_interval(values, 0.95)
    return dataclasses.replace(
        found,
        replicates=values,
        estimate=float(np.mean(values)),
        interval=(lo, hi),
        interval_method=how,
    )


def test_every_text_says_estimated_asymptotic_and_no_certificate(found: RareEstimate) -> None:
    for text in (str(found), found.evidence().method, json.dumps(found.to_json())):
        assert "estimated, asymptotic; not a certificate" in text


def test_evidence_is_asymptotic_and_neither_shows_nor_refutes(found: RareEstimate) -> None:
    bounded = WeightedMean(0.0, 1e-9, 0.025, 5.0, 10**9)
    for one in (found, dataclasses.replace(found, bounded=bounded)):
        evidence = one.evidence()
        assert (evidence.validity, evidence.status, evidence.kind) == (
            "asymptotic",
            "inconclusive",
            "estimated",
        )
        assert (evidence.bound, evidence.confidence, evidence.level) == (None, None, None)


def test_an_estimate_has_no_truth_value_and_cannot_be_changed(found: RareEstimate) -> None:
    with pytest.raises(TypeError, match="An estimate is no verdict"):
        bool(found)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.estimate = 0.0  # type: ignore[misc]  # what is refused


def test_an_estimate_of_another_validity_cannot_be_made(found: RareEstimate) -> None:
    with pytest.raises(EvidenceError, match="is asymptotic, not 'anytime'"):
        dataclasses.replace(found, validity="anytime")


def test_replicates_without_a_hit_give_no_upper_limit(found: RareEstimate) -> None:
    none = with_replicates(found, 0.0, 0.0, 0.0)
    assert none.interval == (0.0, 1.0)
    assert not none.has_upper_limit
    assert "none of 3 replicates had a hit, and that bounds nothing" in str(none)
    some = with_replicates(found, 0.0, 1e-4, 2e-4)
    assert some.interval[1] == 1.0
    assert "no upper limit: 1 of 3 replicates had no hit" in str(some)


def test_the_log_interval_is_that_of_a_lognormal_mean() -> None:
    values = (1e-4, 2e-4, 4e-4, 1.5e-4, 3e-4)
    logs = np.log(values)
    lo, hi, _ = replicate_interval(values, 0.9)
    middle = logs.mean() + logs.var(ddof=1) / 2
    half = stats.t.ppf(0.95, 4) * math.sqrt(logs.var(ddof=1) / 5 + logs.var(ddof=1) ** 2 / (2 * 4))
    assert (math.log(lo), math.log(hi)) == pytest.approx((middle - half, middle + half))


def test_the_plain_interval_is_students() -> None:
    values = (0.2, 0.3, 0.25, 0.35)
    lo, hi, how = replicate_interval(values, 0.95, scale="plain")
    expected = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert (lo, hi) == pytest.approx(expected)
    assert how == "Student over replicates"


def test_the_log_interval_covers_the_mean_of_lognormal_replicates() -> None:
    generator = np.random.default_rng(5)
    mean = math.exp(0.5 * 0.7**2)
    covered = 0
    for _ in range(1000):
        lo, hi, _ = replicate_interval(generator.lognormal(0.0, 0.7, 10) / 100.0, 0.95)
        covered += lo <= mean / 100.0 <= hi
    assert covered >= 925


def test_two_replicates_are_too_few() -> None:
    with pytest.raises(EvidenceError, match="at least 3 replicates, found 2"):
        replicate_interval((0.1, 0.2), 0.95)


def planted(folder: Path, **fields: Any) -> list[str]:
    """What counting again says once the fields of the attempt's evidence are replaced."""
    records = list(read_log(folder))
    at = max(n for n, record in enumerate(records) if record.kind == "evidence")
    payload = {**records[at].payload, **fields}
    records[at] = dataclasses.replace(records[at], payload=payload)
    return [mismatch.detail for mismatch in rederive(folder, records)]


def test_a_gate_refuses_evidence_that_is_asymptotic(found: RareEstimate, tmp_path: Path) -> None:
    spec = climb_spec(1, 30, 0.1, 5)
    evidence = certify(spec, still(), out=tmp_path / "run", budget=2000)
    assert evidence[0].status == "satisfied"
    assert planted(tmp_path / "run") == []
    rare = found.evidence()
    told = planted(tmp_path / "run", status=rare.status, validity=rare.validity)
    assert any("validity comes out as 'anytime', logged 'asymptotic'" in text for text in told)
    assert any("promoted without satisfied evidence on climb.top" in text for text in told)


def test_replicates_that_all_say_the_same_give_no_limit() -> None:
    """No scatter is no evidence of precision: all of 12 particles fail at p = 0.9 too."""
    for value in (1.0, 0.125):
        for scale in ("log", "plain"):
            lo, hi, how = replicate_interval([value] * 4, 0.95, scale=scale)
            assert (lo, hi) == (0.0, 1.0)
            assert "do not differ" in how


def test_no_failure_is_not_told_as_a_probability_of_zero(found: RareEstimate) -> None:
    said = str(with_replicates(found, 0.0, 0.0, 0.0))
    assert "no failure was met, which estimates nothing" in said
    assert "about 0" not in said


def test_limits_are_shown_rounded_outward(found: RareEstimate) -> None:
    shown = dataclasses.replace(found, interval=(1.23456e-5, 6.54321e-4), bounded=None)
    assert "[0.00001234, 0.0006544]" in str(shown)
    bounded = str(WeightedMean(1.23456e-3, 6.54321e-3, 0.025, 5.0, 100))
    assert "[0.001234, 0.006544]" in bounded


def test_the_json_of_an_estimate_leaves_nothing_out(found: RareEstimate) -> None:
    whole = dataclasses.replace(found, bounded=WeightedMean(0.0, 0.5, 0.025, 5.0, 100))
    told = whole.to_json()
    assert told["bounded"]["hi"] == 0.5
    assert told["bounded"]["validity"] == "anytime"
    assert told["threshold"] == found.threshold
    assert told["versions"] == dict(found.versions)
