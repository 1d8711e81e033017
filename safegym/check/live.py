"""Environments that judge the episode while it runs: `info["claims"]`."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from safegym.check.monitor import Monitor
from safegym.check.monitor.intake import converter
from safegym.check.monitor.subject import property_of
from safegym.errors import ScenarioError
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.terms import signals_of
from safegym.scenario import wrap
from safegym.scenario.agreement import recorded_units
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.conversion import Conversion
from safegym.trace.record import Recorder

Claims = dict[str, dict[str, Any]]


def make(scenario: str | ScenarioSpec, *, live: bool | Sequence[Claim] = False) -> Recorder:
    """Returns a scenario's gymnasium environment, recorded, truncated at its horizon.

    live: put under info["claims"] what the samples so far say of each claim's episode property:
    claim id -> {"status", "lo", "hi"}, margins in multiples of the claim's scale (None where they
    do not compare). True for the scenario's claims (apart from means over episodes), or a list of
    claims. Raises ScenarioError for an unknown name, a claim about a mean, two claims of one id, or
    what is no list of claims; UnsupportedError for a claim that cannot be monitored; UnitError for
    one that reads a signal in a unit of another dimension (of the same, it is converted).
    """
    spec = find(scenario) if isinstance(scenario, str) else scenario
    if live is False:
        return wrap.make(spec)
    return wrap.make(spec, live=partial(_watch, _watched(spec, live)))


def _watched(spec: ScenarioSpec, live: bool | Sequence[Claim]) -> tuple[Claim, ...]:
    if live is True:
        return tuple(claim for claim in spec.claims if claim.kind != "mean")
    if isinstance(live, str | bytes) or not isinstance(live, Iterable):
        raise ScenarioError(
            f"live is True or a list of claims, found {live!r:.80}; write live=[claim]."
        )
    claims = tuple(live)
    for claim in claims:
        _check_claim(claim)
    twice = [name for name, count in Counter(claim.id for claim in claims).items() if count > 1]
    if twice:
        raise ScenarioError(
            f"Two claims of live=[...] are called {twice[0]}, and info has one entry of each id; "
            "give each its own: Claim(id=...)."
        )
    return claims


def _check_claim(claim: object) -> None:
    if not isinstance(claim, Claim):
        raise ScenarioError(
            f"live=[...] takes claims, found {claim!r:.80}; write "
            'Claim(id="base.drift", statement=...).'
        )
    if claim.kind == "mean":
        raise ScenarioError(
            f"Claim {claim.id} is about a mean over episodes, so no single episode has a "
            "verdict on it; leave it out of live=[...]."
        )


def _watch(
    claims: tuple[Claim, ...], spec: ScenarioSpec
) -> Callable[[], Callable[[Mapping[str, Any]], Claims]]:
    monitors = {
        claim.id: (
            _monitor(claim, spec),
            conversions(property_of(claim)[0], spec),
        )
        for claim in claims
    }

    def begin() -> Callable[[Mapping[str, Any]], Claims]:
        for monitor, _ in monitors.values():
            monitor.reset()
        return partial(_judged, monitors)

    return begin


def _monitor(claim: Claim, spec: ScenarioSpec) -> Monitor:
    """Tells the offline answer at every step, at a fixed cost where that can be had."""
    monitor = Monitor(claim, spec.clock.dt, batch=1, horizon=spec.horizon)
    if monitor.tight:
        return monitor
    return Monitor(claim, spec.clock.dt, batch=1, horizon=spec.horizon, exact=True)


def _judged(
    monitors: Mapping[str, tuple[Monitor, Mapping[str, Conversion]]], sample: Mapping[str, Any]
) -> Claims:
    batch = one_episode(sample)
    found: Claims = {}
    for claim, (monitor, units) in monitors.items():
        episode = monitor.update(in_units(batch, units)).episode
        found[claim] = {
            "status": str(episode.status[0]),
            "lo": None if episode.lo is None else float(episode.lo[0]),
            "hi": None if episode.hi is None else float(episode.hi[0]),
        }
    return found


def one_episode(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a sample as a batch of one: arrays of shape (1,) or (1, d)."""
    return {name: np.asarray(value, dtype=np.float64)[None] for name, value in sample.items()}


def conversions(formula: Formula, spec: ScenarioSpec) -> dict[str, Conversion]:
    """Returns what turns the scenario's signals into the units that a formula reads them in.

    The trace of the episode is converted in the same way, so that both judge the same numbers.
    Raises UnitError for a unit of another dimension.
    """
    return converter(signals_of(formula), recorded_units(spec))


def in_units(batch: dict[str, Any], units: Mapping[str, Conversion]) -> dict[str, Any]:
    """Returns a batch of samples with these conversions made."""
    if not units:
        return batch
    return batch | {name: change(batch[name]) for name, change in units.items() if name in batch}
