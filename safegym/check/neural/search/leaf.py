"""Last resort for a box: z3 on the exact problem of that cell.

Bounds end at their own rounding: a property that holds with no margin at all is never closed by
them. Where few entries bend in a box and its bound is next to 0, or the box has been split very
often, the cell's exact problem is small. A leaf that z3 closed is marked, for no certificate can
hold it.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.problem import Problem
from safegym.check.neural.search.frontier import Boxes, Integers
from safegym.check.neural.search.rows import Array
from safegym.errors import UnsupportedError

Answer = Literal["holds", "fails", "unknown"]
_CLOSE = 1e-9  # a bound this near to 0 is held up by rounding alone
_DEEP = 40  # splits
_FEW, _FEWER = 16, 6  # entries that bend: for a close box, for a deep one
_SECONDS = 2.0
_CALLS = 8  # a chunk
_PATIENCE = 24  # answers that were of no use before it is given up


@dataclass(slots=True)
class LeafSolver:
    """Asks z3 about single boxes of one problem; `useless` counts answers that closed nothing."""

    problem: Problem
    useless: int = 0

    def worth(self, boxes: Boxes, unstable: Integers) -> NDArray[np.intp]:
        """Places of boxes that are worth asking about, the nearest to a proof first."""
        if self.useless >= _PATIENCE:
            return np.zeros(0, dtype=np.intp)
        close = (boxes.worst > -_CLOSE) & (unstable <= _FEW)
        close &= self.problem.semantics == "real"
        deep = (boxes.depth >= _DEEP) & (unstable <= _FEWER)
        at = np.flatnonzero(close | deep)
        return at[np.argsort(-boxes.worst[at], kind="stable")][:_CALLS]

    def ask(self, low: Array, high: Array, seconds: float) -> tuple[Answer, Array | None]:
        """Whether every clause holds on a box (n,), (n,); a point where one may not.

        seconds: what is left of the search's time.
        """
        if seconds <= 0.0:
            return "unknown", None
        from safegym.check.symbolic.cell import solve_problem

        try:
            answer = solve_problem(self.problem, low, high, timeout=min(_SECONDS, seconds))
        except UnsupportedError:  # no z3 here
            self.useless = _PATIENCE
            return "unknown", None
        if answer.word == "unsat":
            return "holds", None
        self.useless += 1
        if answer.word == "sat" and answer.point is not None:
            return "fails", np.array([float(value) for value in answer.point])
        return "unknown", None
