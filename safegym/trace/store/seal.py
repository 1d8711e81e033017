"""The seal beside a shard: the digests of the shard and of its index, as a small JSON file.

Nothing of either file is interpreted before its bytes were compared with the seal: a damaged
Parquet file can end the whole process inside its reader, where no error can be caught.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safegym.digest import PREFIX
from safegym.errors import TraceError
from safegym.trace.document import read_document
from safegym.trace.store.durable import DurableFile
from safegym.trace.store.limits import Limits

FORMAT = "safegym-seal-1"
_MAX_BYTES = 10_000


@dataclass(frozen=True, slots=True)
class Seal:
    """shard, index: digests of the two files. episodes: the number of rows in each."""

    shard: str
    index: str
    episodes: int


def seal_path(shard: Path) -> Path:
    """Where the seal of a shard stands: `a.arrow` -> `a.seal.json`."""
    return shard.with_name(f"{shard.stem}.seal.json")


def write_seal(shard: Path, seal: Seal) -> None:
    """Writes the seal beside its shard, whole or not at all. Raises TraceError."""
    document = {
        "format": FORMAT,
        "shard": seal.shard,
        "index": seal.index,
        "episodes": seal.episodes,
    }
    with DurableFile(seal_path(shard)) as target:
        try:
            target.file.write(json.dumps(document, indent=2).encode() + b"\n")
        except OSError as error:
            raise target.explain(error) from error
        target.commit()


def read_seal(shard: Path) -> Seal:
    """The seal of a shard. Raises TraceError if it is missing or malformed."""
    path = seal_path(shard)
    Limits(max_bytes=_MAX_BYTES).check_file(path)
    try:
        document = read_document(path.read_bytes(), "seal")
        return _seal(document)
    except OSError as error:
        raise TraceError(f"Cannot read {path}: {error.strerror or error}.") from error
    except TraceError as error:
        raise TraceError(f"The seal {path.name} cannot be trusted: {error}") from error


def _seal(document: Mapping[str, Any]) -> Seal:
    fields = [document.get(name) for name in ("format", "shard", "index", "episodes")]
    match fields:
        case [form, str(shard), str(index), int(episodes)] if form == FORMAT and len(document) == 4:
            return Seal(shard, index, episodes)
        case _:
            raise TraceError(f"It is not of format {FORMAT}.")


def file_digest(path: Path, limits: Limits) -> str:
    """SHA-256 of a file's bytes. Raises TraceError if it is missing or too large."""
    limits.check_file(path)
    try:
        with path.open("rb") as file:
            return PREFIX + hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TraceError(f"Cannot read {path}: {error.strerror or error}.") from error


def check_digest(path: Path, expected: str, limits: Limits) -> None:
    """Raises TraceError unless a file has the digest that is expected of it."""
    found = file_digest(path, limits)
    if found != expected:
        raise TraceError(
            f"{path.name} was changed or damaged: its digest is {found}, expected {expected}."
        )
