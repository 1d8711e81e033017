"""Batches: episodes that end alike are evaluated together, a block of them at a time.

A block holds about as many values as the cache does, so that everything but the result stays small
whatever the formula. Its episodes are of nearly the same length (they are sorted), and each row's
own end is respected (`Ends`); nothing is padded.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from safegym.check.monitor.blocks import Block, blocks_of
from safegym.check.monitor.evaluate import Samples, evaluate
from safegym.check.monitor.everywhere import everywhere, part_size
from safegym.check.monitor.frame import spans_of
from safegym.check.monitor.intake import clear_gaps, converter, fits, missing_signal
from safegym.check.monitor.lattice import MARGIN, TRUTH, Lattice, Values
from safegym.check.monitor.plan import Plan, argument_of
from safegym.check.monitor.readings import Floats, Readings
from safegym.check.monitor.share import Share, share_from, share_margins, share_truth
from safegym.check.monitor.strip import take
from safegym.errors import TraceError
from safegym.trace.batch import TraceBatch
from safegym.trace.conversion import Conversion

Pair = tuple[Values, Values]


def batch_margins(plan: Plan, batch: TraceBatch) -> Pair:
    """Returns the root's lower and upper margins at every sample, (B, n), NaN past the lengths."""
    if plan.share is None:
        return _everywhere(plan, batch, MARGIN, np.nan)
    bound = plan.share
    return _constant(batch, np.nan, [share_margins(bound, each) for each in _shares(plan, batch)])


def batch_truth(plan: Plan, batch: TraceBatch) -> Pair:
    """Returns whether the root must and may hold at every sample, (B, n), False past its length."""
    if plan.share is None:
        return _everywhere(plan, batch, TRUTH, False)
    bound = plan.share
    return _constant(batch, False, [share_truth(bound, each) for each in _shares(plan, batch)])


def _everywhere(plan: Plan, batch: TraceBatch, lattice: Lattice, past: Any) -> Pair:
    low = np.empty((len(batch), batch.samples), lattice.dtype)
    high = low
    for number, (block, (lower, upper)) in enumerate(_evaluated(plan, batch, lattice)):
        if upper is not lower and high is low:
            high = low.copy() if number else np.empty_like(low)
        _store(block, lower, low, past)
        if high is not low:
            _store(block, upper, high, past)
    return low, high


def _store(block: Block, values: Values, out: Values, past: Any) -> None:
    """Puts a block's values where its episodes are, and `past` after their last samples."""
    if block.ends is None and isinstance(block.places, slice):
        out[block.places, : values.shape[-1]] = values
        out[block.places, values.shape[-1] :] = past
        return
    counts = (block.last + 1).tolist()
    for row, count, kept in zip(block.rows.tolist(), counts, values, strict=True):
        out[row, :count] = kept[:count]
        out[row, count:] = past


def _evaluated(plan: Plan, batch: TraceBatch, lattice: Lattice) -> Iterator[tuple[Block, Pair]]:
    """Each block with its root's values at the samples 0..T of its longest episode."""
    _check_signals(plan, batch)
    conversions = converter(plan.signals, batch.units)
    for block in blocks_of(batch, part_size(plan, len(batch) * batch.samples)):
        arrays = {
            signal.name: _part(batch, signal.name, block, conversions.get(signal.name))
            for signal in plan.signals
        }
        yield block, _root(plan, block, arrays, lattice)


def _root(plan: Plan, block: Block, arrays: Mapping[str, Floats], lattice: Lattice) -> Pair:
    frame, rows = block.frame, len(block.rows)
    if rows == 1:
        single = {name: values[0] for name, values in arrays.items()}
        low, high = everywhere(plan, frame, single, block.gaps, lattice)
        shared, low = high is low, low[None]
        return low, low if shared else high[None]
    readings = Readings(arrays, block.gaps, episodes=block.rows.tolist())
    samples = Samples(readings, 0, frame.last, (rows,), block.gaps, block.ends)
    spans = spans_of(plan, frame, frame.last)
    found = evaluate(plan, frame, samples, spans, lattice, keep=False)
    low = take(found.lower[-1], 0, frame.last)
    shared = found.upper[-1] is found.lower[-1]
    return low, low if shared else take(found.upper[-1], 0, frame.last)


def _part(batch: TraceBatch, name: str, block: Block, convert: Conversion | None) -> Floats:
    """A signal over a block, in the unit that the formula reads."""
    whole, count = batch.signals[name], block.frame.last + 1
    if isinstance(block.places, slice):
        values = whole[block.places, :count]
    else:
        values = np.empty((len(block.rows), count, *whole.shape[2:]))
        for place, row in enumerate(block.rows.tolist()):
            values[place] = whole[row, :count]
    return values if convert is None else _converted(convert, values, block)


def _converted(convert: Conversion, values: Floats, block: Block) -> Floats:
    result = convert(values)
    clear_gaps(result.swapaxes(0, 1), dict(block.gaps).get(convert.signal, ()))
    finite = np.isfinite(result)
    if finite.all():
        return result
    row, at = (int(place) for place in np.argwhere(~finite)[0][:2])
    raise TraceError(
        f"Signal {convert.signal} is {values[row, at]} {convert.recorded} at sample {at} of "
        f"episode {block.rows[row]}, which no binary64 number of {convert.read} can say; state the "
        f"formula in {convert.recorded}."
    )


def _check_signals(plan: Plan, batch: TraceBatch) -> None:
    for signal in plan.signals:
        values = batch.signals.get(signal.name)
        if values is None:
            raise TraceError(missing_signal(signal, batch.signals))
        if not fits(signal, values.shape[1:], batch.samples):
            raise TraceError(
                f"Signal {signal.name} is declared with shape {signal.shape}, so its array must "
                f"have shape {(len(batch), batch.samples, *signal.shape)}; found {values.shape}."
            )


def _shares(plan: Plan, batch: TraceBatch) -> list[Share]:
    """Each episode's share of samples."""
    found: dict[int, Share] = {}
    for block, (lower, upper) in _evaluated(argument_of(plan), batch, TRUTH):
        for at, (row, end) in enumerate(zip(block.rows.tolist(), block.end.tolist(), strict=True)):
            seen = end + 1
            must, may = (int(np.count_nonzero(each[at, :seen])) for each in (lower, upper))
            horizon = batch.horizons[row]
            found[row] = share_from(must, may, seen, horizon, still_open=block.frame.open)
    return [found[row] for row in range(len(batch))]


def _constant(batch: TraceBatch, past: Any, pairs: list[tuple[Any, Any]]) -> Pair:
    """Each episode's pair at all its samples."""
    dtype = np.bool_ if past is False else np.float64
    low: Values = np.full((len(batch), batch.samples), past, dtype)
    high = low.copy()
    for row, (lower, upper) in enumerate(pairs):
        low[row, : batch.lengths[row]] = lower
        high[row, : batch.lengths[row]] = upper
    return low, high
