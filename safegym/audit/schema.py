"""Checks on one field of a payload: each returns what is wrong, or None.

Small on purpose: a check looks at shape and range; what a number means is re-derived elsewhere.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from safegym.audit.paths import path_fault

DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")
SUBJECT = re.compile(r"(sha256:[0-9a-f]{64}|gitCommit:[0-9a-f]{40}([0-9a-f]{24})?)\Z")
DATE = re.compile(
    r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"(T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z)?\Z"
)


class Check(Protocol):
    """A rule for one field. `says` words it for the documentation and for messages."""

    @property
    def says(self) -> str:
        """The rule in words."""
        ...

    def fault(self, value: Any) -> str | None:
        """Say what is wrong with `value`, or return None."""
        ...


@dataclass(frozen=True, slots=True)
class Text:
    """Text of at least one character; one of the `words`, matching `pattern`, where given."""

    says: str = "text"
    words: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None

    def fault(self, value: Any) -> str | None:
        """Say what is wrong with `value`, or return None."""
        fits = isinstance(value, str) and value != ""
        if fits and self.words:
            fits = value in self.words
        if fits and self.pattern is not None:
            fits = self.pattern.match(value) is not None
        return None if fits else f"{_shown(value)} is not {self.says}"


@dataclass(frozen=True, slots=True)
class Number:
    """A finite number, or "inf" or "-inf" where `infinite`; `whole` for integers from `least`."""

    says: str = "a number"
    least: float | None = None
    whole: bool = False
    infinite: bool = False

    def fault(self, value: Any) -> str | None:
        """Say what is wrong with `value`, or return None."""
        if self.infinite and value in ("inf", "-inf"):
            return None
        kinds = int if self.whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds):
            return f"{_shown(value)} is not {self.says}"
        if self.least is not None and value < self.least:
            return f"{_shown(value)} is not {self.says}"
        return None


@dataclass(frozen=True, slots=True)
class Truth:
    """True or false."""

    says: str = "true or false"

    def fault(self, value: Any) -> str | None:
        """Say what is wrong with `value`, or return None."""
        return None if isinstance(value, bool) else f"{_shown(value)} is not {self.says}"


@dataclass(frozen=True, slots=True)
class Nullable:
    """Null, or what `of` accepts."""

    of: Check

    @property
    def says(self) -> str:
        """The rule in words."""
        return f"{self.of.says}, or null"

    def fault(self, value: Any) -> str | None:
        """Say what is wrong with `value`, or return None."""
        return None if value is None else self.of.fault(value)


@dataclass(frozen=True, slots=True)
class Items:
    """A list of at least `least` values that `of` accepts."""

    of: Check
    least: int = 0

    @property
    def says(self) -> str:
        """The rule in words."""
        amount = f" of at least {self.least}" if self.least else ""
        return f"a list{amount}: each {self.of.says}"

    def fault(self, value: Any) -> str | None:
        """Say what is wrong with `value`, or return None."""
        if not isinstance(value, list):
            return f"{_shown(value)} is not a list"
        if len(value) < self.least:
            return f"it holds {len(value)} entries, at least {self.least} are needed"
        for position, item in enumerate(value):
            wrong = self.of.fault(item)
            if wrong is not None:
                return f"entry {position}: {wrong}"
        return None


@dataclass(frozen=True, slots=True)
class Table:
    """An object with any text keys, whose values `of` accepts (anything, if None)."""

    of: Check | None = None

    @property
    def says(self) -> str:
        """The rule in words."""
        return "an object" if self.of is None else f"an object: each value {self.of.says}"

    def fault(self, value: Any) -> str | None:
        """Say what is wrong with `value`, or return None."""
        if not isinstance(value, dict):
            return f"{_shown(value)} is not an object"
        for key, item in value.items():
            wrong = None if self.of is None else self.of.fault(item)
            if wrong is not None:
                return f"{key}: {wrong}"
        return None


@dataclass(frozen=True, slots=True)
class Fields:
    """An object with required fields; others are allowed unless `closed`."""

    fields: Mapping[str, Check]
    closed: bool = False

    @property
    def says(self) -> str:
        """The rule in words."""
        return "{" + ", ".join(self.fields) + "}"

    def fault(self, value: Any) -> str | None:
        """Say what is wrong with `value`, or return None."""
        if not isinstance(value, dict):
            return f"{_shown(value)} is not an object {self.says}"
        for name, check in self.fields.items():
            if name not in value:
                return f"the field {name!r} is missing ({check.says})"
            wrong = check.fault(value[name])
            if wrong is not None:
                return f"{name}: {wrong}"
        extra = set(value) - set(self.fields) if self.closed else set[str]()
        return f"unknown fields {sorted(extra)}" if extra else None


@dataclass(frozen=True, slots=True)
class Reference:
    """{"kind", "record"}: another record of one of these kinds, by its payload digest."""

    kinds: tuple[str, ...]

    @property
    def says(self) -> str:
        """The rule in words."""
        return f"a reference to {' or '.join(self.kinds)}"

    def fault(self, value: Any) -> str | None:
        """Say what is wrong with `value`, or return None."""
        shape = {"kind": Text(self.says, words=self.kinds), "record": DIGEST_FIELD}
        return Fields(shape, closed=True).fault(value)


@dataclass(frozen=True, slots=True)
class RelativePath:
    """A path inside the run folder, as `paths.path_fault` allows it."""

    says: str = "a relative path"

    def fault(self, value: Any) -> str | None:
        """Say what is wrong with `value`, or return None."""
        if not isinstance(value, str):
            return f"{_shown(value)} is not {self.says}"
        return path_fault(value)


DIGEST_FIELD = Text("a digest (sha256:<64 hex digits>)", pattern=DIGEST)
COUNT = Number("a whole number from 0", least=0, whole=True)
ARTIFACT_FIELDS: dict[str, Check] = {
    "artifact": RelativePath(),
    "digest": DIGEST_FIELD,
    "size": COUNT,
}
ARTIFACT = Fields(ARTIFACT_FIELDS)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
