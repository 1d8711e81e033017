"""Environments that judge the episode while it runs: `info["claims"]`."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from safegym.check.monitor import Monitor
from safegym.scenario import wrap
from safegym.scenario.registry import find
from safegym.scenario.spec import Environment, ScenarioSpec

Claims = dict[str, dict[str, Any]]


def make(scenario: str | ScenarioSpec, *, live: bool = False) -> Environment:
    """Returns a scenario's gymnasium environment, recorded, truncated at its horizon.

    live: put under info["claims"] what the samples so far say of each claim's episode property:
    claim id -> {"status", "lo", "hi"}, margins in multiples of the claim's scale (None where they
    do not compare). Raises ScenarioError for an unknown name.
    """
    spec = find(scenario) if isinstance(scenario, str) else scenario
    return wrap.make(spec, live=_watch if live else None)


def _watch(spec: ScenarioSpec) -> Callable[[], Callable[[Mapping[str, Any]], Claims]]:
    claims = [claim for claim in spec.claims if claim.kind != "mean"]

    def begin() -> Callable[[Mapping[str, Any]], Claims]:
        monitors = {
            claim.id: Monitor(claim, spec.clock.dt, batch=1, horizon=spec.horizon)
            for claim in claims
        }
        return partial(_judged, monitors)

    return begin


def _judged(monitors: Mapping[str, Monitor], sample: Mapping[str, Any]) -> Claims:
    batch = {name: np.asarray(value, dtype=np.float64)[None] for name, value in sample.items()}
    found: Claims = {}
    for claim, monitor in monitors.items():
        episode = monitor.update(batch).episode
        found[claim] = {
            "status": str(episode.status[0]),
            "lo": None if episode.lo is None else float(episode.lo[0]),
            "hi": None if episode.hi is None else float(episode.hi[0]),
        }
    return found
