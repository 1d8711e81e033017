"""Margins with gradients against the monitor's: the same bits, or within the stated bound.

exp, sin and cos are torch's own there and numpy's here, so they may differ in their last bits.
"""

from importlib import import_module
from typing import Any

import numpy as np

from safegym.check.matrix.probes import Probe, trace_of
from safegym.check.matrix.refusal import Answer, MatrixError, over_kinds
from safegym.check.monitor import robustness
from safegym.trace.model import EndKind

TEMPERATURE = 0.05
ROUNDING = 1e-12


def exact(probe: Probe) -> Answer:
    """Exact margins: bit for bit the monitor's, with finite slopes."""
    return _asked(probe, None)


def smooth(probe: Probe) -> Answer:
    """Smooth margins: never on the wrong side of the exact ones, never further than the bound."""
    return _asked(probe, TEMPERATURE)


def _asked(probe: Probe, temperature: float | None) -> Answer:
    gradient: Any = import_module("safegym.check.gradient")  # loads torch
    recorded: Any = import_module("safegym.check.gradient.recorded").recorded

    def run(kind: EndKind) -> None:
        trace = trace_of(kind)
        found = recorded(probe.subject, trace, smooth=temperature)
        low, high = robustness(probe.subject, trace)
        where = f"{probe.name}, {kind}"
        if not all(np.isfinite(slope).all() for slope in found.slopes.values()):
            raise MatrixError(f"A gradient is not finite: {where}.")
        if temperature is None:
            units = 4 if probe.name in ("exp", "sin", "cos") else 0
            if not (_same(found.lo, low, units) and _same(found.hi, high, units)):
                raise MatrixError(f"torch's margins are not the monitor's: {where}.")
        elif not (_within(low, found.lo, found.bound) and _within(found.hi, high, found.bound)):
            raise MatrixError(f"Smooth margins are not within their bound: {where}.")

    return over_kinds(probe, gradient.support(probe.subject), run)


def _same(found: Any, wanted: Any, units: int) -> bool:
    """Whether all are equal, to `units` in the last place."""
    room = units * np.spacing(np.where(np.isfinite(wanted), np.abs(wanted), 1.0))
    with np.errstate(invalid="ignore"):
        return bool(((found == wanted) | (np.abs(found - wanted) <= room)).all())


def _within(upper: Any, lower: Any, bound: float) -> bool:
    """Whether lower <= upper <= lower + bound at every sample, equal infinities included."""
    same = upper == lower
    with np.errstate(invalid="ignore"):
        gap = upper - lower
    return bool((same | ((gap >= -ROUNDING) & (gap <= bound + ROUNDING))).all())
