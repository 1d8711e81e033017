"""Robustness with gradients, through torch: a loss, or a shaping term. Loads torch."""

from safegym.check.gradient.monitor import DifferentiableMonitor, Margins, robustness
from safegym.check.gradient.support import support

__all__ = ["DifferentiableMonitor", "Margins", "robustness", "support"]
