"""Certify one policy on one scenario, outside of training."""

from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import Any

from safegym.audit.log import AuditLog
from safegym.check.statistics.ledger import AttemptLedger
from safegym.gate.attempt import Attempt, Certifier, attempt_number
from safegym.gate.events import Listener, ignore
from safegym.gate.freezing import record_frozen, refuse_unfrozen
from safegym.gate.offered import refuse_unfit
from safegym.gate.plan import Display, Gate, GatePlan
from safegym.gate.registration import register
from safegym.gate.setting import Setting, make_setting
from safegym.gate.specification import refuse_hopeless
from safegym.gate.strata import Strata
from safegym.policy.base import Policy, as_policy
from safegym.scenario.campaign import EngineName
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec
from safegym.verdict import Evidence


def certify(
    scenario: str | ScenarioSpec,
    policy: Any,
    *,
    claims: Any = None,
    budget: int = 3_000,
    plan: GatePlan | None = None,
    out: str | Path | None = None,
    display: Display | None = None,
    strata: Strata | None = None,
    workers: int = 1,
    engine: EngineName | None = None,
    episode_seconds: float | None = None,
    listener: Listener = ignore,
) -> tuple[Evidence, ...]:
    """Evidence on each claim from at most `budget` fresh episodes of `policy`.

    claims: claims to certify, None for the scenario's own. plan: everything else that decides;
    its cap is replaced by `budget`, and its display and strata by those given here. out: folder
    for the audit trail, None for none. workers, engine, episode_seconds: who runs the episodes,
    and how long one may take. The attempt is entered in the user's ledger either way and spends
    its level. Evidence that was not released says in `joint` how it stands.
    Raises PolicyError where the policy cannot be frozen, GateError where nothing is certifiable.
    """
    setting = certification_setting(
        scenario,
        claims=claims,
        budget=budget,
        plan=plan,
        display=display,
        strata=strata,
        workers=workers,
        engine=engine,
        episode_seconds=episode_seconds,
    )
    return certify_setting(setting, as_policy(policy), out=out, listener=listener).evidence


def certification_setting(
    scenario: str | ScenarioSpec,
    *,
    claims: Any = None,
    budget: int = 3_000,
    plan: GatePlan | None = None,
    display: Display | None = None,
    strata: Strata | None = None,
    workers: int = 1,
    engine: EngineName | None = None,
    episode_seconds: float | None = None,
) -> Setting:
    """The setting of a certification without training."""
    spec = find(scenario) if isinstance(scenario, str) else scenario
    base = plan or GatePlan()
    base.refuse_older()
    fixed = replace(base, cap=budget, display=display or base.display, strata=strata or base.strata)
    gate = Gate(claims=claims, plan=fixed)
    return make_setting(spec, gate, workers=workers, engine=engine, episode_seconds=episode_seconds)


def certify_setting(
    setting: Setting,
    policy: Policy,
    *,
    out: str | Path | None = None,
    listener: Listener = ignore,
    trained: AbstractSet[int] = frozenset(),
) -> Attempt:
    """One attempt on `setting`, with its audit trail in `out` if given.

    trained: seeds that the policy has seen while it was made, which may not certify it.
    """
    refuse_unfrozen(policy, sampled=True)
    setting.rehearse(policy)
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest)
    refuse_hopeless(setting, attempt_number(ledger, policy.card.digest, setting))
    if out is None:
        return Certifier(setting, ledger, listener=listener, trained=trained).attempt(policy)
    with AuditLog.create(out) as log:
        register(log, setting)
        record_frozen(log, policy, 0, sampled=True)
        traces = log.folder / "traces"
        attempt = Certifier(setting, ledger, log, traces, listener, trained).attempt(policy)
        log_decision(log, attempt)
        log.close(attempt.outcome)
    return attempt


def log_decision(log: AuditLog, attempt: Attempt) -> None:
    """Append what follows from an attempt outside of training.

    Raises GateError for evidence on which nothing may be released.
    """
    refuse_unfit(attempt.evidence)
    certified = attempt.outcome == "certified"
    decision = log.append(
        "gate_decision",
        {
            "action": "promote" if certified else "hold",
            "epoch": 0,
            "policy": attempt.policy_digest,
            "reasons": [f"attempt {attempt.number} {attempt.outcome}", *attempt.reasons],
            "rests_on": list(attempt.references),
        },
    )
    if certified:
        payload = {"policy": attempt.policy_digest, "rests_on": [decision.reference()]}
        log.append("promotion", payload)
