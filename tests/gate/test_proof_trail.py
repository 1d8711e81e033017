"""A proof's audit trail: kept, verified, and checked again down to the certificate."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safegym_scenarios.models import find_model

import safegym as sg
from safegym.audit.log import AuditLog
from safegym.audit.read import read_log
from safegym.audit.sign import CryptoSigner, public_key
from safegym.audit.verify import verify
from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.importing import policy_graph
from safegym.check.neural.proof import monotone, never_saturates, prove, robust
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


def kept(folder: Path, claim: Any, *, certificate: bool = True, region: Any = REGION, **how: Any):
    place = proof_folder(folder)
    policy = find_model("cruise").policy()
    given = {"certificate": place / CERTIFICATE} if certificate else {}
    proof = prove(policy, claim, region=region, **given, **how)
    asked = claim if isinstance(claim, Claim) else None
    return log_proof(place, proof, policy, asked, fields=how.get("fields"))


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
            payload["method"] = payload["method"].replace("VIOLATED", "PROVED")
        if kind == "evidence":
            payload["status"] = "satisfied"
            payload["method"] = payload["method"].replace("VIOLATED", "PROVED")
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


ASKED = {
    "robust": (robust((15.0, 30.0, 18.0), 0.01, 1.0), None, {}),
    "monotone": (monotone(0, tolerance=0.5), {0: (15, 15.2), 1: (30, 30.1), 2: (18, 18.1)}, {}),
    "falling in cuts": (
        monotone("gap", tolerance=9.0, increasing=False),
        {"gap": (15, 15.2), 1: (30, 30.1), 2: (18, 18.1), "where": "gap + obs[1] <= 45.25"},
        {"fields": {"gap": "obs[0]"}},
    ),
    "a formula": ("obs[0] <= 20 implies action[0] <= -4", REGION, {}),
    "a union": (BRAKES, [{**REGION, 0: (10, 12)}, {**REGION, 0: (13, "40/3")}], {}),
    "in the reals": (BRAKES, REGION, {"semantics": "real"}),
    "limits": (never_saturates(), {0: (30, 30.1), 1: (30, 30.1), 2: (30, 30.1)}, {}),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_sound_proof_of_any_property_comes_out_again(own_key, tmp_path, name):
    claim, region, how = ASKED[name]
    run = kept(tmp_path / "run", claim, region=region, **how)
    assert read_log(run)[2].payload["standing"] == "PROVED"
    assert said(run).startswith("intact")


def test_a_true_certificate_under_the_words_of_another_property_is_broken(
    own_key, tmp_path, monkeypatch
):
    """The checker proves network, clauses and region; words it takes as they come."""
    place, policy = proof_folder(tmp_path / "run"), find_model("cruise").policy()
    trivial = Claim(id=NEVER.id, statement=sg.parse("action[0] <= 1000"))
    proving = sys.modules["safegym.check.neural.proof.prove"]
    with monkeypatch.context() as patch:
        patch.setattr(proving, "named_text", lambda _: str(NEVER.statement))
        proof = prove(policy, trivial, region=REGION, certificate=place / CERTIFICATE)
    told = replace(proof, text=str(NEVER.statement), claim_digest=NEVER.digest)
    told = said(log_proof(place, told, policy, NEVER))
    assert told.startswith("broken")
    assert "not those of policy and property" in told


def test_a_certificate_of_another_network_under_the_policy_s_digest_is_broken(own_key, tmp_path):
    place, policy = proof_folder(tmp_path / "run"), find_model("cruise").policy()
    graph = policy_graph(policy)
    tame = GraphBuilder(graph.graph.inputs)
    scaled = tame.linear([(tame.append(graph.graph, tame.input()), np.array([[1.5]]))])
    other = replace(graph, graph=tame.graph(scaled))
    proof = prove(other, BRAKES, region=REGION, certificate=place / CERTIFICATE)
    assert proof.standing == "PROVED"
    told = said(log_proof(place, proof, policy, BRAKES))
    assert told.startswith("broken")
    assert "not those of policy and property" in told


@pytest.mark.parametrize(
    ("where", "field", "lie"),
    [
        ("evidence", "claim_id", "another"),
        ("evidence", "bound", 1e-9),
        ("evidence", "confidence", 0.999),
        ("evidence", "episodes", 1_000_000),
        ("evidence", "attempt", 3),
        ("evidence", "assumptions", ["none"]),
        ("proof", "region", ["all that there is"]),
        ("proof", "semantics", "real"),
        ("proof", "equivalence", {"samples": 9, "disagreements": 0, "largest_difference": 0.0}),
        ("spec_registered", "digest", "sha256:" + "0" * 64),
    ],
)
def test_what_surrounds_a_proof_cannot_be_retold(proved, tmp_path, where, field, lie):
    def change(kind, payload):
        return {**payload, field: lie} if kind == where else payload

    assert said(retold(proved, tmp_path / "again", change)).startswith("broken")


def test_a_counterexample_from_outside_the_region_is_broken(refuted, tmp_path):
    elsewhere = {"low": ["0", "0", "0"], "high": ["1", "1", "1"], "cuts": []}

    def change(kind, payload):
        return {**payload, "regions": [elsewhere]} if kind == "proof" else payload

    told = said(retold(refuted, tmp_path / "again", change))
    assert told.startswith("broken")
    assert "outside the region" in told


def test_an_earlier_log_without_exact_regions_reads_as_before(proved, refuted, tmp_path):
    def change(kind, payload):
        return {name: value for name, value in payload.items() if name != "regions"}

    assert said(retold(proved, tmp_path / "p", change)).startswith("intact")
    assert said(retold(refuted, tmp_path / "r", change)).startswith("intact")


def test_a_proof_beside_the_claims_of_a_run_is_broken(proved, tmp_path):
    """One id would stand for two properties, and a proof of the one be shown for the other."""
    shutil.copytree(proved, tmp_path / "run")
    for name in ("log.jsonl", "checkpoints.txt"):
        (tmp_path / "run" / name).unlink()
    with AuditLog.create(tmp_path / "run", signer=SIGNER) as log:
        log.append("spec_registered", read_log(proved)[0].payload)
        log.append("spec_registered", read_log(proved)[0].payload)
        log.close("proved")
    assert "registered a second time" in said(tmp_path / "run")
