"""What a run writes down before its first episode: claims, scenario, plan."""

from collections.abc import Mapping, Sequence
from typing import Any

from safegym.audit.log import AuditLog
from safegym.check.statistics.levels import spent_level
from safegym.check.statistics.planning import certification_plan
from safegym.gate.obligation import Obligation
from safegym.gate.plan import GatePlan
from safegym.gate.setting import Setting, versions

MEANING = (
    "this procedure releases a policy whose failure probability is at or above a claim's threshold "
    "in at most that claim's level of all runs; it is not the probability that a released policy "
    "is unsafe"
)


def register(
    log: AuditLog,
    setting: Setting,
    *,
    settings: Mapping[str, Any] | None = None,
    findings: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Append the records that fix what the run may claim, and sign a checkpoint over them.

    settings: hyperparameters of the training. findings: of the specification check.
    """
    log.append(
        "spec_registered",
        {
            "claims": [
                {
                    "id": claim.id,
                    "text": claim.canonical_text,
                    "digest": claim.digest,
                    "claim": claim.to_json(),
                }
                for claim in setting.claims
            ],
            "digest": setting.claims_digest,
            "specification": [dict(finding) for finding in findings],
        },
    )
    spec = setting.spec
    log.append(
        "scenario_registered",
        {
            "name": spec.name,
            "digest": spec.digest,
            "dt": str(spec.clock.dt),
            "horizon": spec.horizon,
            "tail": setting.tail,
            "signals": [signal.name for signal in spec.signals],
            "versions": versions(),
        },
    )
    training = {} if settings is None else {"training": dict(settings)}
    log.append("plan_registered", {**plan_json(setting), **training})
    log.checkpoint()


def plan_json(setting: Setting) -> dict[str, Any]:
    """The plan as logged: every number that decides, and how many clean episodes it asks for."""
    return {
        "plan": setting.plan.to_json(),
        "digest": setting.plan.digest,
        "claims_digest": setting.claims_digest,
        "terms_digest": setting.terms_digest,
        "scenario_digest": setting.spec.digest,
        "obligations": [obligation_json(item, setting.plan) for item in setting.obligations],
        "spending": "level * 6 / (pi^2 j^2) at attempt j",
        "release_level": max(i.level for i in setting.obligations if i.threshold is not None),
        "meaning": MEANING,
    }


def obligation_json(item: Obligation, plan: GatePlan) -> dict[str, Any]:
    """An obligation as the log registers it, with what its first attempt will take."""
    data: dict[str, Any] = {
        "claim": item.claim.id,
        "claim_digest": item.claim.digest,
        "kind": item.kind,
        "threshold": None,
        "level": item.level,
        "lifted": item.lifted,
    }
    if item.threshold is not None:
        first = certification_plan(item.threshold, spent_level(item.level, 1), cap=plan.cap)
        data["threshold"] = str(item.threshold)
        data["attempt_1"] = first.text()
    return data
