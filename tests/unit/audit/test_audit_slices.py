"""Slices: only what is about one policy or claim, each record with the proof of where it stood."""

import json
import zipfile

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from safegym.audit import layout, merkle
from safegym.audit.bundle import export_slice
from safegym.audit.log import AuditLog
from safegym.audit.proofs import ProofTree
from safegym.audit.read import read_log
from safegym.audit.record import leaf_bytes
from safegym.audit.sign import keys_for, public_key, public_pem, signer_of
from safegym.audit.verify import verify
from safegym.digest import digest_text
from safegym.errors import AuditError
from safegym.gate.registry.reading import read_registry

POLICIES = [digest_text(name) for name in ("first", "second")]
SCENARIO, DIGEST = digest_text("scenario"), digest_text("claim")
CLAIMS = ("tilt", "drift")


@pytest.fixture(scope="module")
def cut_signer():
    return signer_of(Ed25519PrivateKey.from_private_bytes(b"s" * 32))


@pytest.fixture(scope="module")
def run(tmp_path_factory, cut_signer):
    """A run that screens two policies on two claims, with a withdrawn first one and a waiver."""
    folder = tmp_path_factory.mktemp("slices") / "run"
    with AuditLog.create(folder, signer=cut_signer) as log:
        (folder / "traces").mkdir()
        claims = [{"id": c, "text": f"always({c} < 1)", "digest": DIGEST} for c in CLAIMS]
        log.append("spec_registered", {"claims": claims, "digest": DIGEST})
        log.append("scenario_registered", {"name": "drone/corridor-v0", "digest": SCENARIO})
        log.append("plan_registered", {"plan": {"version": 3}, "digest": SCENARIO})
        log.checkpoint()
        for number, policy in enumerate(POLICIES):
            _screen(log, number, policy)
            log.checkpoint()
        who = {"who": "ann", "why": "tested by hand", "expiry": "2030-01-01"}
        log.append("waiver", {"claim_id": "tilt", **who})
    return folder


def _screen(log, number, policy):
    log.append("policy_frozen", {"policy": policy, "epoch": number, "files": []})
    name = f"traces/screen-{number}.arrow"
    (log.folder / name).write_bytes(f"traces {number}\n".encode() * 9)
    trace = digest_text(f"trace {number}")
    subject = {"stream": "gate", "policy": policy, "scenario": SCENARIO}
    stored = {"shard": log.artifact(name), "traces": [trace], "first_index": 0}
    shard = log.append("trace_shard", {**subject, **stored})
    basis = []
    for claim in CLAIMS:
        about = {"claim_id": claim, "claim_digest": DIGEST, "policy": policy}
        rows = [{"trace": trace, "status": "satisfied"}]
        named = {**about, "stream": "gate", "verdicts": rows, "rests_on": [shard.reference()]}
        judged = log.append("verdict", named)
        counts = {"episodes": 1, "violations": 0, "undecided": 0, "attempt": 0}
        none = dict.fromkeys(("threshold", "bound", "confidence", "level"))
        words = {"kind": "observed", "status": "satisfied", "validity": "exact", "method": "m"}
        found = {**about, **counts, **none, **words, "rests_on": [judged.reference()]}
        basis.append(log.append("evidence", found).reference())
    decision = {"action": "hold", "epoch": number, "policy": policy, "reasons": ["held"]}
    log.append("gate_decision", {**decision, "rests_on": basis})


def kinds(place, records):
    with zipfile.ZipFile(place) as archive:
        listed = json.loads(archive.read(layout.SLICE))["records"]
    return [records[entry["index"]].kind for entry in listed]


def test_a_slice_of_a_policy_holds_its_records_and_nothing_about_another(run, tmp_path, cut_signer):
    place = export_slice(run, tmp_path / "p.zip", policy=POLICIES[1][:19])
    report = verify(place, keys=[public_key(cut_signer)])
    assert (report.result, report.words) == ("intact", "intact slice, nothing derived again")
    named = {record.payload.get("policy") for record in report.records} - {None}
    assert named == {POLICIES[1]}
    assert {"gate_decision", "waiver", "run_closed"} <= {record.kind for record in report.records}
    with zipfile.ZipFile(place) as archive:
        assert [n for n in archive.namelist() if n.startswith("traces")] == [
            "traces/screen-1.arrow"
        ]


def test_a_slice_of_a_claim_holds_no_decision_and_no_evidence_on_another(run, tmp_path, cut_signer):
    place = export_slice(run, tmp_path / "c.zip", claim="drift")
    report = verify(place, keys=[public_key(cut_signer)])
    assert report.result == "intact"
    evidence = [r for r in report.records if r.kind in ("evidence", "verdict")]
    assert {record.payload["claim_id"] for record in evidence} == {"drift"}
    assert {"gate_decision", "waiver"}.isdisjoint(record.kind for record in report.records)
    both = export_slice(run, tmp_path / "b.zip", claim="drift", policy=POLICIES[0])
    assert len(kinds(both, read_log(run))) < report.size


def test_a_slice_says_what_it_is_and_what_it_cannot_show(run, tmp_path, cut_signer):
    place = export_slice(run, tmp_path / "c.zip", claim="tilt")
    report = verify(place, keys=[public_key(cut_signer)])
    total = len(read_log(run))
    assert report.slice is not None
    assert (report.slice.about, report.slice.of) == ("claim tilt", total)
    assert report.to_json()["slice"] == {"about": "claim tilt", "of": total}
    told = " ".join(report.warnings)
    assert f"without {total - report.size} records" in told
    assert "a later withdrawal, waiver or attempt may have been left out" in told


def test_a_slice_holds_the_same_bytes_every_time(run, tmp_path):
    first = export_slice(run, tmp_path / "a.zip", claim="tilt")
    second = export_slice(run, tmp_path / "b.zip", claim="tilt")
    assert first.read_bytes() == second.read_bytes()


def test_a_pinned_checkpoint_of_the_run_is_checked_through_a_consistency_proof(
    run, tmp_path, cut_signer
):
    place = export_slice(run, tmp_path / "c.zip", claim="tilt")
    leaves = [leaf_bytes(record.digest) for record in read_log(run)]
    size, key = len(leaves), public_key(cut_signer)
    for pinned in (3, size):
        root = "sha256:" + merkle.root(leaves[:pinned]).hex()
        assert verify(place, keys=[key], pinned=(pinned, root)).result == "intact"
        wrong = verify(place, keys=[key], pinned=(pinned, "sha256:" + "0" * 64))
        assert wrong.result == "broken"
    root = "sha256:" + merkle.root(leaves[:5]).hex()
    unknown = verify(place, keys=[key], pinned=(5, root))
    assert "no proof about your checkpoint of 5" in unknown.missing[0]
    longer = verify(place, keys=[key], pinned=(size + 1, root))
    assert longer.result == "broken"


def test_the_run_and_policy_that_were_asked_about_are_compared(run, tmp_path, cut_signer):
    place = export_slice(run, tmp_path / "p.zip", policy=POLICIES[0])
    keys = [public_key(cut_signer)]
    assert verify(place, keys=keys, policy=POLICIES[0]).result == "intact"
    assert verify(place, keys=keys, policy=POLICIES[1]).result == "broken"
    assert verify(place, keys=keys, run="f" * 32).result == "broken"


def test_what_cannot_be_sliced_is_refused_with_what_could(run, tmp_path, cut_signer):
    out = tmp_path / "x.zip"
    with pytest.raises(AuditError, match="policy=DIGEST or claim=ID"):
        export_slice(run, out)
    with pytest.raises(AuditError, match=r"no record about claim roll.*drift, tilt"):
        export_slice(run, out, claim="roll")
    with pytest.raises(AuditError, match="too short"):
        export_slice(run, out, policy=POLICIES[0][:12])
    with pytest.raises(AuditError, match="0 policies of this log begin with it"):
        export_slice(run, out, policy="0" * 64)
    with pytest.raises(AuditError, match="Give the folder of a run"):
        export_slice(export_slice(run, out, claim="tilt"), tmp_path / "y.zip", claim="tilt")
    fresh = tmp_path / "fresh"
    log = AuditLog.create(fresh, signer=cut_signer)
    log.append("checkpoint", {"epoch": 1, "steps": 1})
    log.release()
    with pytest.raises(AuditError, match="no signed checkpoint yet"):
        export_slice(fresh, out, claim="tilt")


def test_a_slice_of_an_open_run_is_incomplete(run, tmp_path, cut_signer):
    folder = tmp_path / "open"
    log = AuditLog.create(folder, signer=cut_signer)
    (folder / "traces").mkdir()
    _screen(log, 0, POLICIES[0])
    log.checkpoint()
    log.append("checkpoint", {"epoch": 2, "steps": 9})
    log.release()
    place = export_slice(folder, tmp_path / "o.zip", claim="tilt")
    report = verify(place, keys=[public_key(cut_signer)])
    assert report.result == "incomplete"
    assert "not closed when the slice was cut" in report.missing[0]


def test_proofs_of_many_leaves_are_those_that_are_made_one_by_one():
    leaves = [merkle.leaf_hash(bytes([number])) for number in range(37)]
    tree = ProofTree(leaves)
    for size in range(1, 38):
        assert tree.root(size) == merkle.root(leaves[:size])
        for index in range(size):
            assert tree.inclusion(index, size) == merkle.inclusion_proof(leaves[:size], index)
            first = index + 1
            assert tree.consistency(first, size) == merkle.consistency_proof(leaves[:size], first)
    with pytest.raises(IndexError, match="Leaf 3 is outside a tree of 3 leaves"):
        tree.inclusion(3, 3)
    with pytest.raises(IndexError, match="No prefix of 0 leaves in a tree of 3 leaves"):
        tree.consistency(0, 3)


def test_an_unpacked_slice_is_verified_and_no_registry_is_read_from_a_slice(
    run, tmp_path, cut_signer
):
    key = public_key(cut_signer)
    place = export_slice(run, tmp_path / "p.zip", policy=POLICIES[0])
    with zipfile.ZipFile(place) as archive:
        archive.extractall(tmp_path / "unpacked")
    (tmp_path / "key.pem").write_bytes(public_pem(key))
    trusted = keys_for(tmp_path / "unpacked", [tmp_path / "key.pem"])
    assert verify(tmp_path / "unpacked", keys=trusted).words.startswith("intact slice")
    with pytest.raises(AuditError, match="Ask for the whole bundle"):
        read_registry(place, keys=[key])
