"""Keys: made once, private, and trusted only when handed over."""

import logging
import os
import stat

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.signer import CryptoSigner

from safegym.audit import sign
from safegym.errors import AuditError


def test_the_default_key_is_made_once_with_a_note_and_is_private(own_home):
    notes: list[str] = []
    first = sign.default_signer(notify=notes.append)
    second = sign.default_signer(notify=notes.append)
    assert sign.public_key(first).keyid == sign.public_key(second).keyid
    assert len(notes) == 1
    assert str(own_home / sign.PRIVATE_NAME) in notes[0]
    assert "Keep it private" in notes[0]
    assert stat.S_IMODE((own_home / sign.PRIVATE_NAME).stat().st_mode) == 0o600
    assert (own_home / sign.PRIVATE_NAME).read_bytes().startswith(b"-----BEGIN PRIVATE KEY-----")
    assert sign.read_key(own_home / sign.PUBLIC_NAME) == sign.public_key(first)
    assert sign.default_key() == sign.public_key(first)


def test_without_a_listener_the_note_goes_to_the_log(own_home, caplog):
    with caplog.at_level(logging.WARNING, logger="safegym.audit"):
        sign.default_signer()
    assert "Made a new signing key" in caplog.text


def test_no_key_is_made_by_looking_for_one(own_home):
    assert sign.default_key() is None
    assert not own_home.exists()
    with pytest.raises(AuditError, match="you have no key of your own"):
        sign.trusted_keys([])


def test_trusted_keys_are_the_given_ones_or_else_the_users_own(own_home, tmp_path, key):
    own = sign.public_key(sign.default_signer(notify=lambda note: None))
    assert sign.trusted_keys([]) == (own,)
    (tmp_path / "k.pem").write_bytes(sign.public_pem(key))
    assert sign.trusted_keys([tmp_path / "k.pem"]) == (key,)


def test_a_private_key_that_others_may_read_is_refused(own_home):
    sign.default_signer(notify=lambda note: None)
    path = own_home / sign.PRIVATE_NAME
    path.chmod(0o640)
    with pytest.raises(AuditError, match=r"Others may read the private key.*chmod 600"):
        sign.default_signer()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs a file in the way")
def test_a_home_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(AuditError, match="Set SAFEGYM_HOME to a folder that you may write"):
        sign.default_signer()


def test_other_kinds_of_key_are_refused_on_both_sides(tmp_path):
    pem = (
        rsa.generate_private_key(65537, 2048)
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    (tmp_path / "rsa.pem").write_bytes(pem)
    with pytest.raises(AuditError, match="Trusted keys are Ed25519 keys"):
        sign.read_key(tmp_path / "rsa.pem")
    with pytest.raises(AuditError, match="signed with Ed25519 keys"):
        sign.signer_of(ec.generate_private_key(ec.SECP256R1()))
    with pytest.raises(AuditError, match="this signer has ecdsa"):
        sign.public_key(CryptoSigner.generate_ecdsa())


def test_key_files_that_are_no_keys_are_refused_in_words(tmp_path):
    bad = tmp_path / "bad.pem"
    bad.write_bytes(b"nothing")
    bad.chmod(0o600)
    with pytest.raises(AuditError, match=r"bad.pem: This is not a public key in PEM form"):
        sign.read_key(bad)
    with pytest.raises(AuditError, match="not a private key in PEM form without a passphrase"):
        sign.load_signer(bad)
    with pytest.raises(AuditError, match="cannot be read: No such file"):
        sign.read_key(tmp_path / "none.pem")
    bad.write_bytes(b"x" * 100_000)
    with pytest.raises(AuditError, match="larger than any key file"):
        sign.read_key(bad)


def test_a_passphrase_is_refused_in_words(tmp_path):
    path = tmp_path / "locked.pem"
    path.write_bytes(
        Ed25519PrivateKey.generate().private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    path.chmod(0o600)
    with pytest.raises(AuditError, match="without a passphrase"):
        sign.load_signer(path)


def test_a_ring_needs_a_key_and_goes_by_fingerprint_not_by_claimed_id(signer, key):
    with pytest.raises(AuditError, match="No trusted key was given"):
        sign.KeyRing([])
    renamed = sign.PublicKey("0" * 64, key.keytype, key.scheme, dict(key.keyval))
    ring = sign.KeyRing([renamed])
    assert ring.find("0" * 64) is None
    signature = sign.sign_bytes(signer, b"x")
    assert ring.verifies(key.keyid, signature, b"x")
    assert not ring.verifies(key.keyid, signature[:-1], b"x")
    assert not ring.verifies("0" * 64, signature, b"x")
