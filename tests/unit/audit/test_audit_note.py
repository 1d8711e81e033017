"""Checkpoints are C2SP signed notes that other implementations read."""

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from safegym.audit import merkle
from safegym.audit.note import (
    check_note,
    join_notes,
    key_hash,
    origin_of,
    parse_note,
    sign_checkpoint,
    split_notes,
)
from safegym.audit.sign import KeyRing, raw_bytes, trusted_key
from safegym.errors import AuditError

PUBLISHED_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PUBLISHED_TEXT = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
)
PUBLISHED_SIGNATURE = (
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
)


def test_key_hash_and_signature_are_those_of_the_go_note_package():
    name, short, encoded = PUBLISHED_KEY.split("+", 2)
    raw = base64.b64decode(encoded)
    key = trusted_key(Ed25519PublicKey.from_public_bytes(raw[1:]))
    assert key_hash(name, key).hex() == short
    signature = base64.b64decode(PUBLISHED_SIGNATURE)
    assert signature[:4].hex() == short
    ring = KeyRing([key])
    assert ring.verifies(key.keyid, signature[4:], PUBLISHED_TEXT.encode())
    assert not ring.verifies(key.keyid, signature[4:], PUBLISHED_TEXT.encode() + b"!")


def test_a_checkpoint_is_three_lines_a_blank_and_a_signature_line(signer, key):
    checkpoint = sign_checkpoint("r1", 3, merkle.EMPTY_ROOT, signer)
    lines = checkpoint.note().split("\n")
    assert lines[:2] == ["safegym.audit/r1", "3"]
    assert base64.b64decode(lines[2]) == merkle.EMPTY_ROOT
    assert lines[3] == ""
    dash, name, blob = lines[4].split(" ")
    assert (dash, name) == ("\u2014", origin_of("r1"))
    data = base64.b64decode(blob)
    assert data[:4] == key_hash(name, key)
    signed = Ed25519PublicKey.from_public_bytes(raw_bytes(key))
    signed.verify(data[4:], ("\n".join(lines[:3]) + "\n").encode())


def test_a_note_reads_back_and_names_its_signer(signer, key):
    checkpoint = sign_checkpoint("r1", 12, bytes(32), signer)
    again = parse_note(checkpoint.note(), what="It")
    assert again == checkpoint
    assert check_note(again, KeyRing([key]), what="It") == (key.keyid,)


def test_notes_split_at_blank_lines_and_a_torn_end_is_counted(signer):
    notes = [sign_checkpoint("r1", size, bytes(32), signer).note() for size in (1, 2, 3)]
    data = join_notes(notes)
    assert split_notes(data) == (notes, 0)
    assert split_notes(b"") == ([], 0)
    for cut in range(len(join_notes(notes[:2])), len(data)):
        found, torn = split_notes(data[:cut])
        assert (found, torn) == (notes[:2], cut - len(join_notes(notes[:2])))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n12\n", "\n012\n"),
        ("\n12\n", "\n-1\n"),
        ("safegym.audit/r1\n", "safegym.audit /r1\n"),
        ("AAA=\n\n", "AAB=\n\n"),
        ("AAA=\n\n", "AAA=\nmore\n\n"),
        ("\u2014 ", "- "),
        ("\n\n", "\n"),
    ],
)
def test_other_spellings_of_a_note_are_refused(signer, old, new):
    text = sign_checkpoint("r1", 12, bytes(32), signer).note()
    assert old in text
    with pytest.raises(AuditError, match="It "):
        parse_note(text.replace(old, new, 1), what="It")
