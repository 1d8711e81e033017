"""What the monitor can judge, asked before any work."""

from fractions import Fraction
from math import gcd

from safegym.check.monitor.plan import Plan, plan_of
from safegym.check.monitor.stream.assemble import assemble
from safegym.check.monitor.stream.scope import can_be_streamed
from safegym.check.monitor.subject import check_subject, property_of
from safegym.errors import FormulaError, UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.expression import short
from safegym.formula.interning import postorder
from safegym.formula.nodes import Formula
from safegym.formula.rewrite import nnf
from safegym.formula.windows import Window
from safegym.rational import Exact
from safegym.trace.clock import Clock
from safegym.verdict import Support

FINER = 1_000_000
"""How much finer a second grid is, where no clock is given."""

OF_A_MEAN = (
    "A mean over episodes is judged by statistics over many, not on one trace. "
    "safegym.check.monitor.measure(claim, trace) gives the share of this episode's samples; for a "
    "limit on each episode state fraction(f) >= c."
)


def support(
    subject: Formula | Claim,
    online: bool = False,
    horizon: int | None = None,
    dt: Exact | None = None,
) -> Support:
    """Returns whether the monitor can judge one trace on this: every formula, but no mean.

    Of a claim about a probability or a quantile, its episode property is judged, and of
    `prob(A, given=B)` offline whether B held; online, B is a formula to monitor by itself.
    tight: offline intervals are the semantics' own, always. online=True asks instead whether a
    `Monitor` with this horizon (in steps) and dt (seconds) tells the offline answer on every
    prefix taken as interrupted, or an interval around it; `reason` then says why, or what it
    costs. Without dt, the answer holds for every clock that the windows fit.
    """
    check_subject(subject)
    if isinstance(subject, Claim) and subject.kind == "mean":
        return Support(
            ok=False,
            reason=OF_A_MEAN,
            subformula=str(subject.statement),
        )
    formula, _, _ = property_of(subject)
    try:
        nnf(formula)
    except (FormulaError, UnsupportedError) as error:
        return Support(ok=False, reason=str(error), subformula=short(formula))
    return _online(subject, horizon, dt) if online else Support(ok=True)


def _online(subject: Formula | Claim, horizon: int | None, dt: Exact | None) -> Support:
    formula, rounding, _ = property_of(subject)
    steps = [Clock.parse(dt).dt] if dt is not None else _grids(formula)
    plans = [plan_of(formula, step, rounding) for step in steps]
    if not can_be_streamed(plans[0]):
        return Support(
            ok=True,
            reason="An unbounded future operator stands inside another temporal one, so the "
            "whole episode is kept and an update costs as much as it is long.",
        )
    if all(_tight(plan, horizon) for plan in plans):
        return Support(ok=True)
    return Support(
        ok=True,
        reason="While windows are open, `episode` is an interval around the offline answer; "
        "Monitor(..., exact=True) tells that, at the cost of evaluating the windows afresh.",
        tight=False,
    )


def _tight(plan: Plan, horizon: int | None) -> bool:
    return assemble(plan, 1, horizon).tight


def _grids(formula: Formula) -> list[Fraction]:
    """The coarsest clock that the windows fit, and a much finer one.

    What is compared are sums of windows and of single samples, so what is the same on both is the
    same on every clock between, and on any finer one.
    """
    windows = [part for part in postorder(formula) for part in part.fields if _is_window(part)]
    bounds = [bound for window in windows for bound in (window.lo, window.hi) if bound]
    common = 1
    for bound in bounds:
        common = common * bound.denominator // gcd(common, bound.denominator)
    step = Fraction(gcd(*(int(bound * common) for bound in bounds)) or 1, common)
    return [step, step / FINER]


def _is_window(part: object) -> bool:
    return isinstance(part, Window)
