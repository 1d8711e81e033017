"""Files that records name: referred to by path, digest and size, read in bounded pieces."""

import hashlib
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

from safegym.audit import layout
from safegym.audit.durable import sync_file
from safegym.audit.paths import path_fault
from safegym.digest import PREFIX
from safegym.errors import AuditError

PIECE = 1 << 20


def reference_artifact(folder: Path, path: Path) -> dict[str, Any]:
    """Return {"artifact", "digest", "size"} of a regular file in `folder`; force it to disk.

    Raises AuditError (step "artifacts").
    """
    name = relative_name(folder, path)
    whole = folder / name
    try:
        sync_file(whole)
        with whole.open("rb") as file:
            digest, size = digest_stream(file)
    except OSError as error:
        raise AuditError(
            f"The artifact {name} cannot be read: {error.strerror}.", step="artifacts"
        ) from error
    return {"artifact": name, "digest": digest, "size": size}


def relative_name(folder: Path, path: Path) -> str:
    """The path inside the run folder, with "/". Raises AuditError for paths that are refused."""
    base = os.path.abspath(folder)
    inside = os.path.relpath(os.path.abspath(os.path.join(base, path)), base)
    name = inside.replace(os.sep, "/")
    wrong = path_fault(name)
    if wrong is None and name.split("/")[0] in (*layout.OWN, layout.LOCK):
        wrong = f"{name} is a part of the log itself"
    if wrong is None:
        wrong = _link_fault(Path(base), name)
    if wrong is not None:
        raise AuditError(
            f"An artifact must be a plain file in the run folder {folder}: {wrong}.",
            step="artifacts",
        )
    return name


def _link_fault(base: Path, name: str) -> str | None:
    place = base
    for part in name.split("/"):
        place = place / part
        try:
            mode = place.lstat().st_mode
        except OSError as error:
            return f"{name} cannot be read ({error.strerror})"
        if stat.S_ISLNK(mode):
            return f"{name} goes through a link"
    return None if place.is_file() else f"{name} is not a regular file"


def digest_stream(file: BinaryIO) -> tuple[str, int]:
    """Digest and size of what is left in a stream."""
    hasher, size = hashlib.sha256(), 0
    while piece := file.read(PIECE):
        hasher.update(piece)
        size += len(piece)
    return PREFIX + hasher.hexdigest(), size
