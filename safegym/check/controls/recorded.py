"""Whether recorded episodes hold what a scenario declares."""

from collections.abc import Iterator, Sequence

import numpy as np

from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Trace

DIFFERENT = 3
"""Different episodes that the seeds must give at least."""


def misrecorded(spec: ScenarioSpec, traces: Sequence[Trace]) -> Iterator[str]:
    """A sentence for each signal or input that some trace has otherwise than declared."""
    for check in (_interruptions, _signals, _inputs):
        yield from check(spec, traces)


def alike(traces: Sequence[Trace]) -> Iterator[str]:
    """A sentence where seeds give too few different episodes.

    Three must differ (chosen): systems of a few states have only a few episodes.
    """
    seen = {b"".join(trace.signals[name].tobytes() for name in trace.signals) for trace in traces}
    if len(seen) < min(DIFFERENT, len(traces)):
        yield (
            f"{len(traces)} seeds give {len(seen)} different episodes; draw more from "
            "self.np_random in reset."
        )


def _interruptions(spec: ScenarioSpec, traces: Sequence[Trace]) -> Iterator[str]:
    broken = [trace for trace in traces if trace.end.kind == "interrupted"]
    if broken:
        first = broken[0]
        yield (
            f"{len(broken)} of {len(traces)} episodes of the good policy were interrupted; seed "
            f"{first.seed} at {float(first.end.time):g} s: {first.end.reason}"
        )


def _signals(spec: ScenarioSpec, traces: Sequence[Trace]) -> Iterator[str]:
    declared = [signal.name for signal in spec.signals]
    for trace in traces:
        if list(trace.signals) != declared:
            yield f"Seed {trace.seed} records {list(trace.signals)}, declared are {declared}."
            return
    for signal in spec.signals:
        for trace in traces:
            values = trace.signals[signal.name]
            if values.shape != (trace.steps + 1, *signal.shape):
                yield (
                    f"Signal {signal.name} has shape {values.shape[1:]} on seed {trace.seed}, "
                    f"declared is {signal.shape}."
                )
            elif not np.isfinite(values).all():
                yield f"Signal {signal.name} is not finite on seed {trace.seed}."
            elif signal.bounds is not None and (
                values.min() < signal.bounds[0] or values.max() > signal.bounds[1]
            ):
                yield (
                    f"Signal {signal.name} lies in [{values.min():g}, {values.max():g}] "
                    f"{signal.unit} on seed {trace.seed}, outside its bounds {signal.bounds}."
                )
            else:
                continue
            break


def _inputs(spec: ScenarioSpec, traces: Sequence[Trace]) -> Iterator[str]:
    for each in (*spec.parameters, *spec.faults):
        for trace in traces:
            told = trace.parameters.get(each.name)
            if told is None:
                yield f"The trace of seed {trace.seed} does not tell {each.name}."
            elif not each.low <= told <= each.high:
                yield (
                    f"Seed {trace.seed} has {each.name} = {told:g} {each.unit}, outside "
                    f"[{each.low:g}, {each.high:g}]."
                )
            else:
                continue
            break
