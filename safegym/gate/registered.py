"""Reading back what a run registered: its claims, scenario, plan, and baselines."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from safegym.audit.record import AuditRecord
from safegym.errors import GateError, RunFolderError
from safegym.formula.claim import Claim
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.screen import Screen
from safegym.scenario.spec import ScenarioSpec


def _first(records: Iterable[AuditRecord], kind: str) -> AuditRecord:
    for record in records:
        if record.kind == kind:
            return record
    raise RunFolderError(
        f"The log holds no {kind} record, so nothing was run yet and nothing is lost: delete the "
        "run folder or choose another, and start again with --out."
    )


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


def training_of(records: Iterable[AuditRecord], folder: Path) -> Mapping[str, Any]:
    """The run's hyperparameters, as registered. Raises RunFolderError if it is no training."""
    settings = _first(records, "plan_registered").payload.get("training")
    if not isinstance(settings, dict):
        raise RunFolderError(
            f"{folder} holds a certification, which is not resumed; certify again into another "
            "folder, and the attempt keeps its number and its episodes."
        )
    return settings


def check_settings(records: Iterable[AuditRecord], folder: Path, stored: Mapping[str, Any]) -> None:
    """Raises GateError unless the run folder's hyperparameters are those that were registered."""
    registered = training_of(records, folder)
    odd = sorted(k for k in {*registered, *stored} if registered.get(k) != stored.get(k))
    if odd:
        raise GateError(
            f"The run was registered with {odd[0]}={registered.get(odd[0])!r:.60}, and its folder "
            f"says {odd[0]}={stored.get(odd[0])!r:.60}; a run keeps its settings. Put its "
            "training.json back as the run wrote it, or start a new run with other settings."
        )


def check_promotion(records: Iterable[AuditRecord], policy_digest: str) -> None:
    """Raises GateError unless the log tells that this policy was promoted."""
    promoted = [r.payload["policy"] for r in records if r.kind == "promotion"]
    if policy_digest not in promoted:
        raise GateError(
            f"The run folder says that {policy_digest} was promoted, and its log holds no such "
            "promotion, so it is not released. Put decision.json and last.json back as the run "
            "wrote them, or start a new run."
        )


def registered_size(records: Iterable[AuditRecord]) -> int:
    """How many records the registration takes."""
    return _first(records, "plan_registered").index + 1


def check_scenario(records: Iterable[AuditRecord], spec: ScenarioSpec) -> None:
    """Raises GateError unless the scenario is the one that was registered."""
    payload = _first(records, "scenario_registered").payload
    if payload["digest"] != spec.digest:
        raise GateError(
            f"The run was registered on {payload['name']} ({payload['digest']}), which now is "
            f"{spec.digest}; its code, assets or physics changed. Start a new run."
        )


def baselines_of(records: Iterable[AuditRecord], plan: GatePlan) -> dict[str, Screen]:
    """Screens of the scripted baselines, by name, as the log tells them."""
    found: dict[str, list[AuditRecord]] = {}
    for record in records:
        label = record.payload.get("label") if record.kind == "evidence" else None
        if label:
            found.setdefault(label, []).append(record)
    return {label: _screen(items, plan) for label, items in found.items()}


def _screen(items: list[AuditRecord], plan: GatePlan) -> Screen:
    payloads = [item.payload for item in items]
    return Screen(
        epoch=payloads[0]["epoch"],
        policy_digest=payloads[0]["policy"],
        passed=all(payload["screen"] == "passed" for payload in payloads),
        degraded=any(payload["degraded"] for payload in payloads),
        episodes=payloads[0]["episodes"],
        violations={payload["claim_id"]: payload["violations"] for payload in payloads},
        undecided={payload["claim_id"]: payload["undecided"] for payload in payloads},
        excess=max(_excess(payload, plan) for payload in payloads),
        references=tuple(item.reference() for item in items),
    )


def _excess(payload: Mapping[str, Any], plan: GatePlan) -> float:
    share = (payload["violations"] + payload["undecided"]) / max(1, payload["episodes"])
    return float(share * plan.screen_episodes / max(1, payload["allowed"]))
