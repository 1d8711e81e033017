"""The door: an explanation of a verdict, or of a subject on a trace."""

from safegym.check.explanation.findings import find
from safegym.check.explanation.model import Explanation
from safegym.check.explanation.view import scene_of
from safegym.check.explanation.words import words_of
from safegym.check.monitor.judge import judge
from safegym.errors import TraceError
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.trace.model import Trace
from safegym.verdict import Verdict


def explain(subject: Formula | Claim, trace: Trace) -> Explanation:
    """Returns why the subject holds on the trace, fails or stays open; judges it first.

    Raises what judging raises: TraceError, FormulaError, UnsupportedError.
    """
    return explanation_of(judge(subject, trace), subject, trace)


def explanation_of(verdict: Verdict, subject: Formula | Claim, trace: Trace) -> Explanation:
    """Returns the explanation of a verdict that was given on this subject and trace.

    Raises TraceError for a trace that the verdict is not about.
    """
    if trace.digest != verdict.trace_digest:
        raise TraceError(
            f"The verdict is about trace {verdict.trace_digest[:19]}, the trace given is "
            f"{trace.digest[:19]}; write verdict.explain(trace) with the one that was judged."
        )
    found = find(verdict, subject, trace)
    words = words_of(found)
    return Explanation(verdict, words, scene_of(found, words))
