"""Reference traces: small episodes with the verdicts that every backend must give.

One JSON object a file: "format", "about" (what happens), "trap" (what a wrong monitor gets
wrong), "signals" (name -> unit and scale), "trace" (a trace document), "verdicts" (formula,
status, robustness as [lo, hi] or null where margins are refused, why). Infinities are the
texts "inf" and "-inf".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

from safegym.errors import TraceError
from safegym.trace.document import read_document
from safegym.trace.manifest import bounded_bytes, check_manifest
from safegym.trace.model import Trace

FORMAT = "safegym-reference-1"
Status = Literal["satisfied", "violated", "inconclusive"]
_FIELDS = {"format", "about", "trap", "signals", "trace", "verdicts"}
_VERDICT_FIELDS = {"formula", "status", "robustness", "why"}


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a reference declares of a signal: unit as text, shape, scale (None: its own unit)."""

    unit: str
    shape: tuple[int, ...]
    scale: float | None


@dataclass(frozen=True, slots=True)
class Expected:
    """A verdict worked out by hand. robustness: (lo, hi) at sample 0, None if margins are refused.

    formula: canonical text, window bounds in seconds. why: the working, in words.
    """

    formula: str
    status: Status
    robustness: tuple[float, float] | None
    why: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference trace with its expected verdicts."""

    name: str
    about: str
    trap: str
    signals: Mapping[str, Declaration]
    trace: Trace
    expected: tuple[Expected, ...]


def load_references(folder: str | Path) -> tuple[Reference, ...]:
    """The references of a folder, in name order, after its manifest was checked.

    Raises TraceError naming the file and what is wrong.
    """
    folder = Path(folder)
    return tuple(load_reference(folder / name) for name in check_manifest(folder))


def load_reference(path: str | Path) -> Reference:
    """One reference file. Raises TraceError naming what is wrong."""
    path = Path(path)
    try:
        return _reference(path.stem, read_document(bounded_bytes(path), "reference"))
    except TraceError as error:
        raise TraceError(f"The reference {path.name} is not sound: {error}") from error


def _reference(name: str, document: Mapping[str, Any]) -> Reference:
    if set(document) != _FIELDS or document["format"] != FORMAT:
        raise TraceError(f"A reference has exactly the fields {', '.join(sorted(_FIELDS))}.")
    trace = Trace.from_json(_object(document["trace"], "trace"))
    declared = _object(document["signals"], "signals")
    if list(declared) != list(trace.signals):
        raise TraceError(
            f"It declares {', '.join(declared)}, its trace has {', '.join(trace.signals)}."
        )
    verdicts = document["verdicts"]
    if not isinstance(verdicts, list) or not verdicts:
        raise TraceError("It needs a list of at least one verdict.")
    return Reference(
        name=name,
        about=_text(document["about"], "about"),
        trap=_text(document["trap"], "trap"),
        signals={
            signal: _declaration(signal, _object(entry, signal), trace)
            for signal, entry in declared.items()
        },
        trace=trace,
        expected=tuple(_expected(_object(entry, "verdict")) for entry in verdicts),
    )


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TraceError(f'"{what}" must be an object, found {type(value).__name__}.')
    return cast(dict[str, Any], value)


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise TraceError(f'"{what}" must be text.')
    return value


def _declaration(name: str, entry: Mapping[str, Any], trace: Trace) -> Declaration:
    if not {"unit"} <= set(entry) <= {"unit", "scale"}:
        raise TraceError(f'Signal {name} is declared by "unit" and, if it has one, "scale".')
    scale = entry.get("scale")
    if scale is not None and not (type(scale) in (int, float) and 0 < scale < float("inf")):
        raise TraceError(f"Signal {name} has scale {scale!r}; it must be a number > 0.")
    shape = trace.signals[name].shape[1:]
    return Declaration(_text(entry["unit"], "unit"), shape, None if scale is None else float(scale))


def _expected(entry: Mapping[str, Any]) -> Expected:
    if set(entry) != _VERDICT_FIELDS:
        raise TraceError(f"A verdict has exactly the fields {', '.join(sorted(_VERDICT_FIELDS))}.")
    status = entry["status"]
    if status not in get_args(Status):
        raise TraceError(f"A status is one of {', '.join(get_args(Status))}; found {status!r}.")
    return Expected(
        formula=_text(entry["formula"], "formula"),
        status=status,
        robustness=_interval(entry["robustness"]),
        why=_text(entry["why"], "why"),
    )


def _interval(value: Any) -> tuple[float, float] | None:
    match value:
        case None:
            return None
        case [lo, hi]:
            found = _margin(lo), _margin(hi)
            if found[0] <= found[1]:
                return found
        case _:
            pass
    raise TraceError(f"A robustness is [lo, hi] with lo <= hi, or null; found {value!r}.")


def _margin(value: Any) -> float:
    if value in ("inf", "-inf") or (type(value) in (int, float)):
        return float(value)
    raise TraceError(f'A margin is a number, "inf" or "-inf"; found {value!r}.')
