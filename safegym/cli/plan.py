"""How the plan of a certification is printed."""

from typing import TYPE_CHECKING

from safegym.cli.console import out, plain_table, shown

if TYPE_CHECKING:
    from safegym.gate.planning import ClaimPlan, Planned


_WHAT = {
    "conditional": "fails under its condition with p <",
    "quantile": "misses its margin with p <",
}


def show_plan(plan: "Planned") -> None:
    """What each claim takes, and how long it would be."""
    table = plain_table(f"{plan.scenario}: plan of attempt {plan.attempt}, nothing spent")
    for heading in ("claim", "asks", "level", "if none fails", "failures allowed at the cap"):
        table.add_column(heading, overflow="fold")
    for claim in plan.claims:
        table.add_row(*_cells(claim, plan.cap))
    out.print(table)
    _show_chances(plan)
    out.print(_time(plan), soft_wrap=True)
    if not plan.feasible:
        out.print(
            f"The cap of {plan.cap} is too small: even a clean run needs {plan.clean}. Allow them: "
            f"--budget {plan.clean}",
            soft_wrap=True,
        )


def _cells(claim: "ClaimPlan", cap: int) -> tuple[str, str, str, str, str]:
    if claim.threshold is None or claim.level is None:
        return shown(claim.claim_id), "no violation seen", "", "observed only", "0"
    what = _WHAT.get(claim.kind, "fails with p <")
    if claim.kind == "mean":
        what = "mean <" if claim.below else "mean >"
    clean = f"{claim.clean} episodes" + ("" if claim.clean <= cap else ", beyond the cap")
    most = "" if claim.allowed is None else str(max(claim.allowed, 0))
    asks = f"{what} {claim.threshold:.6g}"
    return shown(claim.claim_id), asks, _level(claim.level), clean, most


def _level(level: float) -> str:
    from safegym.check.statistics.exact import shown as rounded

    return rounded(level, 4, up=True)


def _show_chances(plan: "Planned") -> None:
    rows = [(claim, chance) for claim in plan.claims for chance in claim.chances]
    if not rows:
        return
    how = "exact" if plan.look == 1 else "as if looked at after every episode"
    table = plain_table(f"if an episode fails with probability p ({how}, each claim alone)")
    for heading in ("claim", "p", "is shown", "is refuted", "expected episodes", "minutes"):
        table.add_column(heading, overflow="fold")
    for claim, chance in rows:
        minutes = plan.minutes(chance.episodes)
        table.add_row(
            shown(claim.claim_id),
            f"{chance.p:g}",
            _percent(chance.shown),
            _percent(chance.refuted),
            f"{chance.episodes:.0f}",
            "" if minutes is None else _minutes(minutes),
        )
    out.print(table)


def _percent(share: float) -> str:
    """A chance in per cent, cut (not rounded) to one decimal."""
    return f"{int(share * 1000) / 10:.1f} %"


def _time(plan: "Planned") -> str:
    clean = f"all claims together: {plan.clean} episodes if none fails, at most {plan.cap}"
    if not plan.feasible:
        return clean
    if plan.rate is None:
        return f"{clean}; name a policy to have its speed measured"
    short, long = (_minutes(plan.minutes(n) or 0.0) for n in (plan.clean, plan.cap))
    span = short if short == long else f"{short} to {long}"
    rate = f"{plan.rate:.0f}" if plan.rate >= 100.0 else f"{plan.rate:.3g}"
    return (
        f"{clean}; {span} minutes at {rate} episodes/s "
        f"(policy {shown(plan.policy)}, {plan.timed} episodes timed now)"
    )


def _minutes(minutes: float) -> str:
    return f"{minutes:.1f}" if minutes >= 0.1 else "under 0.1"
