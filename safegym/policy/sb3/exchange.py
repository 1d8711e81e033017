"""Putting one folder in the place of another at once, where the system can."""

import ctypes
import os
from contextlib import suppress
from pathlib import Path

_AT_FDCWD, _EXCHANGE = -100, 2
"""Of Linux, renameat2(2): paths from here on, and both names are exchanged."""


def exchange(first: Path, second: Path) -> bool:
    """Exchange two folders' names in one step; False, and nothing done, where that cannot be.

    Source: renameat2(2), RENAME_EXCHANGE, Linux 3.15.
    """
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    names = os.fsencode(first), os.fsencode(second)
    return int(rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _EXCHANGE)) == 0


def take_back(path: Path) -> None:
    """Give a folder its name again that a crash had left between two renames, if there is one."""
    if path.exists() or not path.parent.is_dir():
        return
    for retired in sorted(path.parent.iterdir()):
        process = _writer_of(retired.name, path.name)
        if process is not None and not _is_alive(process):
            with suppress(OSError):
                retired.rename(path)
                return


def _writer_of(retired: str, name: str) -> int | None:
    """The process that put a folder of this name aside; None for any other file."""
    head, tail = f".{name}.", ".old"
    digits = retired.removeprefix(head).removesuffix(tail)
    named = retired.startswith(head) and retired.endswith(tail) and digits.isdecimal()
    return int(digits) if named else None


def _is_alive(process: int) -> bool:
    """Whether it may still be at work."""
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
