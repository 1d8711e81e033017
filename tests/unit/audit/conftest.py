"""A signer of its own for each test session: no test touches the user's keys."""

import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from safegym.audit.sign import public_key, signer_of


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="session")
def signer():
    private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"unit").digest())
    return signer_of(private)


@pytest.fixture(scope="session")
def key(signer):
    return public_key(signer)
