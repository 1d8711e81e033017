"""What the monitor can judge, asked before any work."""

from safegym.check.monitor.subject import check_subject
from safegym.errors import FormulaError, UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.expression import short
from safegym.formula.nodes import Formula
from safegym.formula.rewrite import nnf
from safegym.verdict import Support


def support(subject: Formula | Claim) -> Support:
    """Returns whether the monitor can judge one trace on this: every formula, but no mean.

    tight is True throughout: offline intervals are the semantics' own, and online `episode`
    values equal them on every prefix.
    """
    check_subject(subject)
    if isinstance(subject, Claim):
        if subject.kind == "mean":
            return Support(
                ok=False,
                reason="A mean over episodes is judged by statistics on fraction(...) of each "
                "episode, not on one trace.",
                subformula=str(subject.statement),
            )
        subject = subject.property
    try:
        nnf(subject)
    except (FormulaError, UnsupportedError) as error:
        return Support(ok=False, reason=str(error), subformula=short(subject))
    return Support(ok=True)
