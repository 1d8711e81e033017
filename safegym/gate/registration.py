"""What a run writes down before its first episode: claims, scenario, plan."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from safegym.audit.log import AuditLog
from safegym.check.statistics.exact import shown
from safegym.check.statistics.levels import spent_level
from safegym.check.statistics.planning import certification_plan
from safegym.gate.counts import make_count
from safegym.gate.kept_files import kept_files
from safegym.gate.obligation import Obligation
from safegym.gate.plan import GatePlan
from safegym.gate.setting import Setting, versions

MEANING = (
    "this procedure releases a policy whose failure probability is at or above a claim's threshold "
    "in at most that claim's level of all runs; it is not the probability that a released policy "
    "is unsafe"
)

SEEDS = "SeedSequence(SHA-256(root, policy, scenario, claims), (stream, attempt, index))"
PROMISES = {"spending": "level * 6 / (pi^2 j^2) at attempt j", "meaning": MEANING}
"""What every plan says of its figures."""
REPEATS = "of a certified attempt the first, the last, and by their seeds 1 in 100, at least 3"


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
            **kept_files(log, spec),
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
        **registered_json(setting.obligations, setting.plan),
        **PROMISES,
    }


def registered_json(items: Sequence[Obligation], plan: GatePlan) -> dict[str, Any]:
    """What of the registration follows from claims and plan, under the plan's version."""
    data: dict[str, Any] = {
        "obligations": [obligation_json(item, plan) for item in items],
        "release_level": max(i.level for i in items if i.threshold is not None),
    }
    if plan.version == 1:
        return data
    return {
        **data,
        "cap": plan.episodes,
        "look": plan.look,
        "display": plan.display,
        "seeds": {"root": str(plan.seed), "rule": SEEDS},
        "repeats": {"at_most": plan.repeats, "rule": REPEATS},
        "strata": None if plan.strata is None else plan.strata.to_json(),
    }


def obligation_json(item: Obligation, plan: GatePlan) -> dict[str, Any]:
    """An obligation as the log registers it, with what its first attempt will take.

    Since version 2 also the level of every attempt that the plan allows.
    """
    data: dict[str, Any] = {
        "claim": item.claim.id,
        "claim_digest": item.claim.digest,
        "kind": item.kind,
        "threshold": None,
        "level": item.level,
        "lifted": item.lifted,
    }
    if item.threshold is None:
        return data
    first = spent_level(item.level, 1)
    data["threshold"] = str(item.threshold)
    if item.kind == "mean":
        data["attempt_1"] = mean_text(item, first)
    else:
        data["attempt_1"] = attempt_text(item.threshold, first, plan)
    if plan.version > 1:
        data["below"] = item.below
        data["levels"] = [spent_level(item.level, j) for j in range(1, plan.attempts + 1)]
    return data


def attempt_text(threshold: Fraction, level: float, plan: GatePlan) -> str:
    """What a claim about a probability takes at that level, in a line.

    Old logs are derived again by their words, so these stay as they are under each version.
    """
    found = certification_plan(threshold, level, cap=plan.cap)
    told = f"{level:.4g}" if plan.version == 1 else shown(level, 4, up=True)
    head = (
        f"p < {float(threshold):.6g} at level {told}: {found.episodes_when_clean} episodes when "
        "none fails"
    )
    if not found.feasible:
        return f"{head}; the cap of {plan.cap} is too small: no run can pass"
    return f"{head}, at most {found.violations_allowed} failures in the cap of {plan.cap}"


def mean_text(item: Obligation, level: float) -> str:
    """What a claim about a mean takes at that level, in a line."""
    sign = "<" if item.below else ">"
    needed = make_count(item, 1).first_clean
    return (
        f"mean {sign} {float(item.threshold or 0):.6g} at level {level:.4g}: {needed} episodes "
        "when each has the best share"
    )
