"""Properties that are asked for often, ready-made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral
from typing import Any, Protocol, runtime_checkable

import numpy as np

from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.problem import Semantics
from safegym.check.neural.property.layout import ACTION, Layout
from safegym.check.neural.property.limits import LARGEST, number
from safegym.check.neural.property.pairs import Rise, monotone_question
from safegym.check.neural.property.posing import question_of
from safegym.check.neural.property.question import Question
from safegym.check.neural.property.region import RegionInput, regions_of
from safegym.errors import UnsupportedError
from safegym.formula.formulas import Formula
from safegym.formula.nodes import all_of, negation
from safegym.formula.terms import Component, Signal, Term

__all__ = [
    "Monotone",
    "NeverChooses",
    "NeverSaturates",
    "ReadyProperty",
    "Robust",
    "monotone",
    "never_chooses",
    "never_saturates",
    "robust",
]


@runtime_checkable
class ReadyProperty(Protocol):
    """A property that makes its own question for a policy."""

    def question(
        self, policy: PolicyGraph, layout: Layout, region: RegionInput, semantics: Semantics
    ) -> Question:
        """The question for the search. Raises UnsupportedError where it does not fit the policy."""
        ...


@dataclass(frozen=True, slots=True)
class Robust:
    """See `robust`."""

    at: tuple[float, ...]
    epsilon: Any
    delta: float | None

    def question(
        self, policy: PolicyGraph, layout: Layout, region: RegionInput, semantics: Semantics
    ) -> Question:
        """The action stays near what the deployed policy gives at the point."""
        if region is not None:
            raise UnsupportedError(
                "robust(...) has its own region, the ball around `at`; leave region= out."
            )
        center = np.array(self.at, dtype=np.float32)
        if center.shape != (layout.observations,):
            raise UnsupportedError(
                f"robust(at=...) takes {layout.observations} numbers, one for each entry of the "
                f"observation, found {len(self.at)}."
            )
        given = np.asarray(policy.predict(center[None]))[0]
        space = policy.observation_low, policy.observation_high
        ball = _ball(center, self.epsilon, layout)
        box = {at: _cut(ends, space[0][at], space[1][at]) for at, ends in ball.items()}
        regions = regions_of(box, layout, *space)
        if layout.choices is not None:
            if self.delta is not None:
                raise UnsupportedError(
                    "This policy's action is a choice, which is kept or not; write "
                    "robust(at, epsilon) without delta."
                )
            choice = int(np.asarray(given).reshape(-1)[0])
            claim = abs(_entry(ACTION, 0) - float(choice)) <= 0.5
            return _named(question_of(policy, layout, claim, regions, semantics), "robust")
        if self.delta is None:
            raise UnsupportedError(
                "This policy's action is a vector; say by less than what it may change: "
                "robust(at, epsilon, delta=0.1)."
            )
        values = [float(value) for value in np.asarray(given, dtype=np.float64).reshape(-1)]
        near = [abs(_away(at, value)) < self.delta for at, value in enumerate(values)]
        return _named(question_of(policy, layout, all_of(near), regions, semantics), "robust")


@dataclass(frozen=True, slots=True)
class Monotone:
    """See `monotone`."""

    obs: int | str
    action: int
    tolerance: float
    increasing: bool

    def question(
        self, policy: PolicyGraph, layout: Layout, region: RegionInput, semantics: Semantics
    ) -> Question:
        """Over pairs of observations that differ in one entry."""
        if layout.choices is not None:
            raise UnsupportedError(
                "monotone(...) is about an action that is a number; this policy chooses one of "
                f"{layout.choices}. Say where it may not choose: never_chooses(k), with region=."
            )
        if self.action not in range(layout.actions):
            raise UnsupportedError(
                f"The policy's action has entries 0 to {layout.actions - 1}, "
                f"not {self.action!r:.40}."
            )
        rise = Rise(layout.observed(self.obs), self.action, self.increasing, self.tolerance)
        space = policy.observation_low, policy.observation_high
        regions = regions_of(region, layout, *space)
        return monotone_question(policy, layout, rise, regions, semantics)


@dataclass(frozen=True, slots=True)
class NeverSaturates:
    """See `never_saturates`."""

    margin: float

    def question(
        self, policy: PolicyGraph, layout: Layout, region: RegionInput, semantics: Semantics
    ) -> Question:
        """Each entry strictly inside its limits."""
        low, high = policy.action_low, policy.action_high
        if low is None or high is None or layout.choices is not None:
            raise UnsupportedError(
                "never_saturates() is about an action with limits; this policy's action has none."
            )
        parts: list[Formula] = []
        for at in range(layout.actions):
            entry = _entry(ACTION, at)
            if np.isfinite(low[at]):
                least = float(low[at])
                parts.append(entry - least > self.margin if self.margin else entry > least)
            if np.isfinite(high[at]):
                most = float(high[at])
                parts.append(most - entry > self.margin if self.margin else entry < most)
        if not parts:
            raise UnsupportedError("No entry of this policy's action has a finite limit.")
        regions = regions_of(region, layout, policy.observation_low, policy.observation_high)
        found = question_of(policy, layout, all_of(parts), regions, semantics)
        return _named(found, "never saturates")


@dataclass(frozen=True, slots=True)
class NeverChooses:
    """See `never_chooses`."""

    choice: int

    def question(
        self, policy: PolicyGraph, layout: Layout, region: RegionInput, semantics: Semantics
    ) -> Question:
        """The choice is never the first greatest."""
        if layout.choices is None:
            raise UnsupportedError(
                "never_chooses(k) is about a policy that chooses one of several actions; this "
                "one's action is a vector. Limit its entries: action[0] < 1."
            )
        if not 0 <= self.choice < layout.choices:
            raise UnsupportedError(
                f"The policy chooses among 0 to {layout.choices - 1}, not {self.choice}."
            )
        claim = negation(abs(_entry(ACTION, 0) - float(self.choice)) <= 0.5)
        regions = regions_of(region, layout, policy.observation_low, policy.observation_high)
        found = question_of(policy, layout, claim, regions, semantics)
        return _named(found, f"never chooses {self.choice}")


def robust(
    at: Sequence[float], epsilon: float | str | Fraction | Sequence[Any], delta: float | None = None
) -> Robust:
    """Within epsilon of the observation `at`, every action entry stays within delta of its value.

    at: an observation, (n,), rounded to binary32 as an environment gives it. epsilon: one number,
    or one for each entry: |x[i] - at[i]| <= epsilon[i], cut at the observation space. delta: > 0,
    strict, from what the deployed policy gives at `at`; left out for a policy that chooses, whose
    choice must stay the same. Raises UnsupportedError for anything else.
    """
    return Robust(
        tuple(_finite(value, "at") for value in np.asarray(at).reshape(-1)),
        tuple(epsilon) if isinstance(epsilon, (list, tuple, np.ndarray)) else epsilon,
        None if delta is None else _above_zero(delta, "delta"),
    )


def monotone(
    obs: int | str, action: int = 0, *, tolerance: float, increasing: bool = True
) -> Monotone:
    """Where obs[i] rises and all else stays, action[j] falls by less than the tolerance.

    increasing=False: rises by less than it. tolerance: > 0; of two observations next to each other
    rounding alone can turn the order of their actions, so a proof without it is out of reach.
    """
    return Monotone(obs, action, _above_zero(tolerance, "tolerance"), increasing)


def never_saturates(margin: float = 0.0) -> NeverSaturates:
    """Each entry of the action keeps more than `margin` (>= 0) from the action space's limits."""
    if not margin >= 0 or not np.isfinite(margin):
        raise UnsupportedError(f"never_saturates takes a margin >= 0, found {margin!r:.40}.")
    return NeverSaturates(float(margin))


def never_chooses(choice: int) -> NeverChooses:
    """A policy that chooses never takes this one; of equal greatest values it takes the first."""
    given: Any = choice
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise UnsupportedError(f"never_chooses takes the index of a choice, found {given!r:.40}.")
    return NeverChooses(int(given))


def _entry(name: str, at: int) -> Term:
    return Component(Signal(name, shape=(-1,)), at)


def _away(at: int, value: float) -> Term:
    entry = _entry(ACTION, at)
    return entry - value if value >= 0 else entry + -value


def _named(question: Question, name: str) -> Question:
    """The question under the name of what was asked, its formula behind it."""
    return replace(question, text=f"{name}: {question.text}")


def _ball(center: Any, epsilon: Any, layout: Layout) -> Mapping[int, tuple[Fraction, Fraction]]:
    radii = list(epsilon) if isinstance(epsilon, tuple) else [epsilon] * layout.observations
    if len(radii) != layout.observations:
        raise UnsupportedError(
            f"robust(epsilon=...) takes one number, or {layout.observations}, found {len(radii)}."
        )
    found: dict[int, tuple[Fraction, Fraction]] = {}
    for at, radius in enumerate(number(value, "epsilon") for value in radii):
        if radius < 0:
            raise UnsupportedError(f"robust takes an epsilon >= 0, found {float(radius):g}.")
        middle = Fraction(float(center[at]))
        found[at] = middle - radius, middle + radius
    return found


def _cut(ends: tuple[Fraction, Fraction], low: float, high: float) -> tuple[Fraction, Fraction]:
    """A side of the ball inside the observation space."""
    least = max(ends[0], Fraction(float(low))) if np.isfinite(low) else ends[0]
    most = min(ends[1], Fraction(float(high))) if np.isfinite(high) else ends[1]
    if least > most:
        raise UnsupportedError("robust(at=...) lies outside the observation space.")
    return least, most


def _finite(value: Any, what: str) -> float:
    """A number that binary32 can hold, rounded to it or not."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise UnsupportedError(f"robust({what}=...) takes numbers, found {value!r:.40}.") from None
    if not abs(found) <= float(LARGEST):
        raise UnsupportedError(
            f"robust({what}=...) holds {found}; give finite numbers of binary32."
        )
    return found


def _above_zero(value: Any, what: str) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = np.nan
    if not (np.isfinite(found) and found > 0):
        raise UnsupportedError(f"{what} must be a finite number > 0, found {value!r:.40}.")
    return found
