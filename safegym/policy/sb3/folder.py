"""A folder of files with a manifest of digests, written whole or not at all.

Layout: the files, and MANIFEST.json = {"format", "files": {name: {"digest", "bytes"}}}. An entry
that holds "passing": true is of a file that may be deleted later; the manifest's digest stays.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from safegym.digest import canonical_json, digest_bytes
from safegym.errors import PolicyError, RunFolderError
from safegym.policy.sb3.exchange import exchange, take_back

MANIFEST = "MANIFEST.json"
FORMAT = "safegym-checkpoint-1"
MAX_FILE_BYTES = 2 << 30
"""Largest file that is read back: 2 GiB."""


def write_folder(path: Path, files: Mapping[str, bytes], passing: Collection[str] = ()) -> str:
    """Write `files` as the folder `path`, replacing it; returns the manifest's digest.

    passing: names of those that `drop_passing` may delete later.
    All bytes are on disk before the folder gets its name, so a crash leaves the old folder or the
    new one; where the system cannot exchange two names at once, a crash between the two renames
    leaves the old one aside, and the next read or write takes it back.
    Raises RunFolderError when the disk is full or the place is not writable.
    """
    manifest = canonical_json(
        {
            "format": FORMAT,
            "files": {
                name: {
                    "digest": digest_bytes(body),
                    "bytes": len(body),
                    **({"passing": True} if name in passing else {}),
                }
                for name, body in sorted(files.items())
            },
        }
    )
    partial = path.parent / f".{path.name}.{os.getpid()}.part"
    retired = path.parent / f".{path.name}.{os.getpid()}.old"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        for name, body in {**files, MANIFEST: manifest}.items():
            _write_durably(partial / name, body)
        sync_folder(partial)
        take_back(path)
        if not path.exists():
            partial.rename(path)
        elif not exchange(partial, path):
            path.rename(retired)
            partial.rename(path)
        sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            if retired.exists() and not path.exists():
                retired.rename(path)
        raise RunFolderError(
            f"Writing {path} failed: {error.strerror or error}. Nothing that was there before is "
            "lost; free space or choose a writable folder, then resume."
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        if path.exists():
            shutil.rmtree(retired, ignore_errors=True)
    return digest_bytes(manifest)


def read_folder(path: Path, names: Iterable[str] | None = None) -> dict[str, bytes]:
    """The named files (all that are there by default), each checked against the manifest.

    Raises PolicyError when the folder, a file or a digest is wrong.
    """
    entries = read_manifest(path)
    gone = {name for name in _passing(entries) if not (path / name).exists()}
    wanted = sorted(set(entries) - gone) if names is None else list(names)
    return {name: _read_checked(path, name, entries.get(name)) for name in wanted}


def drop_passing(path: Path) -> None:
    """Delete the files of a folder that may be deleted; nothing happens where there are none.

    Raises PolicyError when it is not such a folder.
    """
    for name in _passing(read_manifest(path)):
        (path / name).unlink(missing_ok=True)


def _passing(entries: Mapping[str, Any]) -> list[str]:
    """Names of the plain files that the manifest lets go."""
    return [
        name
        for name, entry in entries.items()
        if isinstance(entry, dict) and entry.get("passing") is True and _plain_name(name)
    ]


def read_manifest(path: Path) -> dict[str, Any]:
    """Entries of the manifest: name -> {"digest", "bytes"}. Raises PolicyError if it is not one."""
    take_back(path)
    if not path.is_dir():
        raise PolicyError(f"{path} is not a checkpoint folder.")
    body = _read_bounded(path / MANIFEST, limit=1 << 20)
    try:
        document = json.loads(body)
        entries = document["files"]
        found = document["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise PolicyError(f"{path / MANIFEST} is not a manifest: {error!r}.") from error
    if found != FORMAT or not isinstance(entries, dict):
        raise PolicyError(
            f"{path / MANIFEST} is of the format {found!r}; this version of safegym reads {FORMAT}."
            " Read it with the version that wrote it, or train anew."
        )
    return dict(entries)


def folder_digest(path: Path) -> str:
    """Digest of the manifest, which names the digest of every file."""
    return digest_bytes(_read_bounded(path / MANIFEST, limit=1 << 20))


def replace_file(path: Path, body: bytes) -> None:
    """Put `body` at `path` durably and at once. Raises RunFolderError when it cannot be written."""
    partial = path.parent / f".{path.name}.{os.getpid()}.part"
    try:
        _write_durably(partial, body)
        partial.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise RunFolderError(f"Writing {path} failed: {error.strerror or error}.") from error


def sync_folder(path: Path) -> None:
    """Flush a folder's entries to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_durably(path: Path, body: bytes) -> None:
    with path.open("wb") as stream:
        stream.write(body)
        stream.flush()
        os.fsync(stream.fileno())


def _read_bounded(path: Path, *, limit: int) -> bytes:
    if path.is_symlink() or not path.is_file():
        raise PolicyError(f"{path} is missing from the checkpoint, or is not a plain file.")
    if path.stat().st_size > limit:
        raise PolicyError(f"{path} is larger than the {limit} bytes that are read.")
    return path.read_bytes()


def _read_checked(path: Path, name: str, entry: Any) -> bytes:
    if entry is None or not _plain_name(name):
        raise PolicyError(f"The checkpoint {path} has no file {name!r} in its manifest.")
    body = _read_bounded(path / name, limit=MAX_FILE_BYTES)
    if not isinstance(entry, dict) or digest_bytes(body) != entry.get("digest"):
        raise PolicyError(
            f"{path / name} does not match the digest in its manifest: the checkpoint is corrupt "
            "or was changed. Use an earlier checkpoint of the run."
        )
    return body


def _plain_name(name: str) -> bool:
    """Whether it names a file of the folder itself."""
    return "/" not in name and "\\" not in name and not name.startswith(".")
