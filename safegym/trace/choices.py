"""What the caller of `Trace.from_stamps` declared, checked, for each signal."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np

from safegym.errors import TraceError
from safegym.trace.clock import Exact, exact
from safegym.trace.names import unknown_name
from safegym.trace.resampling import BETWEEN, RULES, Between, Rule
from safegym.trace.stamps import SECOND, StampUnit, nearest_nanosecond

_SAY = (
    'declare one: rule="hold", longest_gap="0.05" takes the last value at or before each instant, '
    'rule="linear", longest_gap="0.05" lies between the two neighbours, rule="jitter", '
    'tolerance="0.002" takes samples as those of the nearest instant.'
)


@dataclass(frozen=True, slots=True)
class Choices:
    """The arguments of `Trace.from_stamps`, as given."""

    rule: Any
    longest_gap: Any
    between: Any
    unit: StampUnit
    start: Exact | None
    stop: Exact | None
    tolerance: Exact | None


@dataclass(frozen=True, slots=True)
class Treatment:
    """What is done to one signal. longest_gap: seconds, None where nothing is filled."""

    rule: Rule
    longest_gap: Fraction | None
    between: Between | None


def treatments(choices: Choices, names: Sequence[str], dt: Fraction) -> dict[str, Treatment]:
    """Each signal's treatment. Raises TraceError where a choice is missing or makes no sense."""
    rules = _by_signal(choices.rule, names, "rule")
    longest = _by_signal(choices.longest_gap, names, "longest_gap")
    between = _by_signal(choices.between, names, "between")
    found: dict[str, Treatment] = {}
    for name in names:
        rule = _rule(rules.get(name), name)
        found[name] = Treatment(
            rule,
            _longest(longest.get(name), name, rule, dt),
            _between(between.get(name), name, rule),
        )
    if choices.longest_gap is not None and all(t.longest_gap is None for t in found.values()):
        raise TraceError('rule="jitter" fills nothing, so longest_gap means nothing: leave it out.')
    return found


def _by_signal(given: Any, names: Sequence[str], what: str) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        return dict.fromkeys(names, given)
    chosen = cast(Mapping[str, Any], given)
    for name in chosen:
        if name not in names:
            raise TraceError(f"{what} names {unknown_name(str(name), names)}")
    return dict(chosen)


def _rule(given: Any, name: str) -> Rule:
    if given is None:
        raise TraceError(f"No rule says how the log of {name} becomes samples; {_SAY}")
    if not isinstance(given, str) or given not in RULES:
        raise TraceError(f"The rule for {name} is {given!r:.40}; {_SAY}")
    return given


def _between(given: Any, name: str, rule: Rule) -> Between | None:
    if given is not None and (not isinstance(given, str) or given not in BETWEEN):
        raise TraceError(
            f"between is {given!r:.40} for {name}; it is one of {', '.join(BETWEEN)}, or left out."
        )
    if given is not None and rule == "jitter":
        raise TraceError(
            f'rule="jitter" gives each sample of {name} an instant, so nothing lies between: '
            "leave between out."
        )
    return given


def _longest(given: Any, name: str, rule: Rule, dt: Fraction) -> Fraction | None:
    if rule == "jitter":
        return None
    if given is None:
        raise TraceError(
            f'rule="{rule}" for {name} needs longest_gap="0.05", or another number of seconds: '
            "between samples further apart than that nothing is known."
        )
    longest = exact(given, what="longest_gap")
    if longest < dt:
        raise TraceError(
            f"longest_gap = {float(longest):.9g} s for {name} is shorter than dt = "
            f"{float(dt):.9g} s, so that a hole could lie unnoticed between two instants; write "
            f'longest_gap="{float(dt):.9g}" or more, or a smaller dt.'
        )
    return longest


def tolerance(choices: Choices, resolution: Fraction, dt: Fraction) -> Fraction:
    """Seconds within which a stamp counts as on an instant.

    By default dt/1000 in whole nanoseconds, but no less than what the stamps resolve.
    """
    if choices.tolerance is not None:
        found = exact(choices.tolerance, what="tolerance")
    else:
        nanoseconds = max(math.floor(dt * SECOND / 1000), math.ceil(resolution * SECOND))
        found = Fraction(nanoseconds, SECOND)
    if not 0 <= found < dt / 2:
        raise TraceError(
            f"tolerance = {float(found):.9g} s must be at least 0 and less than dt/2 = "
            f"{float(dt / 2):.9g} s, or a stamp could count as on two instants"
            + ("." if choices.tolerance is not None else ": the stamps resolve no less than that.")
        )
    return found


def moment(given: Exact, what: str) -> Fraction:
    """Seconds, exact: text as written, floats to the nearest nanosecond as stamps are."""
    if isinstance(given, float | np.floating) and math.isfinite(given):
        return Fraction(nearest_nanosecond(float(given)), SECOND)
    return exact(given, what=what)
