"""Content digests: SHA-256 over canonical bytes, written `sha256:<hex>`."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import rfc8785

from safegym.errors import SafegymError

PREFIX = "sha256:"


def digest_bytes(*chunks: bytes | memoryview) -> str:
    """Digest of the concatenated chunks."""
    hasher = hashlib.sha256()
    for chunk in chunks:
        hasher.update(chunk)
    return PREFIX + hasher.hexdigest()


def digest_text(text: str) -> str:
    """Digest of the text's UTF-8 bytes."""
    return digest_bytes(text.encode("utf-8"))


def canonical_json(value: Any) -> bytes:
    """RFC 8785 bytes of a JSON value. Raises SafegymError if it has no canonical form."""
    try:
        return bytes(rfc8785.dumps(value))
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        raise SafegymError(f"This value has no canonical JSON form: {error}") from error


def digest_json(value: Mapping[str, Any] | Iterable[Any]) -> str:
    """Digest of a JSON value in RFC 8785 form."""
    return digest_bytes(canonical_json(value))
