"""Before anything runs: whether the claims can hold, say something, and can be certified."""

from typing import Any

from safegym.check.symbolic.specification import check_specification
from safegym.errors import GateError
from safegym.gate.recount import attempt_levels
from safegym.gate.setting import Setting

TIMEOUT = 10.0
"""Seconds a question."""


def hopeless(setting: Setting, attempt: int) -> str:
    """Why not even clean episodes could certify within the plan's cap, "" if they could.

    attempt: the number whose level would be spent. Later attempts take more still.
    """
    tally = setting.tally(attempt)
    needed = attempt_levels(tally)["clean_episodes_needed"]
    if needed <= tally.cap:
        return ""
    return (
        f"At most {tally.cap} episodes cannot certify: attempt {attempt} takes {needed} even if "
        f"none fails. Allow at least {needed}: GatePlan(cap={needed}) (train --cap {needed}, "
        f"certify --budget {needed})."
    )


def refuse_hopeless(setting: Setting, attempt: int) -> None:
    """Raise GateError where an attempt is `hopeless`. Asked before anything is spent."""
    why = hopeless(setting, attempt)
    if why:
        raise GateError(why)


def refuse_flawed(setting: Setting) -> tuple[dict[str, Any], ...]:
    """Findings of the specification check, for the log.

    Raises GateError where z3 shows that claims conflict, cannot hold, or hold whatever happens.
    A question that z3 does not answer in time is a finding, not a refusal.
    """
    spec = setting.spec
    report = check_specification(
        setting.claims,
        dt=spec.clock.dt,
        horizon=spec.horizon,
        timeout=TIMEOUT,
        thorough=False,
    )
    flaws = [finding for finding in report.findings if finding.status == "flawed"]
    if flaws:
        told = "; ".join(f"{', '.join(f.claims)}: {f.answer} ({f.detail})" for f in flaws)
        raise GateError(
            f"The claims of {spec.name} are flawed, so no training can satisfy the gate: {told}. "
            f"See `safegym claims check {spec.name}`."
        )
    return tuple(finding.to_json() for finding in report.findings)
