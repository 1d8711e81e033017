"""What has margins with gradients, asked before any work."""

from safegym.check.monitor.plan import Plan
from safegym.check.monitor.support import support as monitor_support
from safegym.formula.claim import Claim
from safegym.formula.expression import short
from safegym.formula.nodes import Formula, Fraction
from safegym.formula.rewrite import margin_scale, nnf
from safegym.verdict import Support


def support(subject: Formula | Claim) -> Support:
    """Returns whether there are gradients: for every formula whose margins compare, but no share.

    Of a claim, its episode property counts.
    """
    found = monitor_support(subject)
    if not found.ok:
        return found
    formula = nnf(subject.property if isinstance(subject, Claim) else subject)
    reason = _share(formula) if isinstance(formula, Fraction) else _mixed(formula)
    return Support(not reason, reason, short(formula) if reason else "")


def refusal_of(plan: Plan) -> str:
    """Returns why a plan's margins have no gradient; empty where they have."""
    if isinstance(plan.formula, Fraction):
        return _share(plan.formula)
    return f"No margins for `{short(plan.formula)}`: {plan.refusal}" if plan.refusal else ""


def _mixed(formula: Formula) -> str:
    scale = margin_scale(formula)
    return "" if scale.ok else f"No margins for `{short(formula)}`: {scale.reason}"


def _share(formula: Fraction) -> str:
    return (
        f"`{short(formula)}` bounds a share of samples, which moves in steps and has no slope. "
        f"Take the margins of `{short(formula.argument)}` and a soft share that is never above "
        "the true one: lo, hi = robustness(argument, ...); (lo / 0.1).clamp(0, 1).mean(-1)."
    )
