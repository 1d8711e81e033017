"""JSON lines: reading one object a line, and saying which line is broken, and how."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, NoReturn

from safegym.errors import BlendError

LONGEST = 64 << 20
"""Bytes of the longest line that is read."""
_BOM = b"\xef\xbb\xbf"
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: its number, counted from 1, and its bytes without the line's end."""

    number: int
    text: bytes


def lines_of(stream: IO[bytes], name: str) -> Iterator[Line]:
    """The lines that are not blank, one in memory at a time.

    Raises BlendError for a line of more than `LONGEST` bytes.
    """
    number = 0
    while raw := stream.readline(LONGEST + 1):
        number += 1
        if len(raw) > LONGEST:
            raise BlendError(f"{name} line {number} is longer than {LONGEST >> 20} MiB.")
        text = raw.removeprefix(_BOM).strip() if number == 1 else raw.strip()
        if text:
            yield Line(number, text)


def row_of(line: Line, name: str) -> dict[str, Any]:
    """The object that a line holds. Raises BlendError, naming file and line, for anything else."""
    where = f"{name} line {line.number}"
    try:
        found = json.loads(line.text.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise BlendError(
            f"{where}: byte {error.start + 1} is not UTF-8 ({error.reason}); write rows as UTF-8."
        ) from error
    except RecursionError as error:
        raise BlendError(f"{where}: nested too deeply.") from error
    except json.JSONDecodeError as error:
        raise BlendError(
            f"{where}: broken JSON, {error.msg} at column {error.colno}; a row is one whole JSON "
            "object on one line."
        ) from error
    except ValueError as error:
        raise BlendError(f"{where}: {error}.") from error
    if not isinstance(found, dict):
        raise BlendError(f"{where}: a row is a JSON object {{...}}, found {line.text[:_SHOWN]!r}.")
    return found


def text_of(row: Mapping[str, Any]) -> bytes:
    """A row as the bytes of its line, without the line's end.

    Raises BlendError for what JSON cannot carry, such as NaN.
    """
    try:
        return _dumped(row, ascii_only=False).encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate, which JSON can only write as an escape
        return _dumped(row, ascii_only=True).encode("ascii")


def _dumped(row: Mapping[str, Any], *, ascii_only: bool) -> str:
    try:
        return json.dumps(
            row,
            ensure_ascii=ascii_only,
            allow_nan=False,
            separators=(",", ":"),
            check_circular=True,
        )
    except (TypeError, ValueError) as error:
        if isinstance(error, UnicodeEncodeError):
            raise
        raise BlendError(f"This row cannot be written as JSON: {error}.") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON; write a finite number or null")
