"""The digest of a frozen network policy, also from its files alone: no network is built for it."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from safegym.digest import digest_bytes, digest_json
from safegym.errors import PolicyError

DOCUMENT = "policy.json"
WEIGHTS = "policy.safetensors"


def digest_arrays(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Digest over names, dtypes, shapes and little-endian bytes, in order of name."""
    chunks: list[bytes] = []
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        chunks.append(f"{name}|{array.dtype.str}|{array.shape}|{array.nbytes}\n".encode())
        chunks.append(array.tobytes())
    return digest_bytes(*chunks)


def policy_digest(document: Mapping[str, Any], weights: str, width: int) -> str:
    """Digest over architecture, normaliser, weights, mode and width; not over the name."""
    kept = {name: value for name, value in document.items() if name != "name"}
    return digest_json({**kept, "weights": weights, "mode": "deterministic", "width": width})


def stored_digest(document: bytes, weights: bytes, width: int) -> str:
    """The digest that a saved policy's files give. Raises PolicyError if they are malformed."""
    try:
        described = json.loads(document)
        arrays = safetensors.numpy.load(weights)
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise PolicyError(f"The files of the policy are malformed: {error}.") from error
    if not isinstance(described, dict):
        raise PolicyError(f"The policy's {DOCUMENT} holds no JSON object.")
    return policy_digest(described, digest_arrays(arrays), width)
