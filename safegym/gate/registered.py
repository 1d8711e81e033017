"""Reading back what a run registered: its claims, its scenario, its plan."""

from collections.abc import Iterable

from safegym.audit.record import AuditRecord
from safegym.errors import RunFolderError
from safegym.formula.claim import Claim
from safegym.gate.plan import Gate, GatePlan


def _first(records: Iterable[AuditRecord], kind: str) -> AuditRecord:
    for record in records:
        if record.kind == kind:
            return record
    raise RunFolderError(f"The log holds no {kind} record, so no training began; start a new run.")


def scenario_of(records: Iterable[AuditRecord]) -> str:
    """Name of the run's scenario."""
    return str(_first(records, "scenario_registered").payload["name"])


def claims_of(records: Iterable[AuditRecord]) -> tuple[Claim, ...]:
    """The run's claims, rebuilt from their text and checked against their digests."""
    payload = _first(records, "spec_registered").payload
    return tuple(Claim.from_json(entry["claim"]) for entry in payload["claims"])


def gate_of(records: Iterable[AuditRecord]) -> Gate:
    """The run's gate: claims and plan."""
    kept = tuple(records)
    plan = GatePlan.from_json(_first(kept, "plan_registered").payload["plan"])
    return Gate(claims=claims_of(kept), plan=plan)
