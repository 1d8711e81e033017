"""Margins and gradients of a recorded trace, as arrays: torch put to what the monitor judges."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from safegym.check.gradient.monitor import DifferentiableMonitor
from safegym.check.monitor.intake import taken
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.trace.model import Trace


@dataclass(frozen=True, slots=True)
class RecordedMargins:
    """lo, hi: float64 (T+1,). bound: how far each may be from the exact one.

    slopes: the gradient of the finite ones of lo and hi, summed, at each signal that is read.
    """

    lo: NDArray[np.float64]
    hi: NDArray[np.float64]
    bound: float
    slopes: dict[str, NDArray[np.float64]]


def recorded(
    subject: Formula | Claim, trace: Trace, *, smooth: float | None = None
) -> RecordedMargins:
    """Returns the margins of a trace at all samples, with their gradients, in float64.

    smooth: the temperature, None for exact margins. The trace's gaps count as unknown, its signals
    in the units that the formula reads. Raises what `DifferentiableMonitor` raises, and UnitError.
    """
    monitor = DifferentiableMonitor(subject, trace.clock.dt, trace.end.kind, trace.horizon, smooth)
    arrays = taken(monitor.plan.signals, trace) or trace.signals
    signals = {
        name: torch.tensor(np.array(values), dtype=torch.float64, requires_grad=True)
        for name, values in arrays.items()
    }
    gaps = {name: trace.unseen[name] for name in signals if name in trace.unseen}
    margins = monitor(signals, gaps)
    whole: Any = sum(side[torch.isfinite(side)].sum() for side in margins)
    if whole.requires_grad:
        whole.backward()
    slopes = {name: each.grad.numpy() for name, each in signals.items() if each.grad is not None}
    lo, hi = (side.detach().numpy() for side in margins)
    return RecordedMargins(lo, hi, margins.bound, slopes)
