"""Environments that judge the episode while it runs: `info["claims"]`."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from safegym.check.monitor import Monitor, Outcome
from safegym.check.monitor.conditioned import counted
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
from safegym.verdict import Status

Claims = dict[str, dict[str, Any]]


def make(scenario: str | ScenarioSpec, *, live: bool | Sequence[Claim] = False) -> Recorder:
    """Returns a scenario's gymnasium environment, recorded, truncated at its horizon.

    live: put under info["claims"] what the samples so far say of each claim's episode property:
    claim id -> {"status", "lo", "hi"}, margins in multiples of the claim's scale (None where they
    do not compare); of a claim with a condition, also "condition": whether that held. True for the
    scenario's claims (apart from means over episodes), or a list of claims. Raises ScenarioError
    for an unknown name, a claim about a mean, two claims of one id, or what is no list of claims;
    UnsupportedError for a claim that cannot be monitored; UnitError for one that reads a signal in
    a unit of another dimension (of the same, it is converted).
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
            "verdict on it; leave it out of live=[...], or watch its formula: Claim(id=..., "
            "statement=always(f))."
        )


def _watch(
    claims: tuple[Claim, ...], spec: ScenarioSpec
) -> Callable[[], Callable[[Mapping[str, Any]], Claims]]:
    watches = {claim.id: _Watch(claim, spec) for claim in claims}

    def begin() -> Callable[[Mapping[str, Any]], Claims]:
        for watch in watches.values():
            watch.reset()
        return partial(_judged, watches)

    return begin


class _Watch:
    """One claim's episode property and condition, monitored sample by sample."""

    def __init__(self, claim: Claim, spec: ScenarioSpec) -> None:
        self._property = _Followed(claim, property_of(claim)[0], spec)
        self._condition: _Followed | None = None
        if claim.condition is not None:
            asked = Claim(id=claim.id, statement=claim.condition, rounding=claim.rounding)
            self._condition = _Followed(asked, claim.condition, spec)

    def reset(self) -> None:
        """Starts a new episode."""
        for followed in (self._property, self._condition):
            if followed is not None:
                followed.monitor.reset()

    def update(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Takes a sample and returns what is known."""
        episode = self._property.update(batch)
        status = cast("Status", str(episode.status[0]))
        found = {
            "status": status,
            "lo": None if episode.lo is None else float(episode.lo[0]),
            "hi": None if episode.hi is None else float(episode.hi[0]),
        }
        if self._condition is not None:
            held = cast("Status", str(self._condition.update(batch).status[0]))
            found["condition"] = counted(held, status)
        return found


class _Followed:
    """A monitor, and the conversions of what it reads."""

    def __init__(self, claim: Claim, formula: Formula, spec: ScenarioSpec) -> None:
        self.monitor = _monitor(claim, spec)
        self.units = conversions(formula, spec)

    def update(self, batch: dict[str, Any]) -> Outcome:
        return self.monitor.update(in_units(batch, self.units)).episode


def _monitor(claim: Claim, spec: ScenarioSpec) -> Monitor:
    """Tells the offline answer at every step, at a fixed cost where that can be had."""
    monitor = Monitor(claim, spec.clock.dt, batch=1, horizon=spec.horizon)
    if monitor.tight:
        return monitor
    return Monitor(claim, spec.clock.dt, batch=1, horizon=spec.horizon, exact=True)


def _judged(watches: Mapping[str, _Watch], sample: Mapping[str, Any]) -> Claims:
    batch = one_episode(sample)
    return {claim: watch.update(batch) for claim, watch in watches.items()}


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
