"""Claims: a statement with a hazard, a confidence, and one episode property."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction as Rational
from typing import Any, Literal, NoReturn, cast, get_args

from safegym.digest import digest_text
from safegym.errors import FormulaError
from safegym.formula.checks import finite, number_text
from safegym.formula.exchange import fields_of, signal_from_json, signal_to_json
from safegym.formula.nodes import Formula, all_of, negation
from safegym.formula.rewrite import Rounding
from safegym.formula.statements import (
    ConditionalBound,
    MeanBound,
    ProbBound,
    QuantileBound,
    Statement,
)
from safegym.formula.terms import Signal, describe, signals_of
from safegym.formula.text import parse_statement
from safegym.formula.traps import MYPY, not_a_formula

__all__ = [
    "Claim",
    "ConditionalBound",
    "Kind",
    "MeanBound",
    "ProbBound",
    "QuantileBound",
    "Rounding",
    "Severity",
    "Statement",
    "set_digest",
]

SEMANTICS = 1
JSON_TYPE = "safegym.claim"
JSON_KEYS = (
    *("type", "semantics", "id", "statement", "signals", "confidence"),
    *("hazard", "source", "severity", "rounding", "digest"),
)
Severity = Literal["catastrophic", "critical", "marginal", "negligible"]
Kind = Literal["trace", "probability", "conditional", "quantile", "mean"]
_KINDS: dict[type, Kind] = {
    ProbBound: "probability",
    ConditionalBound: "conditional",
    QuantileBound: "quantile",
    MeanBound: "mean",
}

LONGEST_ID = 120
LONGEST_NOTE = 2000
ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Claim:
    """What must hold.

    id: dotted name. statement: a formula (must hold on every episode), or a bound on a
    probability, a conditional probability, a quantile or a mean over episodes. confidence: 1 -
    error level, in (0, 1). hazard, source, severity: why; they take no part in the digest.
    rounding: what to do with time bounds off the clock's grid. Raises FormulaError or TypeError for
    anything malformed.
    """

    id: str
    statement: Statement
    confidence: float | None = None
    hazard: str = ""
    source: str = ""
    severity: Severity = "critical"
    rounding: Rounding = "refuse"

    def __post_init__(self) -> None:
        _check_id(self.id)
        _check_statement(self.id, self.statement)
        if self.confidence is not None:
            object.__setattr__(self, "confidence", _confidence(self.id, self.confidence))
        _check_notes(self)
        if self.rounding == "conservative" and isinstance(self.statement, MeanBound):
            raise FormulaError(
                f"Claim {self.id}: a mean cannot be rounded conservatively; use bounds on the grid."
            )
        _ = self.signals

    @property
    def kind(self) -> Kind:
        """What the statement is about: each trace, or something over episodes."""
        return _KINDS.get(type(self.statement), "trace")

    @property
    def formula(self) -> Formula:
        """The formula inside the statement, as written; not a condition's."""
        if isinstance(self.statement, Formula):
            return self.statement
        return self.statement.formulas[0]

    @property
    def condition(self) -> Formula | None:
        """B of `prob(f, given=B)`: only episodes where it holds count. None for other claims."""
        return self.statement.given if isinstance(self.statement, ConditionalBound) else None

    @property
    def failure_threshold(self) -> float | None:
        """p0: the threshold on the probability that g fails; None unless one is claimed.

        1 - p for `prob(f) >= p`, rounded down where binary64 cannot hold it, so never looser; with
        a condition, of failing among the episodes where it holds. q for `quantile(f, q) > m`.
        """
        statement = self.statement
        if isinstance(statement, QuantileBound):
            return statement.q
        if not isinstance(statement, ProbBound | ConditionalBound):
            return None
        if statement.below:
            return statement.threshold
        found = 1.0 - statement.threshold
        loose = Rational(found) > 1 - Rational(statement.threshold)
        return math.nextafter(found, 0.0) if loose else found

    @property
    def signals(self) -> tuple[Signal, ...]:
        """The signals read, in order of first appearance. FormulaError if two share a name."""
        statement = self.statement
        if isinstance(statement, ConditionalBound):
            return signals_of(all_of(statement.formulas))
        return signals_of(self.formula)

    @property
    def canonical_text(self) -> str:
        """The text that the digest is over: everything that decides what is claimed.

        One line each for semantics version, id, statement, confidence, rounding and end mode, and
        one per signal with its whole declaration, sorted by name. Hazard, source and severity are
        left out: editing a reason does not make another claim.
        """
        confidence = "none" if self.confidence is None else number_text(self.confidence)
        lines = (
            f"safegym claim, semantics {SEMANTICS}",
            f"id: {self.id}",
            f"statement: {self.statement}",
            f"confidence: {confidence}",
            f"rounding: {self.rounding}",
            "end: as the trace declares",
            *(f"signal: {describe(s)}" for s in sorted(self.signals, key=lambda s: s.name)),
        )
        return "\n".join(lines) + "\n"

    @property
    def digest(self) -> str:
        """Digest of the canonical text."""
        return digest_text(self.canonical_text)

    def to_json(self) -> dict[str, Any]:
        """Returns a JSON value that alone rebuilds the claim, with the digest it must have."""
        return {
            "type": JSON_TYPE,
            "semantics": SEMANTICS,
            "id": self.id,
            "statement": str(self.statement),
            "signals": [signal_to_json(signal) for signal in self.signals],
            "confidence": self.confidence,
            "hazard": self.hazard,
            "source": self.source,
            "severity": self.severity,
            "rounding": self.rounding,
            "digest": self.digest,
        }

    @classmethod
    def from_json(cls, value: object) -> "Claim":
        """Returns the claim that `to_json` wrote, read by the parser and checked anew.

        Raises FormulaError if a key is missing or unknown, the type or semantics version is
        another, the text does not parse, is not canonical, or the digest does not match.
        """
        fields = fields_of(value, JSON_KEYS, "A claim")
        if fields["type"] != JSON_TYPE or fields["semantics"] != SEMANTICS:
            raise FormulaError(
                f"This JSON is {fields['type']!r:.40}, semantics {fields['semantics']!r:.10}; "
                f"this version reads {JSON_TYPE!r}, semantics {SEMANTICS}."
            )
        claim = _read(fields)
        if str(claim.statement) != fields["statement"] or claim.digest != fields["digest"]:
            raise FormulaError(
                f"Claim {claim.id}: the JSON's text or digest is not that of the claim it states: "
                f"{str(fields['digest'])[:80]!r} in the JSON, {claim.digest!r} computed."
            )
        return claim

    if not MYPY:  # mypy reports truthy-bool only where there is no __bool__

        def __bool__(self) -> NoReturn:
            """Refuses `if claim:`."""
            raise TypeError(
                f"Claim {self.id} has no truth value in Python: it is judged on a trace. Write "
                f'`safegym.check(claim, trace).status == "satisfied"`, or `claim is not None` for '
                "one that may be missing."
            )

    @property  # last, because the name hides the decorator from here on
    def property(self) -> Formula:
        """The episode property g: what one episode must satisfy (docs/reference/language.md).

        The formula of a bare statement and of `prob(f) >= p`, its negation for `prob(f) < p`; with
        a condition B, `B implies` that. For `quantile(f, q) > m`: f with every atom tightened by m.
        Raises FormulaError for a mean, which no single episode keeps or breaks.
        """
        statement = self.statement
        if isinstance(statement, Formula):
            return statement
        if isinstance(statement, QuantileBound):
            return statement.tightened
        if isinstance(statement, MeanBound):
            raise FormulaError(
                f"Claim {self.id} is about a mean over episodes, so one episode neither keeps nor "
                "breaks it; for a limit on each episode state "
                f"fraction(...) {statement.comparison} {number_text(statement.threshold)}."
            )
        wanted = negation(statement.formula) if statement.below else statement.formula
        if isinstance(statement, ConditionalBound):
            return statement.given.implies(wanted)
        return wanted


def _read(fields: Mapping[str, Any]) -> Claim:
    signals = fields["signals"]
    if not isinstance(signals, list):
        raise FormulaError(f"A claim's signals must be a JSON list, found {signals!r:.60}.")
    declared = tuple(signal_from_json(signal) for signal in cast("list[object]", signals))
    try:
        claim = Claim(
            id=fields["id"],
            statement=parse_statement(fields["statement"], declared),
            confidence=fields["confidence"],
            hazard=fields["hazard"],
            source=fields["source"],
            severity=fields["severity"],
            rounding=fields["rounding"],
        )
    except TypeError as error:
        raise FormulaError(f"A claim's JSON is malformed: {error}") from None
    if set(claim.signals) != set(declared):
        raise FormulaError(
            f"Claim {claim.id}: its JSON must declare exactly the signals that the claim reads, "
            f"{', '.join(signal.name for signal in claim.signals)}."
        )
    return claim


def set_digest(claims: Iterable[Claim]) -> str:
    """Returns the digest of a claim set, whatever its order. Raises FormulaError on equal ids."""
    listed = sorted(claims, key=lambda claim: claim.id)
    ids = [claim.id for claim in listed]
    if len(set(ids)) != len(ids):
        raise FormulaError(f"A claim set has one claim per id, found {', '.join(ids)[:200]}.")
    return digest_text("".join(f"{claim.digest}\n" for claim in listed))


def _check_id(found: object) -> None:
    if not isinstance(found, str) or not ID.match(found) or len(found) > LONGEST_ID:
        raise FormulaError(
            f'A claim\'s id must be a dotted name such as "arm.collision", found {found!r:.60}.'
        )


_UNBOUNDED = {
    "Probability": "prob(...)",
    "Conditional": "prob(..., given=...)",
    "Quantile": "quantile(...)",
    "Share": "fraction(...)",
    "Mean": "mean(...)",
}


def _check_statement(claim: str, found: object) -> None:
    if isinstance(found, Statement):
        return
    if type(found).__name__ in _UNBOUNDED:
        raise TypeError(
            f"Claim {claim}: {_UNBOUNDED[type(found).__name__]} has no bound yet; compare it with "
            "a number: `prob(f) < 0.01`, `prob(f, given=b) >= 0.9`, `quantile(f, 0.05) > 0.1`, "
            "`fraction(f) >= 0.999`, `mean(fraction(f)) >= 0.99`."
        )
    not_a_formula(f"Claim {claim}", found)


def _confidence(claim: str, value: object) -> float:
    found = finite(value, f"Claim {claim}: confidence")
    if not 0 < found < 1:
        raise FormulaError(
            f"Claim {claim}: confidence must lie strictly between 0 and 1 (0.99 for 99 %), "
            f"found {found!r}."
        )
    return found


def _check_notes(claim: Claim) -> None:
    for name in ("hazard", "source"):
        value = getattr(claim, name)
        if not isinstance(value, str) or len(value) > LONGEST_NOTE:
            raise FormulaError(f"Claim {claim.id}: {name} must be text, {LONGEST_NOTE} at most.")
    for name, choices in (("severity", Severity), ("rounding", Rounding)):
        allowed = get_args(choices)
        value = getattr(claim, name)
        if value not in allowed:
            raise FormulaError(
                f"Claim {claim.id}: {name} must be one of {', '.join(allowed)}, not {value!r:.40}."
            )
