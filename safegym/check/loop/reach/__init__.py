"""Reach sets of closed loops, and claims over time proved on them."""

from safegym.check.loop.reach.prove import prove_reach
from safegym.check.loop.reach.tube import Tube, reach

__all__ = ["Tube", "prove_reach", "reach"]
