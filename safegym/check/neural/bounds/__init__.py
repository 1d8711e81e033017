"""Sound bounds of a graph on boxes: intervals (IBP) and linear bounds (CROWN, DeepPoly).

`Bounds(graph, semantics)`, for batches of boxes (B, n):
- `.linear(low, high, outputs=None, upper=False, climb=0) -> LinearBounds`: back substitution, with
  the inner bounds of every node in `.inner`; `climb=1` searches better relu slopes for that output
  of each box that is nearest to positive (measured on ACAS Xu nets with bisection: up to a fifth
  more time a box, 1 to 60 % fewer boxes);
- `.best(low, high)`: lower bounds (B, m) from forward bounds inside, two to five times as fast;
- `.interval(low, high)`: forward bounds of every node.

Every number is outward: what rounding may lose is taken off, and with "deployed float32" what the
deployed program may round as well. An operation in float32 or float64 whose input is not held in
that format rounds it first. A square root whose argument may be negative has no bounds; nor has a
binary32 result that may overflow. Both give -inf and inf.
"""

from safegym.check.neural.bounds.engine import Bounds, LinearBounds

__all__ = ["Bounds", "LinearBounds"]
