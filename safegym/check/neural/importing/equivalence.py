"""Whether an imported graph is the policy: compared at import, and refused where it is not."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.bounds import Bounds
from safegym.check.neural.evaluate import evaluate
from safegym.check.neural.importing.imported import Imported
from safegym.check.neural.importing.sampling import Sampled, observations
from safegym.check.neural.policy import Equivalence, PolicyGraph
from safegym.errors import PolicyError, UnsupportedError

LEAST = 1000
"""Fewest observations that are compared."""
_BATCH = 512
"""Observations whose bounds are computed at once."""
Batch = NDArray[np.float64]


def compared(imported: Imported, samples: int = LEAST, seed: int = 0) -> PolicyGraph:
    """The policy as a graph, once the two agree on `samples` observations.

    They agree where each number that the policy gives lies in the interval that the graph's own
    rounding allows there, and each choice may be the greatest. Raises PolicyError with the largest
    difference where one does not, and UnsupportedError for fewer than 1000 samples.
    """
    if samples < LEAST:
        raise UnsupportedError(
            f"A comparison of {samples} samples was asked for; {LEAST} is the least."
        )
    space = imported.observation
    sampled = Sampled(
        imported.graph, space.low, space.high, space.dtype, imported.centre, imported.spread
    )
    rows = observations(sampled, samples, seed)
    low, high = intervals(Bounds(imported.graph, "deployed float32"), rows)
    values = np.asarray(imported.values(rows), np.float64).reshape(len(rows), -1)
    if values.shape != low.shape:
        raise PolicyError(
            f"Policy {imported.name} gives {values.shape[1]} numbers, its graph {low.shape[1]}."
        )
    middle = evaluate(imported.graph, rows)
    difference = np.abs(values - middle)
    _check_values(imported, rows, values, low, high)
    disagreements = 0
    if imported.kind == "discrete":
        disagreements = _check_choices(imported, rows, low, high, middle, imported.predict(rows))
    if imported.original is not None:
        _check_original(imported, imported.original(rows), rows, low, high, middle)
    found = Equivalence(len(rows), float(difference.max(initial=0.0)), disagreements)
    limits = imported.action
    return PolicyGraph(
        name=imported.name,
        digest=imported.digest,
        kind=imported.kind,
        graph=imported.graph,
        observation_low=imported.observation.low,
        observation_high=imported.observation.high,
        action_low=None if limits is None else limits.low,
        action_high=None if limits is None else limits.high,
        predict=imported.predict,
        equivalence=found,
    )


def intervals(bounds: Bounds, rows: Batch) -> tuple[Batch, Batch]:
    """What each output may be at each row (B, n): lower and upper limits (B, m)."""
    parts = [
        bounds.interval(rows[at : at + _BATCH], rows[at : at + _BATCH])[-1]
        for at in range(0, len(rows), _BATCH)
    ]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _check_values(imported: Imported, rows: Batch, values: Batch, low: Batch, high: Batch) -> None:
    if not np.isfinite(values).all():
        bad = int(np.argwhere(~np.isfinite(values))[0, 0])
        raise PolicyError(
            f"Policy {imported.name} gives a value that is not finite at observation "
            f"{_shown(rows[bad])}; nothing can be proved of it."
        )
    outside = ~((low <= values) & (values <= high))
    if not outside.any():
        return
    away = np.where(outside, np.abs(values - 0.5 * (low + high)), -1.0)
    row, entry = np.unravel_index(int(away.argmax()), away.shape)
    raise PolicyError(
        f"Policy {imported.name} and its graph disagree on {int(outside.any(axis=1).sum())} of "
        f"{len(rows)} observations. The largest difference is {away[row, entry]:.3g}: at "
        f"{_shown(rows[row])}, output {entry}, the policy gives {values[row, entry]:.9g}, the "
        f"graph {low[row, entry]:.9g} to {high[row, entry]:.9g}. It is refused, for a proof about "
        "the graph would not be one about the policy."
    )


def _check_original(
    imported: Imported, given: NDArray[Any], rows: Batch, low: Batch, high: Batch, middle: Batch
) -> None:
    """The object that was given has to do what its copy does."""
    if imported.kind == "discrete":
        _check_choices(imported, rows, low, high, middle, given)
        return
    _check_values(imported, rows, np.asarray(given, np.float64).reshape(len(rows), -1), low, high)


def _check_choices(
    imported: Imported, rows: Batch, low: Batch, high: Batch, middle: Batch, given: NDArray[Any]
) -> int:
    """How often the graph's greatest value is another choice, all of them within rounding."""
    chosen = np.asarray(given).reshape(-1).astype(np.int64)
    reachable = high[np.arange(len(rows)), chosen] >= low.max(axis=1)
    if not reachable.all():
        gap = np.where(reachable, -1.0, middle.max(axis=1) - middle[np.arange(len(rows)), chosen])
        row = int(gap.argmax())
        raise PolicyError(
            f"Policy {imported.name} and its graph disagree: at {_shown(rows[row])} the policy "
            f"chooses {chosen[row]}, the graph {int(middle[row].argmax())}; the largest difference "
            f"between their values is {gap[row]:.3g}. It is refused, for a proof about the graph "
            "would not be one about the policy."
        )
    return int((chosen != middle.argmax(axis=1)).sum())


def _shown(row: Batch) -> str:
    numbers = ", ".join(f"{value:.6g}" for value in row[:8])
    return f"[{numbers}{', ...' if len(row) > 8 else ''}]"
