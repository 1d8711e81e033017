"""Judging traces: the monitor, z3, and the choice between them; statistics over verdicts.

The package is also what `safegym.check(formula, trace)` calls: Python binds a package's name in
its parent when it is imported, so the package itself answers to the promised function's name.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from safegym.check.dispatch import BackendName
    from safegym.formula.claim import Claim
    from safegym.formula.nodes import Formula
    from safegym.trace.model import Trace
    from safegym.verdict import Verdict


class _Check(ModuleType):
    """The package itself, callable as `dispatch.check`."""

    def __call__(
        self,
        subject: "Formula | Claim",
        trace: "Trace",
        backend: "BackendName" = "monitor",
        *,
        exact: bool = False,
    ) -> "Verdict":
        """Return the verdict on one trace; see `safegym.check.dispatch.check`."""
        from safegym.check.dispatch import check

        return check(subject, trace, backend, exact=exact)


sys.modules[__name__].__class__ = _Check
