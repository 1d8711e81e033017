"""Certifying a policy where teachers taught, on all their claims."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from safegym.check.statistics.ledger import AttemptLedger
from safegym.errors import GateError, PolicyError
from safegym.formula.claim import Claim
from safegym.gate.certify import certification_setting, certify_setting
from safegym.gate.distill.events import CertificationBegan, CertificationEnded, Listener, ignore
from safegym.gate.distill.joint import Certified, Joint
from safegym.gate.freezing import refuse_unfrozen
from safegym.gate.plan import GatePlan
from safegym.gate.setting import Setting
from safegym.gate.specification import refuse_hopeless
from safegym.gate.ticket import attempt_number
from safegym.policy.base import Policy, as_policy
from safegym.scenario.campaign import EngineName
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec


def certify_jointly(
    scenarios: Iterable[str | ScenarioSpec],
    policy: object,
    *,
    claims: Sequence[Sequence[Claim] | None] | None = None,
    budget: int = 3_000,
    plan: GatePlan | None = None,
    out: str | Path | None = None,
    workers: int = 1,
    engine: EngineName | None = None,
    listener: Listener = ignore,
) -> Joint:
    """One policy certified on each scenario in turn: an attempt each, one joint result.

    claims: of each scenario in order, None for its own. budget: most episodes of one attempt.
    out: folder for the audit trails, one a scenario. Other arguments as in `safegym.certify`.
    All attempts are made, also after one has failed. Raises as `safegym.certify` does, before the
    first episode, where any of the scenarios could not be certified.
    """
    specs = _different(scenarios)
    asked = [None] * len(specs) if claims is None else list(claims)
    if not specs or len(asked) != len(specs):
        raise GateError(
            f"certify_jointly needs scenarios, and claims for each if any; found {len(specs)} "
            f"scenarios and {len(asked)} claim sets."
        )
    settings = [
        certification_setting(
            spec, claims=own, budget=budget, plan=plan, workers=workers, engine=engine
        )
        for spec, own in zip(specs, asked, strict=True)
    ]
    known = as_policy(policy)
    refuse_unfrozen(known)
    for setting in settings:
        setting.rehearse(known)
        ledger = AttemptLedger(setting.spec.digest, setting.claims_digest)
        refuse_hopeless(setting, attempt_number(ledger, known.card.digest, setting))
    return certify_settings(settings, known, "policy", out=out, listener=listener)


def _different(scenarios: Any) -> list[ScenarioSpec]:
    """Raises GateError unless it is a list of scenarios of which each has a name of its own."""
    given: list[Any] = [] if isinstance(scenarios, str) else list(scenarios)
    specs: list[Any] = [find(each) if isinstance(each, str) else each for each in given]
    named = {each.name for each in specs if isinstance(each, ScenarioSpec)}
    if len(named) < len(specs) or isinstance(scenarios, str):
        raise GateError(
            f"certify_jointly takes a list of different scenarios, each of its own name, found "
            f'{scenarios!r:.80}; write certify_jointly(["mobile/aisle-v0", ...], policy).'
        )
    return specs


def certify_settings(
    settings: Sequence[Setting],
    policy: Policy,
    whose: str,
    *,
    out: str | Path | None = None,
    listener: Listener = ignore,
    trained: Sequence[frozenset[int]] | None = None,
) -> Joint:
    """An attempt on each setting. trained: of each, seeds that the policy may have seen."""
    seen = [frozenset[int]()] * len(settings) if trained is None else trained
    parts = (
        _attempted(setting, policy, whose, out, listener, seeds)
        for setting, seeds in zip(settings, seen, strict=True)
    )
    return Joint(tuple(parts))


def certify_teacher(
    setting: Setting, policy: Policy, *, out: str | Path | None, listener: Listener
) -> Certified:
    """A teacher on its own scenario; "unfit" with the reason where no evidence could name it."""
    try:
        refuse_unfrozen(policy)
    except PolicyError as error:
        return Certified(setting.spec.name, policy.card.digest, "unfit", 0, (str(error),))
    return _attempted(setting, policy, "teacher", out, listener, frozenset())


def _attempted(
    setting: Setting,
    policy: Policy,
    whose: str,
    out: str | Path | None,
    listener: Listener,
    trained: frozenset[int],
) -> Certified:
    name = setting.spec.name
    folder = None if out is None else free_folder(Path(out), f"{name.replace('/', '-')}-{whose}")
    listener(CertificationBegan(whose, name))
    attempt = certify_setting(setting, policy, out=folder, listener=listener, trained=trained)
    found = Certified(
        name,
        attempt.policy_digest,
        attempt.outcome,
        attempt.number,
        attempt.reasons,
        attempt.evidence,
        "" if folder is None else str(folder),
    )
    listener(CertificationEnded(whose, found))
    return found


def free_folder(parent: Path, name: str) -> Path:
    """`parent/name`, or the first of name-2, name-3, ... that is not there yet: after a broken-off
    attempt its trail stays, and the attempt runs again into the next.
    """
    number = 1
    while True:
        folder = parent / (name if number == 1 else f"{name}-{number}")
        if not folder.exists():
            return folder
        number += 1
