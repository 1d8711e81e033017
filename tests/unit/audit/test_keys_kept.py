"""Keys over time: rotation, revocation, the trust file, and private halves that stay private."""

import base64
import json
import os
import stat

import pytest
from peopled import closed_run, fresh_signer

from safegym.audit import own_keys, revoking, sign, succession, trusting, waivers
from safegym.audit.bundle import export
from safegym.audit.log import AuditLog
from safegym.audit.trust_file import read_trust, trust_path
from safegym.audit.verify import verify
from safegym.errors import AuditError


@pytest.fixture
def own(own_home):
    return sign.default_signer(notify=lambda note: None)


@pytest.fixture
def friend(tmp_path):
    fresh_signer(tmp_path / "friend.pem")
    return tmp_path / "friend.pub.pem"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_rotated_key_keeps_old_logs_verifiable_and_resumable(own, own_home, tmp_path):
    run = closed_run(tmp_path / "run", own)
    old, new = succession.rotate()
    assert sign.default_key() == new != old == sign.public_key(own)
    assert sign.trusted_keys([]) == (new, old)
    assert verify(run, keys=sign.trusted_keys([])).result == "intact"
    waivers.waive(run, "a", why="rig only", until="2099-01-01")  # signed by the former key
    with AuditLog.open(run, resume_from="end") as log:
        log.append("checkpoint", {"epoch": 9, "steps": 9})
    assert {r.actor for r in log.records()} == {old.keyid}
    assert verify(run, keys=[old]).result == "intact"
    with AuditLog.create(tmp_path / "next") as log:
        assert log.append("checkpoint", {"epoch": 1, "steps": 1}).actor == new.keyid


def test_private_files_are_their_owners_only(own, own_home, tmp_path):
    old, _ = succession.rotate()
    fresh_signer(tmp_path / "other.pem")
    former = own_home / "former" / f"{old.keyid[:16]}.pem"
    for path in (own_home / sign.PRIVATE_NAME, former, tmp_path / "other.pem"):
        assert mode(path) == 0o600
    assert mode(own_home / "former") == 0o700
    assert sorted(p.name for p in own_home.iterdir() if "draft" in p.name) == []


def test_a_rotation_that_fails_leaves_the_old_key(own, own_home, monkeypatch):
    def full(*words: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(succession, "_keep_former", full)
    with pytest.raises(AuditError, match=r"No space left on device. The old one stays"):
        succession.rotate()
    assert sign.default_key() == sign.public_key(own)
    assert not list(own_home.glob(".*.draft"))


def test_without_a_key_there_is_nothing_to_rotate(own_home):
    with pytest.raises(AuditError, match="safegym keys create"):
        succession.rotate()


def test_who_trusts_the_old_key_can_follow_to_the_newest_one(own, own_home, tmp_path, monkeypatch):
    first = tmp_path / "first.pub.pem"
    first.write_bytes(sign.public_pem(sign.public_key(own)))
    succession.rotate()
    _, newest = succession.rotate()
    lines, public = own_home / succession.SUCCESSION_NAME, own_home / sign.PUBLIC_NAME
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "reviewer"))
    with pytest.raises(AuditError, match="No key that you trust signed"):
        trusting.trust_successor(public, lines, name=None)
    trusting.trust_key(first, name="Owner")
    entry = trusting.trust_successor(public, lines, name=None)
    assert (entry.key, entry.name) == (newest, "Owner 2")
    assert entry.vouched_by not in ("", sign.public_key(own).keyid)
    assert newest in sign.trusted_keys([])


def test_a_forged_or_revoked_succession_leads_nowhere(own, own_home, tmp_path, monkeypatch):
    first = tmp_path / "first.pub.pem"
    first.write_bytes(sign.public_pem(sign.public_key(own)))
    succession.rotate()
    lines, public = own_home / succession.SUCCESSION_NAME, own_home / sign.PUBLIC_NAME
    thief = fresh_signer(tmp_path / "thief.pem")
    forged = json.loads(succession._line(thief, sign.public_key(thief)))
    forged["signatures"][0]["keyid"] = sign.public_key(own).keyid
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "reviewer"))
    trusting.trust_key(first, name="Owner")
    (tmp_path / "forged").write_text(
        json.dumps(forged, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8"
    )
    with pytest.raises(AuditError, match="does not match its signature"):
        trusting.trust_successor(tmp_path / "thief.pub.pem", tmp_path / "forged", name=None)
    revoking.revoke("Owner", why="laptop stolen")
    with pytest.raises(AuditError, match="No key that you trust signed"):
        trusting.trust_successor(public, lines, name=None)


def test_a_revoked_key_in_the_middle_vouches_for_none(own, own_home, tmp_path, monkeypatch):
    """A thief of the second key signs a third; the first, still trusted, leads to it."""
    first, second = tmp_path / "first.pub.pem", tmp_path / "second.pub.pem"
    first.write_bytes(sign.public_pem(sign.public_key(own)))
    succession.rotate()
    second.write_bytes((own_home / sign.PUBLIC_NAME).read_bytes())
    succession.rotate()
    lines, public = own_home / succession.SUCCESSION_NAME, own_home / sign.PUBLIC_NAME
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "reviewer"))
    trusting.trust_key(first, name="Owner")
    trusting.trust_key(second, name="Owner, second")
    revoking.revoke("Owner, second", why="laptop stolen")
    with pytest.raises(AuditError, match="No key that you trust signed"):
        trusting.trust_successor(public, lines, name=None)


def test_the_trust_file_counts_where_no_key_is_named_and_says_so(own_home, friend, tmp_path):
    run = closed_run(tmp_path / "run", sign.load_signer(tmp_path / "friend.pem"))
    with pytest.raises(AuditError, match=r"safegym keys trust KEY\.pub\.pem"):
        sign.trusted_keys([])
    trusting.trust_key(friend, name="Friend")
    keys = sign.trusted_keys([])
    assert keys.words == "Friend (your trust file)"
    assert verify(run, keys=keys).result == "intact"
    sign.default_signer(notify=lambda note: None)
    assert sign.trusted_keys([]).words == "your own default key, Friend (your trust file)"
    assert sign.trusted_keys([friend]).words == "1 named key"


def test_a_key_for_reviews_signs_no_log(own, friend, tmp_path):
    run = closed_run(tmp_path / "run", sign.load_signer(tmp_path / "friend.pem"))
    trusting.trust_key(friend, name="Friend", purpose="review")
    assert sign.trusted_keys([]).words == "your own default key"
    assert verify(run, keys=sign.trusted_keys([])).result == "broken"


def test_a_revoked_key_is_revoked_also_where_it_is_named(own_home, friend, tmp_path):
    run = closed_run(tmp_path / "run", sign.load_signer(tmp_path / "friend.pem"))
    revoking.revoke(str(friend), why="lost", on="2026-01-31")
    report = verify(run, keys=sign.trusted_keys([friend]))
    assert report.result == "broken"
    assert "was revoked on 2026-01-31T00:00:00Z (lost)" in report.steps[2].detail


def test_ones_own_revoked_key_signs_nothing_more_until_it_is_rotated(own, own_home, tmp_path):
    run = closed_run(tmp_path / "run", own)
    revoking.revoke("own", why="laptop stolen")
    with pytest.raises(AuditError, match=r"was revoked on .* signs nothing more"):
        AuditLog.create(tmp_path / "next")
    with pytest.raises(AuditError, match="safegym keys rotate"):
        AuditLog.open(run)
    succession.rotate()
    AuditLog.create(tmp_path / "next").release()
    with pytest.raises(AuditError, match="signs nothing more"):
        AuditLog.open(run)  # begun with the former key, which is the revoked one
    assert verify(run, keys=sign.trusted_keys([])).result == "broken"


def test_revocations_only_move_to_earlier_days_and_are_not_taken_back(own_home, friend):
    trusting.trust_key(friend, name="Friend")
    revoking.revoke("Friend", why="lost", on="2026-03-01")
    with pytest.raises(AuditError, match="only an earlier date can be set"):
        revoking.revoke("Friend", why="lost")
    revoking.revoke("Friend", why="lost long ago", on="2026-01-01T06:00:00Z")
    (entry,) = read_trust().keys
    assert entry.revocation is not None
    assert entry.revocation.on.isoformat() == "2026-01-01T06:00:00+00:00"
    with pytest.raises(AuditError, match="it is not trusted again"):
        trusting.trust_key(friend, name="Friend")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"name": "Nobody"}, "No key is called 'Nobody'; your trust file has: Friend"),
        ({"why": " "}, "Say why it is revoked"),
        ({"on": "soon"}, "'soon' is not a date"),
        ({"on": "2999-01-01"}, "is to come"),
    ],
)
def test_a_revocation_says_what_it_needs(own_home, friend, words, told):
    trusting.trust_key(friend, name="Friend")
    given = {"name": "Friend", "why": "lost", **words}
    with pytest.raises(AuditError, match=told):
        revoking.revoke(given.pop("name"), **given)


def test_the_trust_file_is_not_believed_when_others_may_write_it_or_it_is_none(own_home, friend):
    trusting.trust_key(friend, name="Friend")
    assert mode(trust_path()) == 0o600
    good = trust_path().read_text()
    if os.name == "posix":
        trust_path().chmod(0o622)
        with pytest.raises(AuditError, match="Others may write your trust file"):
            sign.trusted_keys([friend])
        trust_path().chmod(0o600)
    swapped = json.loads(good)
    swapped["keys"][0]["fingerprint"] = "0" * 64
    for text in ("", "[]", "{", json.dumps({**json.loads(good), "format": 9}), json.dumps(swapped)):
        trust_path().write_text(text)
        with pytest.raises(AuditError, match="is not a trust file"):
            sign.trusted_keys([friend])


def test_names_stand_for_one_key_and_own_keys_need_none(own, own_home, friend, tmp_path):
    trusting.trust_key(friend, name="Friend")
    fresh_signer(tmp_path / "other.pem")
    with pytest.raises(AuditError, match="Another key is called 'Friend'"):
        trusting.trust_key(tmp_path / "other.pub.pem", name="Friend")
    with pytest.raises(AuditError, match="Say whose it is"):
        trusting.trust_key(tmp_path / "other.pub.pem", name=None)
    with pytest.raises(AuditError, match="a key of your own"):
        trusting.trust_key(own_home / sign.PUBLIC_NAME, name="Me")
    with pytest.raises(AuditError, match="This is a private key"):
        trusting.trust_key(tmp_path / "other.pem", name="Other")


def test_no_private_key_is_in_any_byte_of_a_run_or_a_bundle(own, own_home, tmp_path):
    """The seed raw, in hex and in base64, and each line of the PEM, of the present and former."""
    run = closed_run(tmp_path / "run", own)
    waivers.waive(run, "a", why="rig only", until="2099-01-01")
    old, _ = succession.rotate()
    waivers.waive(run, "b", why="rig only", until="2099-01-01")
    export(run, tmp_path / "b.zip")
    bodies = [p.read_bytes() for p in run.rglob("*") if p.is_file()]
    bodies.append((tmp_path / "b.zip").read_bytes())
    secrets = list[bytes]()
    for path in (own_home / sign.PRIVATE_NAME, own_home / "former" / f"{old.keyid[:16]}.pem"):
        pem = path.read_bytes()
        der = base64.b64decode(b"".join(pem.splitlines()[1:-1]))
        seed = der[-32:]
        shifted = [base64.b64encode(b"\0" * n + seed)[4:36] for n in range(3)]
        secrets += [seed, seed.hex().encode(), pem.splitlines()[1], *shifted]
    assert sum(len(body) for body in bodies) > 20_000
    for body in (*bodies, *[base64.b64decode(_payloads(run))]):
        assert b"PRIVATE KEY" not in body
        for secret in secrets:
            assert secret not in body


def _payloads(run):
    """All payloads of the log one after another, so that what base64 hides is looked at too."""
    lines = (run / "log.jsonl").read_bytes().splitlines()
    return base64.b64encode(b"".join(base64.b64decode(json.loads(x)["payload"]) for x in lines))


def test_a_key_pair_is_not_made_over_another(tmp_path):
    assert own_keys.make_key(tmp_path / "k.pem")
    before = (tmp_path / "k.pem").read_bytes()
    assert not own_keys.make_key(tmp_path / "k.pem")
    assert (tmp_path / "k.pem").read_bytes() == before
