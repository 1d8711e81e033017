"""Measures the table of a pack: `python -m safegym_scenarios.packs.survey PACK [TEXT]`.

For every environment of the pack the good and the bad policy run on ten seeds; a signal in which
they differ clearly becomes a claim, its limit in the middle between the two. An environment with
fewer than two such signals, or one that does not conform, is left out and named. TEXT: only those
with it in their name; then nothing is written.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from safegym.scenario.adapt import conformance_issues
from safegym.scenario.campaign import Campaign
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Trace
from safegym_scenarios.packs.row import Limit, Row, text_of

SEEDS = 10
CLAIMS = 3


def surveyed(adapter: Any, bare: Row) -> tuple[Row | None, str]:
    """The row with its limits, or None and why it is left out."""
    try:
        spec: ScenarioSpec = adapter.spec_of(bare)
        good = _episodes(spec, "good")
        ends = [trace.steps for trace in good if trace.steps < bare.horizon]
        if ends:
            bare = replace(bare, horizon=max(8, int(0.8 * min(ends))))
            spec = adapter.spec_of(bare)
            good = _episodes(spec, "good")
        bad = _episodes(spec, "bad", adapter.bad_policy(bare))
        limits = _limits(adapter.readings(bare), good, bad)
        if len(limits) < 2:
            return None, f"{len(limits)} signals tell the two policies apart"
        row = replace(bare, limits=tuple(limits[:CLAIMS]))
        issues = conformance_issues(adapter.spec_of(row), steps=min(40, row.horizon))
    except Exception as error:
        return None, f"{type(error).__name__}: {str(error)[:160]}"
    return (None, issues[0]) if issues else (row, "")


def _episodes(spec: ScenarioSpec, which: str, policy: Any = None) -> list[Trace]:
    acting = policy or (spec.good() if spec.good else None)
    if acting is None:
        raise ValueError("no good policy")
    with Campaign(spec, acting, seed_of=int, tail=0, copies=SEEDS, episodes=SEEDS) as campaign:
        traces = [trace for _, trace in campaign]
    broken = [t for t in traces if t.end.kind == "interrupted" and "truncated" not in t.end.reason]
    if broken and which == "good":
        raise ValueError(f"interrupted: {broken[0].end.reason}")
    return traces


def _limits(readings: Sequence[Any], good: list[Trace], bad: list[Trace]) -> list[Limit]:
    """Limits on the signals that differ, the clearest first."""
    found: list[tuple[float, Limit]] = []
    for reading in readings:
        if reading.safe is None:
            continue
        name, sign = reading.signal.name, 1.0 if reading.safe == "low" else -1.0
        worst = [max(float((sign * t.signals[name]).max()) for t in some) for some in (good, bad)]
        gap, spread = worst[1] - worst[0], max(abs(worst[0]), abs(worst[1]), 1e-9)
        if gap < 0.15 * spread or gap < 1e-6:
            continue
        middle = _rounded(sign * (worst[0] + 0.5 * gap), gap)
        limit = Limit(
            signal=name, safe=reading.safe, limit=middle, good=sign * worst[0], bad=sign * worst[1]
        )
        found.append((gap / spread, limit))
    return [limit for _, limit in sorted(found, key=lambda pair: -pair[0])]


def _rounded(value: float, gap: float) -> float:
    """As few digits as stay well within the gap."""
    digits = int(np.ceil(-np.log10(gap / 10.0)))
    return round(value, digits)


def main(arguments: Sequence[str]) -> int:
    """Writes the table; returns 0, 2 for wrong use."""
    if not arguments:
        print("usage: python -m safegym_scenarios.packs.survey PACK [TEXT]", file=sys.stderr)
        return 2
    pack, only = arguments[0], arguments[1] if len(arguments) > 1 else ""
    adapter = import_module(f"safegym_scenarios.packs.{pack}.adapter")
    rows: list[Row] = []
    for bare in adapter.bare_rows():
        if only not in bare.name:
            continue
        row, reason = surveyed(adapter, bare)
        words = reason or ", ".join(f"{each.signal} {each.limit:g}" for each in row.limits)  # type: ignore[union-attr] # a row where there is no reason
        print(f"{'left out' if row is None else 'taken':9} {bare.name:48} {words}", flush=True)
        if row is not None:
            rows.append(row)
            if not only:
                Path(str(adapter.TABLE)).write_text(text_of(rows), encoding="utf-8")
    print(f"{len(rows)} scenarios")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
