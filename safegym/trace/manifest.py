"""The manifest of a folder of reference traces: each file's SHA-256.

`python -m safegym.trace.manifest traces` writes it anew, `--check` only compares.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from safegym.digest import digest_bytes
from safegym.errors import SafegymError, TraceError
from safegym.trace.document import read_document

FORMAT = "safegym-traces-1"
NAME = "MANIFEST.json"
MAX_FILES = 1000
MAX_BYTES = 16 * 2**20
"""Largest manifest or reference file read, in bytes."""


def bounded_bytes(path: Path) -> bytes:
    """The bytes of a regular file of at most `MAX_BYTES`. Raises TraceError."""
    try:
        if path.is_symlink() or not path.is_file():
            raise TraceError(f"There is no file {path}.")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise TraceError(f"Cannot read {path}: {error.strerror or error}.") from error
    if len(content) > MAX_BYTES:
        raise TraceError(f"{path} has more than the {MAX_BYTES} bytes that are read.")
    return content


def digests(folder: Path) -> dict[str, str]:
    """File name -> digest of each reference file in a folder. Raises TraceError."""
    names = sorted(path.name for path in folder.glob("*.json") if path.name != NAME)
    if len(names) > MAX_FILES:
        raise TraceError(f"{folder} holds {len(names)} files; at most {MAX_FILES} are read.")
    return {name: digest_bytes(bounded_bytes(folder / name)) for name in names}


def manifest_text(folder: Path) -> str:
    """The manifest that fits the files of a folder now."""
    return json.dumps({"format": FORMAT, "files": digests(folder)}, indent=2) + "\n"


def check_manifest(folder: Path) -> tuple[str, ...]:
    """Names of the files of a folder, once each has its digest. Raises TraceError otherwise."""
    document = read_document(bounded_bytes(folder / NAME), "manifest")
    listed = document.get("files")
    if document.get("format") != FORMAT or not isinstance(listed, dict):
        raise TraceError(f"{folder / NAME} is not of format {FORMAT}.")
    expected, found = cast(dict[str, object], listed), digests(folder)
    for name in sorted({*expected, *found}):
        if expected.get(name) != found.get(name):
            state = "is not listed" if name not in expected else "is missing or was changed"
            raise TraceError(
                f"{name} {state}: {NAME} says {expected.get(name)}, the folder has "
                f"{found.get(name)}. If you meant it: python -m safegym.trace.manifest {folder}"
            )
    return tuple(found)


def main(arguments: Sequence[str]) -> int:
    """Writes or checks a manifest; returns 0, 1 if it does not fit, 2 on bad input."""
    folders = [text for text in arguments if text != "--check"]
    if len(folders) != 1 or folders[0].startswith("-"):
        print("usage: python -m safegym.trace.manifest FOLDER [--check]", file=sys.stderr)
        return 2
    folder = Path(folders[0])
    try:
        if "--check" in arguments:
            print(f"{len(check_manifest(folder))} files as listed")
        else:
            (folder / NAME).write_text(manifest_text(folder), encoding="utf-8")
    except SafegymError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"Cannot write {folder / NAME}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
