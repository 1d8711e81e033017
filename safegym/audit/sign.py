"""Keys and signatures: one key, the user's own ones, and those that a verifier trusts."""

from safegym.audit.key import (
    LARGEST_KEY_FILE,
    PRIVATE_NAME,
    PUBLIC_NAME,
    SIGNATURE_BYTES,
    CryptoSigner,
    PublicKey,
    Signer,
    load_signer,
    parse_key,
    public_key,
    public_pem,
    raw_bytes,
    read_key,
    sign_bytes,
    signer_of,
    trusted_key,
)
from safegym.audit.own_keys import default_key, default_signer, own_keys, signer_for
from safegym.audit.ring import KeyRing, TrustedKeys
from safegym.audit.trust import keys_for, trusted_keys

__all__ = [
    "LARGEST_KEY_FILE",
    "PRIVATE_NAME",
    "PUBLIC_NAME",
    "SIGNATURE_BYTES",
    "CryptoSigner",
    "KeyRing",
    "PublicKey",
    "Signer",
    "TrustedKeys",
    "default_key",
    "default_signer",
    "keys_for",
    "load_signer",
    "own_keys",
    "parse_key",
    "public_key",
    "public_pem",
    "raw_bytes",
    "read_key",
    "sign_bytes",
    "signer_for",
    "signer_of",
    "trusted_key",
    "trusted_keys",
]
