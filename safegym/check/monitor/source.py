"""What a verdict keeps so that it can be explained later."""

from dataclasses import dataclass

from safegym.errors import UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.trace.model import Trace
from safegym.verdict import Explanation, Verdict


@dataclass(frozen=True, slots=True)
class Source:
    """The subject of a verdict, and its trace where that is kept; called, it explains."""

    subject: Formula | Claim
    trace: Trace | None = None

    def __call__(self, verdict: Verdict, trace: Trace | None, /) -> Explanation:
        """Returns the explanation.

        Raises TraceError for a trace that was not judged, UnsupportedError without any.
        """
        from safegym.check.explanation.explain import explanation_of

        seen = self.trace if trace is None else trace
        if seen is None:
            raise UnsupportedError(
                "This verdict does not keep its trace; write verdict.explain(trace) with the "
                "trace that was judged, or safegym.check(claim, trace).explain()."
            )
        return explanation_of(verdict, self.subject, seen)
