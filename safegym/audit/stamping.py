"""Getting time stamps: which checkpoint, from whom, and the token put beside the log.

Nothing is sent anywhere unless a URL is given.
"""

import contextlib
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from safegym.audit import layout
from safegym.audit.bounded import read_bounded
from safegym.audit.chain import read_checkpoints
from safegym.audit.cosign import checked
from safegym.audit.durable import AppendFile, cut
from safegym.audit.limits import Limits
from safegym.audit.note import Checkpoint
from safegym.audit.ring import KeyRing
from safegym.audit.sign import PublicKey
from safegym.audit.source import FolderSource, Source, open_source
from safegym.audit.stamps import (
    LARGEST_TOKEN,
    MovedStamp,
    Stamp,
    Stamped,
    answered,
    check_stamp,
    read_stamps,
    request_for,
)
from safegym.audit.writer_lock import writer_lock
from safegym.errors import AuditError

if TYPE_CHECKING:
    from rfc3161_client import TimeStampRequest

TIMEOUT = 30.0
"""Seconds that an authority has for its answer."""
LARGEST = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that was made: for which checkpoint, and the request itself."""

    checkpoint: Checkpoint
    request: "TimeStampRequest"


def ask(run: str | os.PathLike[str], keys: Iterable[PublicKey]) -> Asked:
    """Make a request over the last checkpoint of a run that verifies.

    Raises AuditError if the log is broken or unsealed, or rfc3161-client is not installed.
    """
    checkpoint = checked(run, keys).checkpoints[-1]
    return Asked(checkpoint, request_for(checkpoint))


def send(asked: Asked, url: str) -> bytes:
    """Send a request to an authority over HTTP and return its answer, which fits the request.

    Raises AuditError if there is no good answer within TIMEOUT.
    """
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise AuditError(f"{url!r} is not the address of an authority; it begins with https://.")
    headers = {"Content-Type": "application/timestamp-query"}
    query = urllib.request.Request(url, data=asked.request.as_bytes(), headers=headers)
    try:
        with urllib.request.urlopen(query, timeout=TIMEOUT) as answer:
            token = answer.read(LARGEST_TOKEN + 1)
    except (OSError, ValueError, urllib.error.URLError) as error:
        raise AuditError(f"The time-stamp authority {url} did not answer: {error}.") from error
    if len(token) > LARGEST_TOKEN:
        raise AuditError(f"The answer of {url} is larger than {LARGEST_TOKEN} bytes.")
    answered(token, asked.request)
    return bytes(token)


def read_token(path: str | os.PathLike[str]) -> bytes:
    """Read an authority's answer from a file (.tsr, DER). Raises AuditError."""
    return read_bounded(path, "answer", LARGEST_TOKEN)


def keep(run: str | os.PathLike[str], token: bytes, keys: Iterable[PublicKey]) -> Stamped:
    """Put a token beside the log, with the checkpoint that it covers; returns what it says.

    Raises RunFolderError while a run is at work in the folder; AuditError if the token covers no
    checkpoint of the log, or does not verify against the trusted authority that it names.
    """
    folder, ring = Path(run), KeyRing(keys)
    lock = writer_lock(folder, make=False)
    try:
        source = FolderSource(folder, Limits())
        notes = read_checkpoints(source.read(layout.CHECKPOINTS, Limits().checkpoint_bytes))[0]
        stamp, found = _fitting(token, notes, ring)
        _append(folder, source, stamp)
    finally:
        lock.release()
    return found


def last_stamp(run_or_bundle: str | os.PathLike[str]) -> tuple[Stamp, Checkpoint] | None:
    """The last token of a log and the checkpoint that it covers, unchecked; None without one."""
    source = open_source(run_or_bundle, Limits())
    try:
        if not source.has(layout.TIMESTAMPS):
            return None
        stamps, _ = read_stamps(source.read(layout.TIMESTAMPS, LARGEST))
        notes = read_checkpoints(source.read(layout.CHECKPOINTS, Limits().checkpoint_bytes))[0]
    finally:
        source.close()
    pairs = [(s, c) for s in stamps for c in notes if c.size == s.size]
    return pairs[-1] if pairs else None


def _fitting(token: bytes, notes: Iterable[Checkpoint], ring: KeyRing) -> tuple[Stamp, Stamped]:
    """The token with the checkpoint that it covers: the later ones are tried first."""
    answered(token)
    for checkpoint in reversed(list(notes)):
        stamp = Stamp(checkpoint.size, token)
        with contextlib.suppress(MovedStamp):
            return stamp, check_stamp(stamp, [checkpoint], ring.authorities, what="The token")
    raise AuditError("The token covers no checkpoint of this run.", step="signatures")


def _append(folder: Path, source: Source, stamp: Stamp) -> None:
    """Append the token's line, durably. Raises AuditError if it stands there already."""
    path, line = folder / layout.TIMESTAMPS, stamp.line() + b"\n"
    known = source.read(layout.TIMESTAMPS, LARGEST) if source.has(layout.TIMESTAMPS) else b""
    stamps, torn = read_stamps(known)
    if stamp in stamps:
        raise AuditError("This token lies beside the log already.")
    if torn:
        cut(path, len(known) - torn)
    file = AppendFile(path)
    try:
        file.append(line, sync=True)
    finally:
        file.close()
