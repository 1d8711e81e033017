"""What an audit trail of a proof answers: it is checked again, and it releases nothing."""

import json
from pathlib import Path

import pytest
from safegym_scenarios.models import find_model

import safegym as sg
from safegym.audit.bundle import export
from safegym.check.neural.proof import prove
from safegym.cli.application import run as safegym
from safegym.formula.claim import Claim
from safegym.gate.proof_log import log_proof, proof_folder

NEVER = Claim(id="never", statement=sg.parse("action[0] >= 100"))
REGION = {0: (10, 20), 1: (28, 32), 2: (16, 20)}


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A refuted property of a network, packed, under the user's own key."""
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))
    place, policy = proof_folder(tmp_path / "run"), find_model("cruise").policy()
    log_proof(place, prove(policy, NEVER, region=REGION), policy, NEVER)
    return export(place, tmp_path / "proof.zip")


def asked(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, dict]:
    capsys.readouterr()
    status = safegym(["audit", *map(str, words), "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_a_proof_and_the_evidence_on_it_are_derived_again_from_the_bundle(bundle, capsys):
    status, told = asked(capsys, "rederive", bundle, "--claim", "never")
    assert (status, told["kind"], told["same"]) == (0, "evidence", True)
    proof = told["leaf"] - 1
    status, told = asked(capsys, "rederive", bundle, "--leaf", proof)
    assert (status, told["kind"]) == (0, "proof")
    assert [row["again"] for row in told["rows"]] == ["VIOLATED"]


def test_a_proof_releases_nothing_and_has_no_worst_episode(bundle, capsys):
    status, told = asked(capsys, "released", bundle)
    assert (status, told["policy"]) == (3, None)
    assert told["evidence"][0]["found"]["kind"] == "proved"
    assert told["gaps"] == ["beyond the model and its assumptions nothing is proved: never"]
    assert safegym(["audit", "released", str(bundle)]) == 3
    assert "refuted for the model, by a counterexample" in " ".join(capsys.readouterr().out.split())
    status, told = asked(capsys, "worst", bundle)
    assert (status, "No stored episode" in told["error"]["message"]) == (2, True)
