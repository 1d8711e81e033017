"""What every way of judging one trace offers."""

from typing import Protocol

from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.trace.model import Trace
from safegym.verdict import Support, Verdict


class Backend(Protocol):
    """A judge of single traces. `support` is asked first; a refusal is never a verdict."""

    @property
    def name(self) -> str:
        """The word that `check(..., backend=...)` takes."""
        ...

    def support(self, subject: Formula | Claim, /) -> Support:
        """Returns whether this backend can judge the formula or claim, and if not why."""
        ...

    def check(self, subject: Formula | Claim, trace: Trace, /, *, exact: bool = False) -> Verdict:
        """Returns the verdict on the episode property.

        exact: decide over all values that unseen samples could have, where the backend can; such
        an answer may only refine an inconclusive one.
        """
        ...
