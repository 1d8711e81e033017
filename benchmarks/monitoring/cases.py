"""The formulas that every monitor is given, and the traces.

safegym, sentil and rtamt read the same text; mstlo has no `abs` and no unbounded operator, so its
G is a conjunction and its GF lacks the outer `always` (less work, in its favour).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Signals = dict[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Case:
    """One formula on traces of one length, windows in samples (dt = 1 s).

    rtamt_samples: how many of the samples rtamt gets, whose cost a sample does not depend on it;
    0: not run, a call would take minutes. alone: no rival is run, it was at fewer samples.
    """

    name: str
    text: str
    samples: int
    mstlo: str
    rtamt_samples: int = 0
    alone: bool = False


def bounded_always(name: str, window: int, samples: int, rtamt_samples: int = 0) -> Case:
    """G: the magnitude stays within 2.5 over the window."""
    return Case(
        name,
        f"always[0,{window}](abs(x) <= 2.5)",
        samples,
        f"G[0,{window}]((x <= 2.5) && (x >= -2.5))",
        rtamt_samples,
    )


def response(name: str, window: int, samples: int, rtamt_samples: int = 0) -> Case:
    """GF: each excursion of x is answered by y within the window."""
    return Case(
        name,
        f"always((x > 1) implies eventually[0,{window}](y < -1))",
        samples,
        f"(x > 1) -> F[0,{window}](y < -1)",
        rtamt_samples,
    )


def nested_until(name: str, window: int, samples: int, rtamt_samples: int = 0) -> Case:
    """UU: one bounded until inside another."""
    inner = f"(y > -2) until[0,{window}] (x > 1)"
    return Case(
        name,
        f"(x > -2) until[0,{window}] ({inner})",
        samples,
        f"(x > -2) U[0,{window}] ((y > -2) U[0,{window}] (x > 1))",
        rtamt_samples,
    )


G = bounded_always("G", 100_000, 1_000_000)
G_SHORT = bounded_always("G_T10", 10, 1_000_000, 20_000)
GF = response("GF", 1000, 100_000, 5_000)
UU_SHORT = nested_until("UU10", 10, 10_000, 2_000)
UU = nested_until("UU1000", 1000, 10_000)
BATCH = bounded_always("batch_G", 100, 1000)
LONG = (
    replace(GF, name="GF_n1e6", samples=1_000_000, alone=True),
    replace(UU_SHORT, name="UU10_n1e6", samples=1_000_000, alone=True),
    replace(UU, name="UU1000_n1e6", samples=1_000_000, alone=True),
)
CASES = (G, G_SHORT, GF, UU_SHORT, UU, *LONG)


def signals(samples: int, rows: int | None = None) -> Signals:
    """Gaussian x and y, (samples,) or (rows, samples)."""
    draw = np.random.default_rng(7)
    shape = samples if rows is None else (rows, samples)
    return {"x": draw.normal(size=shape), "y": draw.normal(size=shape)}
