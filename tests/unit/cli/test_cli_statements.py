"""`safegym check` and `safegym claims` on statements about many episodes."""

import json
from pathlib import Path

import pytest

from safegym.cli.application import run
from safegym.trace.model import Trace

GIVEN = "prob(always(x > 0.2) given eventually(y > 1)) >= 0.9"
MARGIN = "quantile(always(x > 0.2), 0.05) > 0.5"
MEAN = "mean(fraction(x > 0.45)) >= 0.5"


@pytest.fixture
def skipped(tmp_path: Path) -> Path:
    return write(tmp_path, [1.0, 0.5, 0.3, 0.4], [0.0, 0.0, 0.0, 0.0])


def write(folder: Path, x: list[float], y: list[float]) -> Path:
    path = folder / "trace.json"
    trace = Trace.from_arrays({"x": x, "y": y}, dt="0.1", end="absorbed")
    path.write_text(trace.to_text(), encoding="utf-8")
    return path


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_a_skipped_episode_is_told_and_shows_nothing(
    skipped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", str(skipped), "-f", GIVEN]) == 3
    assert "formula.1: Vacuous: the condition never held; this episode is skipped" in said(capsys)


def test_an_episode_that_counts_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = write(tmp_path, [1.0, 0.5], [0.0, 2.0])
    assert run(["check", str(kept), "-f", GIVEN]) == 0
    assert "Vacuous" not in said(capsys)
    failed = write(tmp_path, [1.0, 0.1], [0.0, 2.0])
    assert run(["check", str(failed), "-f", GIVEN, "--explain"]) == 1
    words = said(capsys)
    assert "The condition `eventually(y > 1)` held, so this episode counts." in words


def test_statements_of_every_kind_are_judged_in_one_call(
    skipped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", str(skipped), "-f", GIVEN, "-f", MARGIN, "-f", MEAN, "--json"]) == 1
    (document,) = json.loads(capsys.readouterr().out)
    given, margin = document["verdicts"]
    assert (given["status"], given["condition"]) == ("satisfied", "violated")
    assert (margin["status"], margin["hi"]) == ("violated", pytest.approx(-0.4))
    assert "condition" not in margin
    assert document["measured"] == [{"claim": "formula.3", "lo": 0.5, "hi": 0.5}]


def test_a_mean_alone_is_measured_and_decides_nothing(
    skipped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", str(skipped), "-f", MEAN]) == 3
    assert "formula.1: this episode's share is 0.5; the claim is about the mean" in said(capsys)


def test_a_malformed_statement_is_bad_input(
    skipped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", str(skipped), "-f", "quantile(x > 1, 0.5) < 3"]) == 2
    assert "write `quantile(f, 0.5) > 3.0`" in " ".join(capsys.readouterr().err.split())


def test_claim_sets_are_listed_with_what_they_are_about(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["claims"]) == 0
    found = said(capsys)
    assert "a probability, given" in found
    assert "a quantile of" in found
    assert run(["claims", "--json"]) == 0
    sets = json.loads(capsys.readouterr().out)
    assert any("given" in claim["statement"] for claim in sets["faults"])
