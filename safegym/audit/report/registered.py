"""The claims of a run as registered, and what its plan asks of them, checked against each other.

A claim whose JSON does not give its registered text and digest, or a plan that asks less than the
claim states, is refused: a report of such a log could look better than the log is.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from safegym.audit.record import AuditRecord
from safegym.audit.report.fields import items, number, table, text, truth
from safegym.audit.report.model import Finding, Promised
from safegym.digest import digest_text
from safegym.errors import AuditError, SafegymError
from safegym.formula.claim import Claim, ConditionalBound, MeanBound, ProbBound, QuantileBound

STEP = "re-derivation"


def promised(spec: AuditRecord, plan: AuditRecord | None) -> dict[str, Promised]:
    """Claim id -> the claim with its obligation, in order. Raises AuditError."""
    obligations: dict[str, Mapping[str, Any]] = {}
    for entry in [] if plan is None else items(plan.payload, "obligations"):
        item = table({"entry": entry}, "entry")
        obligations[text(item, "claim")] = item
    found: dict[str, Promised] = {}
    for entry in spec.payload["claims"]:
        if entry["id"] in found:
            raise AuditError(f"Claim {entry['id']!r:.80} is registered twice.", step=STEP)
        words = plan is None and "about" in spec.payload and "claim" not in entry
        if not words:  # a ready property of a proof has words alone; its proof is derived again
            _check_text(entry, spec.index)
        found[entry["id"]] = _promised(entry, obligations.get(entry["id"]), spec.index)
    return found


def _promised(entry: Mapping[str, Any], item: Mapping[str, Any] | None, index: int) -> Promised:
    claim = _claim(entry, index)
    statement = _statement(entry["text"]) if claim is None else str(claim.statement)
    threshold, lifted, level, needs = None, False, None, ""
    if item is not None:
        threshold, lifted = _threshold(item, claim), truth(item, "lifted")
        level, needs = number(item, "level"), text(item, "attempt_1")
        _check_obligation(claim, item, threshold, lifted)
    return Promised(
        id=entry["id"],
        digest=entry["digest"],
        text=entry["text"],
        statement=statement,
        claim=claim,
        invariant=item is not None and text(item, "kind") == "invariant",
        threshold=threshold,
        level=level,
        lifted=lifted,
        needs=needs,
    )


def _check_text(entry: Mapping[str, Any], index: int) -> None:
    if digest_text(entry["text"]) != entry["digest"] and _proved(entry) is None:
        raise AuditError(
            f"Record {index}: the text of claim {entry['id']!r:.80} does not give its digest.",
            step=STEP,
        )


def _claim(entry: Mapping[str, Any], index: int) -> Claim | None:
    """The claim of the entry's JSON; None if the log holds its text alone."""
    name = entry["id"]
    if (stated := _proved(entry)) is not None:
        return stated
    if "claim" not in entry:
        return None
    try:
        claim = Claim.from_json(entry["claim"])
    except SafegymError as error:
        raise AuditError(
            f"Record {index}: claim {name!r:.80} cannot be read: {error}", step=STEP
        ) from error
    if (claim.id, claim.canonical_text) != (name, entry["text"]):
        raise AuditError(
            f"Record {index}: claim {name!r:.80} states another thing in JSON than in its text.",
            step=STEP,
        )
    return claim


def _proved(entry: Mapping[str, Any]) -> Claim | None:
    """The claim, where a proof's log registered it: its statement as text, the claim's digest."""
    if "claim" not in entry or digest_text(entry["text"]) == entry["digest"]:
        return None
    try:
        claim = Claim.from_json(entry["claim"])
    except SafegymError:
        return None
    given = (claim.id, str(claim.statement), claim.digest)
    return claim if given == (entry["id"], entry["text"], entry["digest"]) else None


def _statement(canonical: str) -> str:
    """The statement line of a canonical text, or all of it."""
    for line in canonical.splitlines():
        if line.startswith("statement: "):
            return line.removeprefix("statement: ")
    return canonical


def _threshold(item: Mapping[str, Any], claim: Claim | None) -> float | None:
    """The threshold in the claim's own terms; the plan holds the failure probability."""
    stated = text(item, "threshold")
    if not stated:
        return None
    if claim is not None and isinstance(claim.statement, QuantileBound):
        return claim.statement.q
    if claim is not None and isinstance(claim.statement, ProbBound | ConditionalBound | MeanBound):
        return claim.statement.threshold
    try:
        return float(1 - Fraction(stated))
    except (ValueError, ZeroDivisionError) as error:
        raise AuditError(f"A threshold is {stated!r:.60}, not a number.", step="report") from error


def _check_obligation(
    claim: Claim | None, item: Mapping[str, Any], threshold: float | None, lifted: bool
) -> None:
    """What the plan asks must be what the claim states."""
    if claim is None:
        return
    kind = text(item, "kind")
    bound = _asked(claim)
    if bound is not None:
        fits = (kind, lifted, text(item, "threshold")) == (claim.kind, False, str(bound))
    elif kind == "invariant":
        fits = threshold is None and not lifted
    else:
        fits = kind == "probability" and lifted and threshold is not None
    if not fits:
        raise AuditError(
            f"The plan asks another thing of claim {claim.id} than the claim states.", step=STEP
        )


def _asked(claim: Claim) -> Fraction | None:
    """The exact threshold that the claim's own statement sets, None for one on every episode."""
    statement = claim.statement
    if isinstance(statement, QuantileBound):
        return Fraction(statement.q)
    if isinstance(statement, MeanBound):
        return Fraction(statement.threshold)
    if isinstance(statement, ProbBound | ConditionalBound):
        failing = Fraction(statement.threshold)
        return failing if statement.below else 1 - failing
    return None


def findings(spec: AuditRecord) -> list[Finding] | None:
    """The specification check's answers; None if the log does not say that it ran."""
    if "specification" not in spec.payload:
        return None
    found: list[Finding] = []
    for entry in items(spec.payload, "specification"):
        item = table({"entry": entry}, "entry")
        found.append(
            Finding(
                question=text(item, "question"),
                claims=tuple(str(name) for name in items(item, "claims")),
                status=text(item, "status"),
                answer=text(item, "answer"),
                detail=text(item, "detail"),
            )
        )
    return found
