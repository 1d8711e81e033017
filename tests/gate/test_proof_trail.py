"""A proof's audit trail: kept, verified, and checked again down to the certificate."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from safegym_scenarios.models import find_model

import safegym as sg
from safegym.audit.log import AuditLog
from safegym.audit.read import read_log
from safegym.audit.sign import CryptoSigner, public_key
from safegym.audit.verify import verify
from safegym.check.neural.proof import prove
from safegym.errors import RunFolderError
from safegym.formula.claim import Claim
from safegym.gate.proof_log import CERTIFICATE, log_proof, proof_folder
from safegym.gate.rederive import rederive

SIGNER = CryptoSigner.generate_ed25519()
BRAKES = Claim(id="brakes", statement=sg.parse("obs[0] <= 20 implies action[0] <= -4"))
NEVER = Claim(id="never", statement=sg.parse("action[0] >= 100"))
REGION = {0: (10, 20), 1: (28, 32), 2: (16, 20)}


@pytest.fixture
def own_key(monkeypatch, tmp_path):
    """Logs signed by the module's key."""
    monkeypatch.setattr("safegym.audit.log.default_signer", lambda: SIGNER)


def kept(folder: Path, claim: Claim, *, certificate: bool = True) -> Path:
    place = proof_folder(folder)
    policy = find_model("cruise").policy()
    given = {"certificate": place / CERTIFICATE} if certificate else {}
    proof = prove(policy, claim, region=REGION, **given)
    return log_proof(place, proof, policy, claim)


def verified(run: Path):
    return verify(run, keys=[public_key(SIGNER)], rederive=rederive)


def said(run: Path) -> str:
    report = verified(run)
    return f"{report.result}: " + " ".join(d for step in report.steps for d in step.details)


def retold(run: Path, to: Path, change: Any) -> Path:
    """The same log written again by the same key, with each payload passed through `change`."""
    shutil.copytree(run, to)
    for name in ("log.jsonl", "checkpoints.txt"):
        (to / name).unlink()
    records = read_log(run)
    told: dict[str, dict[str, str]] = {}
    with AuditLog.create(to, signer=SIGNER) as log:
        for record in records[:-1]:
            payload = json.loads(json.dumps(record.payload))
            for named in payload.get("rests_on", ()):
                named.update(told[named["record"]])
            again = log.append(record.kind, change(record.kind, payload))
            told[record.payload_digest] = again.reference()
        log.close("proved")
    return to


@pytest.fixture
def proved(own_key, tmp_path) -> Path:
    return kept(tmp_path / "proved", BRAKES)


@pytest.fixture
def refuted(own_key, tmp_path) -> Path:
    return kept(tmp_path / "refuted", NEVER)


def test_a_proof_is_kept_with_its_certificate_and_comes_out_again(proved):
    kinds = [record.kind for record in read_log(proved)]
    assert kinds == ["spec_registered", "policy_frozen", "proof", "evidence", "run_closed"]
    evidence = read_log(proved)[3].payload
    assert (evidence["kind"], evidence["status"], evidence["bound"]) == (
        "proved",
        "satisfied",
        None,
    )
    assert verified(proved).result == "intact"


def test_a_counterexample_is_run_again_on_the_frozen_policy(refuted):
    assert read_log(refuted)[2].payload["result"] == "VIOLATED"
    assert verified(refuted).result == "intact"


def test_a_counterexample_that_the_policy_does_not_give_is_broken(refuted, tmp_path):
    def change(kind, payload):
        if kind == "proof":
            payload["witness"]["replays"]["predict"]["actions"][0][0] = 7.0
        return payload

    assert "not as logged" in said(retold(refuted, tmp_path / "again", change))


def test_a_refuted_claim_cannot_be_retold_as_proved(refuted, tmp_path):
    def change(kind, payload):
        if kind == "proof":
            payload["result"] = payload["standing"] = "PROVED"
        if kind == "evidence":
            payload["status"] = "satisfied"
        return payload

    told = said(retold(refuted, tmp_path / "again", change))
    assert told.startswith("incomplete")
    assert "no whole certificate" in told


def test_evidence_cannot_say_more_than_its_proof(refuted, tmp_path):
    def change(kind, payload):
        return {**payload, "status": "satisfied"} if kind == "evidence" else payload

    told = said(retold(refuted, tmp_path / "again", change))
    assert told.startswith("broken")
    assert "its proof says violated" in told


def test_a_certificate_of_another_property_is_broken(proved, tmp_path):
    other = Claim(id="brakes", statement=sg.parse("obs[0] <= 20 implies action[0] <= -400"))

    def change(kind, payload):
        if kind == "spec_registered":
            payload["claims"] = [
                {
                    "id": other.id,
                    "text": str(other.property),
                    "digest": other.digest,
                    "claim": other.to_json(),
                }
            ]
        if "claim_digest" in payload:
            payload["claim_digest"] = other.digest
        return payload

    told = said(retold(proved, tmp_path / "again", change))
    assert told.startswith("broken")
    assert "another property" in told


def test_a_proof_without_a_certificate_is_incomplete_not_intact(own_key, tmp_path):
    told = said(kept(tmp_path / "bare", BRAKES, certificate=False))
    assert told.startswith("incomplete")
    assert "no whole certificate" in told


def test_a_swapped_certificate_is_broken_even_when_its_digests_are_logged(proved, tmp_path):
    edited = tmp_path / "edited"
    shutil.copytree(proved, edited)
    tree = edited / CERTIFICATE / "tree.jsonl"
    tree.write_text(tree.read_text().replace("[", "[[", 1))

    def change(kind, payload):
        if kind == "proof":
            from safegym.audit.artifacts import reference_artifact

            for each in payload["certificates"]:
                each["files"] = [
                    reference_artifact(edited, edited / item["artifact"]) for item in each["files"]
                ]
        return payload

    assert said(retold(edited, tmp_path / "again", change)).startswith("broken")


def test_a_folder_that_holds_something_is_refused(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "x").write_text("")
    with pytest.raises(RunFolderError, match="new folder"):
        proof_folder(tmp_path / "run")
