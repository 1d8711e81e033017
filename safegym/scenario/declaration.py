"""What can be wrong with a scenario's declaration, found without running it."""

import re
from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING

from safegym.errors import FormulaError
from safegym.formula.rewrite import to_steps

if TYPE_CHECKING:
    from safegym.scenario.spec import ScenarioSpec

_INPUT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME = re.compile(r"[a-z0-9_-]+(/[a-z0-9_-]+)*-v[0-9]+")


def declaration_issues(spec: "ScenarioSpec") -> list[str]:
    """A sentence for each thing that is wrong, empty if nothing is."""
    return [
        issue
        for check in (
            _name,
            _signals,
            _claims,
            _policies,
            _inputs,
            _parameters,
            _disturbances,
            _terminals,
            _reward,
        )
        for issue in check(spec)
    ]


def _name(spec: "ScenarioSpec") -> Iterator[str]:
    if not _NAME.fullmatch(spec.name):
        yield f"Name {spec.name!r} is not of the form 'family/name-v0'."
    if spec.horizon < 1:
        yield f"The horizon is {spec.horizon} steps; it must be at least 1."


def _signals(spec: "ScenarioSpec") -> Iterator[str]:
    if not spec.signals:
        yield "No signal is declared; a scenario needs at least one."
    names = [signal.name for signal in spec.signals]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"Signal {name!r} is declared {names.count(name)} times."


def _claims(spec: "ScenarioSpec") -> Iterator[str]:
    declared = {signal.name: signal for signal in spec.signals}
    ids = [claim.id for claim in spec.claims]
    for identity in sorted({identity for identity in ids if ids.count(identity) > 1}):
        yield f"Claim id {identity!r} is used {ids.count(identity)} times."
    for claim in spec.claims:
        for signal in claim.signals:
            if signal.name not in declared:
                yield (
                    f"Claim {claim.id} reads signal {signal.name!r}; the scenario declares "
                    f"{', '.join(declared)}."
                )
            elif declared[signal.name] != signal:
                yield (
                    f"Claim {claim.id} reads {signal.name!r} declared otherwise than by the "
                    "scenario (unit, shape, scale, bounds, max_rate or hold)."
                )
        try:
            to_steps(claim.property, spec.clock.dt, rounding=claim.rounding)
        except FormulaError as error:
            yield f"Claim {claim.id} does not fit the clock, dt = {spec.clock.dt} s: {error}"


def _policies(spec: "ScenarioSpec") -> Iterator[str]:
    ids = {claim.id for claim in spec.claims}
    for identity in spec.bad:
        if identity not in ids:
            yield f"bad[{identity!r}] names no claim; the claims are {', '.join(sorted(ids))}."
    for identity in sorted(ids - set(spec.bad)):
        yield f"No bad policy violates claim {identity}; add bad[{identity!r}]."
    if spec.good is None:
        yield "There is no good policy; add a scripted one that keeps every claim."


def _inputs(spec: "ScenarioSpec") -> Iterator[str]:
    kinds = (
        ("parameter", spec.parameters),
        ("fault", spec.faults),
        ("disturbance", spec.disturbances),
    )
    found: dict[str, list[str]] = {}
    for kind, declared in kinds:
        for each in declared:
            found.setdefault(each.name, []).append(kind)
            if not _INPUT.fullmatch(each.name):
                yield (
                    f"The {kind} {each.name!r} needs a name of letters, digits and underscores, "
                    "such as 'gust_forward'."
                )
    for name, uses in sorted(found.items()):
        if len(uses) > 1:
            yield (
                f"{uses[0].capitalize()} {name!r} is declared {len(uses)} times "
                f"({', '.join(uses)}); parameters, faults and disturbances share their names."
            )


def _parameters(spec: "ScenarioSpec") -> Iterator[str]:
    for parameter in (*spec.parameters, *spec.faults):
        low, high, default = parameter.low, parameter.high, parameter.default
        if not (isfinite(low) and isfinite(high) and low <= high):
            yield (
                f"Parameter {parameter.name} has range [{low}, {high}]; it must be finite, "
                "low <= high."
            )
        elif default is not None and not low <= default <= high:
            yield f"Parameter {parameter.name} has default {default} outside [{low}, {high}]."
        if parameter.role not in ("parameter", "initial"):
            yield (
                f"Parameter {parameter.name} has role {parameter.role!r}; write 'parameter' or "
                "'initial'."
            )


def _disturbances(spec: "ScenarioSpec") -> Iterator[str]:
    for each in spec.disturbances:
        low, neutral, high = each.low, each.neutral, each.high
        if not (all(map(isfinite, (low, neutral, high))) and low <= neutral <= high):
            yield (
                f"Disturbance {each.name} has low {low}, neutral {neutral}, high {high}; they must "
                "be finite, low <= neutral <= high."
            )
        if type(each.pieces) is not int or not 1 <= each.pieces <= spec.horizon:
            yield (
                f"Disturbance {each.name} has {each.pieces!r} pieces; with a horizon of "
                f"{spec.horizon} steps it takes a whole number from 1 to {spec.horizon}."
            )


def _terminals(spec: "ScenarioSpec") -> Iterator[str]:
    for reason, kind in spec.terminals.items():
        if kind not in ("absorbed", "failed"):
            yield f"Terminal {reason!r} is {kind!r}; write 'absorbed' or 'failed'."


def _reward(spec: "ScenarioSpec") -> Iterator[str]:
    if spec.reward is not None:
        yield from spec.reward.issues(spec)
