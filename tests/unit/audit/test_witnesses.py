"""Second keys: cosignatures on checkpoints, and reviews by people who cannot write the log."""

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from peopled import closed_run, fresh_signer

from safegym.audit import cosign, layout, reviewing
from safegym.audit.afterwards import reopened
from safegym.audit.bundle import export
from safegym.audit.envelope import seal
from safegym.audit.log import AuditLog
from safegym.audit.note import check_note, key_hash, parse_note
from safegym.audit.read import read_checkpoint_file, read_log
from safegym.audit.reviews import SIGNED, read_review
from safegym.audit.ring import witness_key
from safegym.audit.sign import KeyRing, public_key, raw_bytes
from safegym.audit.values import canonical
from safegym.audit.verify import verify
from safegym.errors import AuditError

NAME = "example.org/ann"


@pytest.fixture
def run(tmp_path, signer):
    return closed_run(tmp_path / "run", signer)


@pytest.fixture
def second(tmp_path):
    return fresh_signer(tmp_path / "second.pem")


@pytest.fixture
def bundle(run, tmp_path):
    return export(run, tmp_path / "b.zip")


def step3(place, *keys):
    report = verify(place, keys=keys)
    return report, report.steps[2]


def test_a_cosigned_note_has_two_lines_that_cryptography_verifies(run, signer, second, key):
    note = cosign.take_note(
        run, cosign.cosign(run, name=NAME, signer=second, keys=[key]).checkpoint
    )
    text, _, lines = note.note().partition("\n\n")
    assert read_checkpoint_file(run)[-1] == note
    assert len(lines.splitlines()) == 2
    for line, by in zip(lines.splitlines(), (key, public_key(second)), strict=True):
        _, name, blob = line.split(" ")
        data = base64.b64decode(blob)
        assert data[:4] == key_hash(name, by)
        Ed25519PublicKey.from_public_bytes(raw_bytes(by)).verify(data[4:], f"{text}\n".encode())


def test_a_trusted_cosignature_is_told_and_another_is_not_counted(run, second, key):
    cosign.take_note(run, cosign.cosign(run, name=NAME, signer=second, keys=[key]).checkpoint)
    report, step = step3(run, key, witness_key(public_key(second)))
    assert report.result == "intact"
    assert f"14 records cosigned by {public_key(second).keyid[:16]}..." in step.details
    report, step = step3(run, key)
    assert report.result == "intact"
    assert any("not counted: 1" in words for words in report.warnings)


def test_a_witness_signs_no_log(run, key, second, tmp_path):
    other = closed_run(tmp_path / "other", second)
    report, step = step3(other, key, witness_key(public_key(second)))
    assert report.result == "broken"
    assert "which you do not trust" in step.detail


def test_a_witness_alone_makes_no_checkpoint_of_the_run(run, second, key):
    note = cosign.cosign(run, name=NAME, signer=second, keys=[key]).checkpoint
    path = run / layout.CHECKPOINTS
    lines = note.note().splitlines(keepends=True)
    bare = "".join([*lines[:4], lines[5]])
    kept = [c.note() for c in read_checkpoint_file(run)[:-1]]
    path.write_text("\n".join([*kept, bare]), encoding="utf-8")
    report, step = step3(run, key, witness_key(public_key(second)))
    assert report.result == "broken"
    assert "not signed by the key that signs the records" in step.detail


def test_duplicate_signatures_by_one_key_are_broken_and_never_count_twice(run, second, key):
    note = cosign.cosign(run, name=NAME, signer=second, keys=[key]).checkpoint
    line = note.note().splitlines(keepends=True)[-1]
    doubled = parse_note(note.note() + line, what="It")
    for ring in (KeyRing([key]), KeyRing([key, public_key(second)])):
        with pytest.raises(AuditError, match="signed twice by one key"):
            check_note(doubled, ring, what="It")
    with pytest.raises(AuditError, match="has signed the checkpoint of 14 records before"):
        cosign.cosigned(note, NAME, second)


def test_one_key_under_two_names_counts_once(run, second, key):
    note = cosign.cosign(run, name=NAME, signer=second, keys=[key]).checkpoint
    again = cosign.cosign(run, name="example.org/bob", signer=second, keys=[key]).checkpoint
    both = parse_note(note.note() + again.note().splitlines(keepends=True)[-1], what="It")
    with pytest.raises(AuditError, match="signed twice by one key"):
        check_note(both, KeyRing([key, witness_key(public_key(second))]), what="It")


def test_a_cosigner_who_has_only_the_bundle_sends_a_note_that_the_owner_takes_in(
    run, bundle, second, key, signer, tmp_path
):
    note = cosign.cosign(bundle, name=NAME, signer=second, keys=[key]).checkpoint
    (tmp_path / "note.txt").write_text(note.note(), encoding="utf-8")
    cosign.take_note(run, cosign.read_note(tmp_path / "note.txt"))
    assert len(read_checkpoint_file(run)[-1].signatures) == 2
    with pytest.raises(AuditError, match="carries these signatures already"):
        cosign.take_note(run, note)
    with AuditLog.open(run, signer=signer, resume_from="end") as log:
        assert log.size == 15


def test_a_note_of_another_log_is_not_taken_in(run, second, key, tmp_path, signer):
    with AuditLog.create(tmp_path / "other", signer=signer) as log:
        log.append("checkpoint", {"epoch": 1, "steps": 1})
    note = cosign.cosign(tmp_path / "other", name=NAME, signer=second, keys=[key]).checkpoint
    with pytest.raises(AuditError, match="this run has no such checkpoint"):
        cosign.take_note(run, note)


def test_the_runs_own_key_and_odd_names_do_not_cosign(run, signer, second, key):
    with pytest.raises(AuditError, match="the key that signs the run"):
        cosign.cosign(run, name=NAME, signer=signer, keys=[key])
    for name in ("two words", "a+b", "", read_checkpoint_file(run)[0].origin):
        with pytest.raises(AuditError, match="cannot stand on a signature line"):
            cosign.cosign(run, name=name, signer=second, keys=[key])


def test_nobody_signs_a_broken_log(run, second, key):
    data = (run / layout.LOG).read_bytes()
    (run / layout.LOG).write_bytes(data.replace(b'"sig":"', b'"sig":"A', 1))
    with pytest.raises(AuditError, match=r"is broken at step .* Nothing was signed"):
        cosign.cosign(run, name=NAME, signer=second, keys=[key])
    with pytest.raises(AuditError, match="Nothing was signed"):
        reviewing.review(run, who="Ann", signer=second, keys=[key])


def reviewed(place, second, key):
    return reviewing.review(
        place, who="Ann", signer=second, keys=[key], statement="Claims and plan read."
    ).review


def test_a_review_of_a_bundle_is_taken_into_the_log_and_counts_for_who_trusts_its_key(
    run, bundle, second, key, signer, tmp_path
):
    review = reviewed(bundle, second, key)
    (tmp_path / "r.json").write_bytes(review.envelope.line() + b"\n")
    sent = reviewing.read_review_file(tmp_path / "r.json")
    assert (sent.who, sent.size, sent.found, sent.derived) == ("Ann", 14, "intact", False)
    record = reviewing.take_review(run, sent, signer=signer)
    assert record.kind == "review_signature"
    report, step = step3(run, key, witness_key(public_key(second)))
    assert report.result == "intact"
    assert any("14 records reviewed by Ann" in line for line in step.details)
    report, _ = step3(run, key)
    assert any("which you do not trust, so it does not count" in w for w in report.warnings)
    with pytest.raises(AuditError, match="stands in the log already"):
        reviewing.take_review(run, sent, signer=signer)


def test_a_review_is_an_in_toto_statement_about_the_checkpoints_root(run, second, key):
    review = reviewed(run, second, key)
    statement = json.loads(review.envelope.payload)
    root = read_checkpoint_file(run)[-1].root.hex()
    assert statement["subject"] == [{"name": "checkpoint", "digest": {"sha256": root}}]
    assert statement["predicateType"] == "urn:safegym:review:1"
    Ed25519PublicKey.from_public_bytes(raw_bytes(public_key(second))).verify(
        review.envelope.signature, review.envelope.signed_bytes()
    )


def test_the_owner_cannot_put_words_into_a_reviewers_mouth(run, second, key, signer, tmp_path):
    payload = reviewed(run, second, key).payload()
    changes = (
        {"statement": "Released with joy."},
        {"who": "Bob"},
        {"covers": {**payload["covers"], "size": 3}},
        {SIGNED: payload[SIGNED].replace('"sig":"', '"sig":"AAAA', 1)},
    )
    for number, change in enumerate(({}, *changes)):
        forged = closed_run(tmp_path / f"run-{number}", signer)
        with reopened(forged, signer=signer, reason="a review") as log:
            log.append("review_signature", {**payload, **change})
        assert step3(forged, key)[0].result == ("broken" if change else "intact")


def test_a_review_of_another_tree_is_broken(run, signer, key):
    with reopened(run, signer=signer, reason="by hand") as log:
        covers = {"size": 3, "root": "sha256:" + "0" * 64}
        log.append("review_signature", {"who": "Ann", "statement": "x", "covers": covers})
    report = verify(run, keys=[key])
    assert report.broken.name == "tree"
    assert "a review of another tree of 3 records" in report.broken.detail


def test_a_review_without_a_signature_is_said_to_be_the_owners_word(run, signer, key):
    covers = read_checkpoint_file(run)[-1]
    with reopened(run, signer=signer, reason="by hand") as log:
        root = f"sha256:{covers.root.hex()}"
        said = {"who": "Ann", "statement": "x", "covers": {"size": covers.size, "root": root}}
        log.append("review_signature", said)
    report = verify(run, keys=[key])
    assert report.result == "intact"
    assert any("only the run's own key signs that" in words for words in report.warnings)


def test_reviews_are_refused_where_they_do_not_fit(run, second, key, tmp_path, signer):
    with AuditLog.create(tmp_path / "other", signer=signer) as log:
        log.append("checkpoint", {"epoch": 1, "steps": 1})
    with pytest.raises(AuditError, match="not taken in: it is about the run"):
        reviewing.take_review(run, reviewed(tmp_path / "other", second, key), signer=signer)
    with pytest.raises(AuditError, match="Say who reviews"):
        reviewing.review(run, who=" ", signer=second, keys=[key])
    with pytest.raises(AuditError, match="is not a review"):
        read_review(seal(canonical({"a": 1}), second).line(), what="It")
    assert [r.kind for r in read_log(run)][-1] == "run_closed"
