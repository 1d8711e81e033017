"""A network policy's two files: a JSON description and the arrays (safetensors), no pickle."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.digest import canonical_json
from safegym.errors import PolicyError, RunFolderError
from safegym.policy.stored import DOCUMENT, WEIGHTS

FORMAT = "safegym-network-1"
MAX_DOCUMENT = 1 << 20
"""Largest description that is read: 1 MiB."""
MAX_WEIGHTS = 256 << 20
"""Largest file of arrays that is read: 256 MiB."""
MAX_CHOICES = 1 << 16
"""Most choices of a stored action space."""
MALFORMED = (
    KeyError,
    TypeError,
    ValueError,
    OverflowError,
    IndexError,
    AssertionError,
    RecursionError,
    safetensors.SafetensorError,
)
_FLOATS = ("float32", "float64")
Arrays = Mapping[str, NDArray[Any]]


def pack(document: Mapping[str, Any], arrays: Arrays) -> dict[str, bytes]:
    """The files' names and bytes."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return {DOCUMENT: canonical_json(document), WEIGHTS: safetensors.numpy.save(plain)}


def unpack(document: bytes, weights: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Description and arrays. Raises PolicyError where they are no network policy's."""
    try:
        described = json.loads(document)
        arrays = safetensors.numpy.load(weights)
    except MALFORMED as error:
        raise PolicyError(f"The files of the network policy are malformed: {error}.") from error
    if not isinstance(described, dict) or described.get("format") != FORMAT:
        raise PolicyError(f"The policy's {DOCUMENT} is not of the format {FORMAT}.")
    return described, arrays


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files, each whole or not at all. Raises RunFolderError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, body in files.items():
            partial = folder / f".{name}.{os.getpid()}.part"
            with partial.open("wb") as stream:
                stream.write(body)
                stream.flush()
                os.fsync(stream.fileno())
            partial.replace(folder / name)
    except OSError as error:
        raise RunFolderError(
            f"Writing {folder} failed: {error.strerror or error}. Free space or choose a writable "
            "folder."
        ) from error


def read(folder: Path) -> tuple[bytes, bytes]:
    """The bytes of both files, no more than the limits. Raises PolicyError."""
    if not folder.is_dir():
        raise PolicyError(
            f"{folder} is no folder of a network policy; NetworkPolicy.save makes one."
        )
    return _bounded(folder / DOCUMENT, MAX_DOCUMENT), _bounded(folder / WEIGHTS, MAX_WEIGHTS)


def is_network(folder: Path) -> bool:
    """Whether the folder's description is a network policy's."""
    path = folder / DOCUMENT
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_DOCUMENT:
        return False
    try:
        described = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(described, dict) and described.get("format") == FORMAT


def check_space(space: Any, what: str, kinds: tuple[type[Any], ...]) -> None:
    """Raises PolicyError for a space that a network policy does not take."""
    if not isinstance(space, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise PolicyError(f"A network policy's {what} space must be a {names}, found {space}.")
    if isinstance(space, spaces.Box) and str(space.dtype) not in _FLOATS:
        raise PolicyError(
            f"A network policy's {what} space has dtype {space.dtype}; float32 or float64 is "
            "needed."
        )
    if isinstance(space, spaces.Discrete) and int(space.start) != 0:
        raise PolicyError(f"A network policy chooses from 0, the space starts at {space.start}.")


def space_parts(space: Any, what: str, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """A space's description; a Box's limits are put among the arrays."""
    if isinstance(space, spaces.Discrete):
        return {"kind": "Discrete", "n": int(space.n)}
    arrays[f"{what}.low"], arrays[f"{what}.high"] = space.low, space.high
    return {"kind": "Box"}


def read_space(described: Any, what: str, arrays: Arrays) -> Any:
    """The space of a description. Raises one of `MALFORMED` for anything else."""
    if described["kind"] == "Discrete":
        count = int(described["n"])
        if not 0 < count <= MAX_CHOICES:
            raise PolicyError(f"A stored action has {count} choices; 1 to {MAX_CHOICES} are read.")
        return spaces.Discrete(count)
    if described["kind"] != "Box":
        raise PolicyError(f"A stored {what} space is of the kind {described['kind']!r}.")
    low, high = arrays[f"{what}.low"], arrays[f"{what}.high"]
    floats = low.dtype == high.dtype and str(low.dtype) in _FLOATS
    if not floats or np.isnan(low).any() or np.isnan(high).any():
        raise PolicyError(f"The limits of a stored {what} space are malformed.")
    return spaces.Box(low=low, high=high, shape=low.shape, dtype=low.dtype.type)


def _bounded(path: Path, limit: int) -> bytes:
    if path.is_symlink() or not path.is_file():
        raise PolicyError(f"{path} is missing, or is not a plain file.")
    if path.stat().st_size > limit:
        raise PolicyError(f"{path} is larger than the {limit} bytes that are read.")
    return path.read_bytes()
