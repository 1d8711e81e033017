"""What was done to a log's samples to bring them onto a trace's clock."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, cast, get_args

from safegym.errors import TraceError
from safegym.rational import rational_text
from safegym.trace.clock import exact

Rule = Literal["hold", "linear", "jitter"]
Between = Literal["sample", "max", "min"]
RULES: tuple[Rule, ...] = get_args(Rule)
BETWEEN: tuple[Between, ...] = get_args(Between)
_TIMES = ("longest_gap", "tolerance", "widest", "furthest")
_COUNTS = ("samples", "before", "after", "passed_over", "hidden")
_TEXTS = ("stamps", "values")
_FIELDS = ("rule", "between", *_TIMES, *_COUNTS, *_TEXTS)


@dataclass(frozen=True, slots=True)
class Resampling:
    """How one signal came from its log onto the clock. Times are exact, in seconds.

    rule: how instants of the clock got their values. between: what a sample says of the log's
    samples since the instant before, None where no more than one lay there. longest_gap: distance
    of neighbouring stamps above which nothing is known between them, None where nothing is filled.
    tolerance: how far from an instant a stamp still counts as on it. widest: largest distance of
    neighbouring stamps. furthest: largest distance of a stamp that counts as on an instant from it.
    samples: in the log. before, after: of these, before the first and after the last instant.
    passed_over: of these, in between, but no instant took its value from them. hidden: of these,
    beyond the values of the instants on both sides (peaks that the trace cuts). stamps, values:
    SHA-256 of the log's stamps (int64 nanoseconds) and values (float64), little-endian, as
    `sha256:<hex>`.
    """

    rule: Rule
    between: Between | None
    longest_gap: Fraction | None
    tolerance: Fraction
    widest: Fraction
    furthest: Fraction
    samples: int
    before: int
    after: int
    passed_over: int
    hidden: int
    stamps: str
    values: str

    def to_json(self) -> dict[str, Any]:
        """Plain texts and numbers; times as exact text in seconds."""
        document: dict[str, Any] = {name: getattr(self, name) for name in _FIELDS}
        for name in _TIMES:
            document[name] = None if document[name] is None else rational_text(document[name])
        return document

    @classmethod
    def from_json(cls, document: Any) -> "Resampling":
        """The record of a JSON object. Raises TraceError if it is not one."""
        if not isinstance(document, dict) or set(document) != set(_FIELDS):
            raise TraceError(f"A resampling has exactly the fields {', '.join(_FIELDS)}.")
        if document["rule"] not in RULES or document["between"] not in (None, *BETWEEN):
            raise TraceError(
                f"A resampling is by {', '.join(RULES)} and keeps None, {', '.join(BETWEEN)}; "
                f"found {document['rule']!r:.40} and {document['between']!r:.40}."
            )
        fields = dict(document)
        for name in _TIMES:
            if not (name == "longest_gap" and fields[name] is None):
                fields[name] = _time(fields[name], name)
        for name in _COUNTS:
            if type(fields[name]) is not int or fields[name] < 0:
                raise TraceError(f"The {name} of a resampling is {fields[name]!r:.40}; a count.")
        for name in _TEXTS:
            if not isinstance(fields[name], str):
                raise TraceError(f"The {name} of a resampling is {fields[name]!r:.40}; a digest.")
        return cls(**fields)

    def words(self, name: str) -> str:
        """One sentence for a reader of a verdict on signal `name`."""
        how = {
            "hold": "the last value of its log held",
            "linear": "its log interpolated linearly",
            "jitter": f"its log's samples, stamped up to {_short(self.furthest)} s off the clock",
        }[self.rule]
        limit = "" if self.longest_gap is None else f" (at most {_short(self.longest_gap)} s)"
        said = [f"Signal {name} is {how}{limit}, from {self.samples} samples"]
        if self.between in ("max", "min"):
            said.append(f"the {self.between} since the instant before counts")
        if self.passed_over:
            said.append(f"{self.passed_over} between instants were not looked at")
        if self.hidden:
            said.append(f"{self.hidden} lie beyond the values at the instants around them")
        if self.before or self.after:
            said.append(f"{self.before} come before the trace begins, {self.after} after it ends")
        return "; ".join(said) + "."


def resampling_notes(names: Iterable[str], records: Mapping[str, Resampling]) -> tuple[str, ...]:
    """What a verdict that reads these signals says of their logs, a sentence each."""
    return tuple(records[name].words(name) for name in names if name in records)


def _time(value: Any, name: str) -> Fraction:
    found = exact(value, what=name) if isinstance(value, str) else Fraction(-1)
    if found < 0:
        raise TraceError(f"The {name} of a resampling is {value!r:.40}; seconds as exact text.")
    return found


def _short(seconds: Fraction) -> str:
    return f"{float(seconds):.6g}"


def _check_record(record: Resampling) -> None:
    """Raises TraceError where a document could not give the record back."""
    for name in _TIMES:
        time = getattr(record, name)
        if not isinstance(time, Fraction) and not (name == "longest_gap" and time is None):
            raise TraceError(f"The {name} of a resampling is {time!r:.40}; a Fraction of seconds.")
    Resampling.from_json(record.to_json())


def resampling_by_signal(given: Mapping[str, Resampling], signals: Any) -> dict[str, Resampling]:
    """Records by signal, sorted. Raises TraceError for an unknown signal or another type."""
    for name, record in given.items():
        if name not in signals or not isinstance(cast(object, record), Resampling):
            raise TraceError(
                f"resampling[{name!r:.60}] is {type(record).__name__}; it maps signals of the "
                "trace to Resampling records."
            )
        _check_record(record)
    return dict(sorted(given.items()))
