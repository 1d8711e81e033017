"""`safegym audit verify` and `export` as a person uses them."""

import hashlib
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from typer.testing import CliRunner

from safegym.audit.log import AuditLog
from safegym.audit.sign import public_key, public_pem, signer_of
from safegym.cli.application import app
from safegym.digest import digest_text

POLICY, SCENARIO = digest_text("policy"), digest_text("scenario")
runner = CliRunner()


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A proof's log without claims to derive: closed, signed by a key that lies beside it."""
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))
    signer = signer_of(Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"cli").digest()))
    (tmp_path / "key.pem").write_bytes(public_pem(public_key(signer)))
    with AuditLog.create(tmp_path / "run", signer=signer) as log:
        log.append("scenario_registered", {"name": "drone/corridor-v0", "digest": SCENARIO})
        who = {"who": "ann", "why": "tested by hand", "expiry": "2030-01-01"}
        log.append("waiver", {"claim_id": "drone.tilt", **who})
    return tmp_path


def run(*words: object) -> tuple[int, str]:
    done = runner.invoke(app, ["audit", *map(str, words)])
    return done.exit_code, done.output


def test_a_fast_verification_says_what_it_left_out(place):
    code, told = run("verify", place / "run", "--key", place / "key.pem", "--fast")
    assert code == 0
    assert "intact, nothing derived again" in told
    assert "Verdicts were not re-derived from traces" in told
    code, told = run("verify", place / "run", "--key", place / "key.pem")
    assert (code, "nothing derived again" in told) == (0, False)


def test_a_whole_bundle_and_a_slice_are_exported_and_verified(place):
    code, told = run("export", place / "run", "--out", place / "a.zip", "--no-report")
    assert (code, "the whole log" in told) == (0, True)
    slice_ = place / "s.zip"
    code, told = run("export", place / "run", "--out", slice_, "--claim", "drone.tilt", "--json")
    assert (code, json.loads(told)["kind"]) == (0, "slice")
    code, told = run("verify", slice_, "--key", place / "key.pem")
    assert code == 0
    assert "intact slice" in told
    code, told = run("verify", slice_, "--key", place / "key.pem", "--json")
    assert json.loads(told)["slice"] == {"about": "claim drone.tilt", "of": 3}


def test_what_cannot_be_done_exits_with_two_and_says_what_would(place):
    code, _ = run("export", place / "run", "--out", place / "x.zip", "--claim", "t", "--sampled")
    assert code == 2
    with pytest.raises(Exception, match=r"no record about claim none.*drone\.tilt"):
        runner.invoke(
            app,
            ["audit", "export", str(place / "run"), "--out", "x.zip", "--claim", "none"],
            catch_exceptions=False,
            standalone_mode=False,
        )


def test_a_wrong_key_is_broken_and_no_key_is_an_error_that_says_how_to_give_one(place):
    other = signer_of(Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"x").digest()))
    (place / "other.pem").write_bytes(public_pem(public_key(other)))
    code, told = run("verify", place / "run", "--key", place / "other.pem")
    assert code == 1
    assert "which you do not trust" in told
    done = runner.invoke(app, ["audit", "verify", str(place / "run")])
    assert "--key KEY.pub.pem" in str(done.exception) + done.output
