"""Slices of a small run, cut by the real export, and forged by leaving out or swapping parts."""

import functools
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from audit_forge import Files, good_run, resumed_run, write_folder

from safegym.audit import layout
from safegym.audit.archive import StoredZip
from safegym.audit.bundle import export_slice
from safegym.audit.limits import Limits
from safegym.digest import canonical_json


def unpacked(place: Path) -> Files:
    """The files of a bundle."""
    archive = StoredZip(place, Limits())
    try:
        found: Files = {}
        for name in archive.names:
            with archive.open(name) as file:
                found[name] = file.read()
        return found
    finally:
        archive.close()


def good_slice(*, resumed: bool = False, claim: str | None = "no-collision") -> Files:
    """A slice of the small run: of its claim, or of its policy."""
    return dict(_good_slice(resumed, claim))


@functools.cache
def _good_slice(resumed: bool, claim: str | None) -> Files:
    with tempfile.TemporaryDirectory() as name:
        folder = write_folder(Path(name) / "run", resumed_run() if resumed else good_run())
        policy = None if claim else "a" * 64
        out = export_slice(folder, Path(name) / "slice.zip", claim=claim, policy=policy)
        return unpacked(out)


def told(files: Files, change: Callable[[dict], None]) -> Files:
    """The slice with another slice.json."""
    value = json.loads(files[layout.SLICE])
    change(value)
    return {**files, layout.SLICE: canonical_json(value)}


def lines_of_slice(files: Files) -> list[bytes]:
    return files[layout.SLICE_LOG].split(b"\n")[:-1]


def without(files: Files, position: int) -> Files:
    """The slice without one of its records, and without that record's proof."""
    lines = lines_of_slice(files)
    del lines[position]
    left = told(files, lambda value: value["records"].pop(position))
    return {**left, layout.SLICE_LOG: b"".join(line + b"\n" for line in lines)}
