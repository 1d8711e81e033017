"""From a proof to training: a model's counterexample, replayed in the simulator and banked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from safegym.check.dispatch import check
from safegym.check.statistics.ledger import AttemptLedger
from safegym.errors import GateError, UnitError
from safegym.formula.claim import Claim, set_digest
from safegym.gate.falsifying import refuse_no_run
from safegym.gate.replay import Counterexample, ReplayBank
from safegym.policy.base import Policy, as_policy
from safegym.scenario.record import record
from safegym.scenario.registry import find
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym.trace.model import Trace
from safegym.units import Unit
from safegym.units import unit as read_unit
from safegym.verdict import Verdict


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """What became of a model's counterexample in the scenario.

    model_trace: as the proof gave it. trace: the scenario's episode from the same start. options,
    seed: what its reset was given. violated: claims that it violates, with the verdicts. banked:
    how many starts were new to the bank. notes: what the scenario could not repeat.
    """

    scenario: str
    model_trace: Trace
    trace: Trace
    seed: int
    options: Mapping[str, Any]
    verdicts: Mapping[str, Verdict]
    violated: tuple[Claim, ...]
    banked: int
    notes: tuple[str, ...]

    @property
    def shows(self) -> bool:
        """Whether the violation shows in the scenario."""
        return len(self.violated) > 0

    @property
    def words(self) -> str:
        """What happened, in plain English; also what `str()` gives."""
        if self.shows:
            named = ", ".join(claim.id for claim in self.violated)
            head = (
                f"The model's counterexample shows in {self.scenario}: from the same start, seed "
                f"{self.seed} violates {named}; {self.banked} new in the replay bank."
            )
        else:
            head = (
                f"The model's counterexample does not show in {self.scenario}: from the same start "
                f"no claim of {', '.join(self.verdicts) or 'none'} is violated, so nothing was "
                "banked. Model and scenario differ, or the claims do."
            )
        return "\n".join((head, *self.notes))

    def __str__(self) -> str:
        return self.words

    def save(self, folder: str | Path) -> tuple[Path, ...]:
        """Draws each violated claim's verdict on the episode, CLAIM.svg; returns the files.

        Raises RunFolderError if they cannot be written.
        """
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        files: list[Path] = []
        for claim in self.violated:
            path = place / f"{claim.id}.svg"
            self.verdicts[claim.id].explain().save(path)
            files.append(path)
        return tuple(files)


def bank_counterexample(
    counterexample: Any,
    policy: object,
    scenario: str | ScenarioSpec,
    *,
    start: Mapping[str, str] | None = None,
    pushes: Mapping[str, str] | None = None,
    claims: Sequence[Claim] | None = None,
    seed: int = 0,
    bank: ReplayBank | str | Path | None = None,
) -> Carried:
    """Replays a model's counterexample in a scenario and, if it shows there, banks its start.

    counterexample: a trace over the model's states and disturbances, or a proof whose `witness` is
    one. policy: the one that was asked about. start: model state -> the scenario's initial
    parameter. pushes: model disturbance -> the scenario's channel, of which each piece takes the
    mean over its steps; after the counterexample's end, and on other channels, nothing pushes.
    claims: those of the scenario by default, apart from means. bank: a replay bank, or the folder
    of a training run. The seed is burnt for certification where something is banked.

    Nothing is banked unless the scenario's own episode violates a claim. Raises GateError for a
    proof without a witness, a state without a parameter, a start outside the parameter's range or
    in another unit, pushes of a model of another time step, or a bank of another scenario;
    RunFolderError for a folder that holds something else.
    """
    spec = find(scenario) if isinstance(scenario, str) else scenario
    found = _trace_of(counterexample)
    if bank is not None and not isinstance(bank, ReplayBank):
        refuse_no_run(Path(bank), spec)
    options, notes = _options(found, spec, start or {}, pushes or {})
    acting = as_policy(policy)
    notes += _other_policy(found, acting)
    trace = record(spec, acting, seed, options=options)
    asked = [claim for claim in (claims or spec.claims) if claim.kind != "mean"]
    verdicts = {claim.id: check(claim, trace) for claim in asked}
    violated = tuple(claim for claim in asked if verdicts[claim.id].status == "violated")
    starts = [
        Counterexample.of(trace, claim.id, _margin(verdicts[claim.id]), "proof", options)
        for claim in violated
    ]
    return Carried(
        scenario=spec.name,
        model_trace=found,
        trace=trace,
        seed=seed,
        options=options,
        verdicts=verdicts,
        violated=violated,
        banked=_banked(starts, bank, spec),
        notes=notes,
    )


def _other_policy(found: Trace, acting: Policy) -> tuple[str, ...]:
    asked, card = found.policy_digest, acting.card
    if not asked or asked == card.digest:
        return ()
    return (
        f"The counterexample is one of the policy {asked}; {card.name} ({card.digest}) was run.",
    )


def _banked(
    starts: Sequence[Counterexample], bank: ReplayBank | str | Path | None, spec: ScenarioSpec
) -> int:
    if bank is None or not starts:
        return 0
    ledger = AttemptLedger(spec.digest, set_digest(spec.claims))
    ledger.burn(start.seed for start in starts)
    if isinstance(bank, ReplayBank):
        return sum(bank.add(start) for start in starts)
    from safegym.gate.trainer.given import give_starts

    Path(bank).mkdir(parents=True, exist_ok=True)
    return give_starts(Path(bank), starts)


def _trace_of(counterexample: Any) -> Trace:
    found = counterexample
    if not isinstance(found, Trace):
        found = getattr(counterexample, "witness", None)
    if not isinstance(found, Trace):
        raise GateError(
            f"A {type(counterexample).__name__} without a witness trace was to be banked; only a "
            "violated proof has one, and an inductive set that is left is no episode: ask "
            "prove_reach for a trajectory."
        )
    return found


def _options(
    found: Trace, spec: ScenarioSpec, start: Mapping[str, str], pushes: Mapping[str, str]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    parameters, missing = _parameters(found, spec, start)
    disturbances, repeated = _disturbances(found, spec, pushes)
    options: dict[str, Any] = {"parameters": parameters}
    if disturbances:
        options["disturbances"] = disturbances
    return options, (*missing, *repeated)


def _parameters(
    found: Trace, spec: ScenarioSpec, start: Mapping[str, str]
) -> tuple[dict[str, float], list[str]]:
    initial = {each.name: each for each in spec.parameters if each.role == "initial"}
    parameters: dict[str, float] = {}
    for state, name in start.items():
        if state not in found.signals or name not in initial:
            raise GateError(
                f"start= maps {state!r} to {name!r}; the counterexample has "
                f"{', '.join(found.signals)}, and {spec.name} the initial parameters "
                f"{', '.join(initial) or 'none'}."
            )
        _check_unit(found, state, name, initial[name].unit)
        parameters[name] = _inside(float(found.signals[state][0]), initial[name], state)
    missing = sorted(set(initial) - set(parameters))
    return parameters, [f"{name} is not fixed by the model; the seed draws it." for name in missing]


def _disturbances(
    found: Trace, spec: ScenarioSpec, pushes: Mapping[str, str]
) -> tuple[dict[str, list[float]], list[str]]:
    channels = {each.name: each for each in spec.disturbances}
    disturbances: dict[str, list[float]] = {}
    notes: list[str] = []
    for push, name in pushes.items():
        if push not in found.signals or name not in channels:
            raise GateError(
                f"pushes= maps {push!r} to {name!r}; the counterexample has "
                f"{', '.join(found.signals)}, and {spec.name} the disturbances "
                f"{', '.join(channels) or 'none'}."
            )
        channel = channels[name]
        _check_unit(found, push, name, channel.unit)
        if found.clock.dt != spec.clock.dt:
            raise GateError(
                f"pushes= carries the model's {push} step by step, and the model steps by "
                f"{found.clock.dt} s, {spec.name} by {spec.clock.dt} s; leave pushes= out, or "
                "declare the model over the scenario's control step."
            )
        pieces = [channel.piece_at(step, spec.horizon) for step in range(spec.horizon)]
        values = np.full(spec.horizon, channel.neutral)
        acting = np.asarray(found.signals[push], np.float64)[: len(found.rewards)][: spec.horizon]
        values[: len(acting)] = acting
        parts = [values[np.equal(pieces, at)] for at in range(channel.pieces)]
        means = [float(p[0] if (p == p[0]).all() else p.mean()) for p in parts]
        disturbances[name] = [min(max(mean, channel.low), channel.high) for mean in means]
        if any(value != disturbances[name][at] for at, value in zip(pieces, values, strict=True)):
            notes.append(
                f"{push} is repeated by {name} as its mean over each of {channel.pieces} stretches "
                "of the horizon only."
            )
    return disturbances, notes


def _check_unit(found: Trace, signal: str, name: str, unit: str) -> None:
    given = found.units.get(signal, "")
    ours, theirs = _read_unit(given), _read_unit(unit)
    if ours is not None and theirs is not None and ours != theirs:
        raise GateError(
            f"The counterexample's {signal} is in {given}, and {name} in {unit}; declare the model "
            f"in {unit}."
        )


def _read_unit(text: str) -> Unit | None:
    """A parameter's unit is free text: one that cannot be read is not compared."""
    try:
        return read_unit("*".join(text.split()))
    except UnitError:
        return None


def _inside(value: float, parameter: Parameter, state: str) -> float:
    if parameter.low <= value <= parameter.high:
        return value
    raise GateError(
        f"The counterexample starts at {state} = {value:g}, and {parameter.name} ranges over "
        f"[{parameter.low:g}, {parameter.high:g}] {parameter.unit}; ask the proof about starts in "
        "that range."
    )


def _margin(verdict: Verdict) -> float | None:
    return None if verdict.robustness is None else float(verdict.robustness.hi)
