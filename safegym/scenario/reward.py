"""A scenario's reward, declared as a sum of named terms."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from safegym.errors import ScenarioError
from safegym.formula.terms import Signal

if TYPE_CHECKING:
    from safegym.scenario.spec import ScenarioSpec

Row = tuple[Any, ...]
"""What `read_signals` returned at one sample, in the order of the declared signals."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


class Step(NamedTuple):
    """One step of an environment, as a term sees it.

    row: the signals at the sample after the action. reward: the environment's own, in its units.
    terminated: whether the environment ended the episode. ends: how the declared terminals call
    that end ("absorbed", "failed" or "interrupted"), "" while it goes on. reason: in its words.
    """

    row: Row
    action: Any
    reward: float
    terminated: bool
    ends: str
    reason: str


class Meter(Protocol):
    """A term at work on one environment."""

    def begin(self, row: Row) -> None:
        """A new episode, whose sample 0 has these signals."""
        ...

    def pay(self, step: Step) -> float:
        """What the term adds to the reward of this step."""
        ...

    def at_terminal(self) -> float:
        """What the newest step would have paid more had it been a terminal; 0 for most terms.

        A trainer asks where it ends an episode that the environment would have gone on with.
        """
        ...


@runtime_checkable
class RewardTerm(Protocol):
    """One named part of a reward: plain data, frozen and picklable."""

    @property
    def name(self) -> str:
        """Stands for the term in logs and errors."""
        ...

    @property
    def shaping(self) -> bool:
        """Whether it is a potential difference, which needs the learner's discount."""
        ...

    @property
    def signals(self) -> Iterable[Signal]:
        """The signals that it reads, as it declares them."""
        ...

    def declared(self) -> list[Any]:
        """All that decides what it pays, in JSON form: part of the scenario's digest."""
        ...

    def code(self) -> Iterable[Callable[..., Any]]:
        """Functions of the user's whose source files belong to the scenario's digest."""
        ...

    def issues(self, spec: "ScenarioSpec") -> Iterator[str]:
        """What does not fit the scenario, a sentence each."""
        ...

    def meter(self, spec: "ScenarioSpec", gamma: float) -> Meter:
        """The term at work on one environment. gamma: the reward's discount."""
        ...


@dataclass(frozen=True, slots=True)
class Reward:
    """The reward of every step is the sum of what its terms pay.

    The environment's own reward counts only where `EnvironmentReward` is among the terms.
    gamma: discount that potentials are differenced with, in (0, 1]; it must be the learner's, or
    the shaping is not policy-invariant (`safegym.train` refuses another).
    Raises ScenarioError for no term, two of one name, or a gamma outside (0, 1].
    """

    terms: tuple[RewardTerm, ...]
    gamma: float = 0.99

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", _tuple(self.terms))
        if not self.terms:
            raise ScenarioError("A reward needs a term; write Reward((EnvironmentReward(),)).")
        for term in self.terms:
            _check_term(term)
        names = [term.name for term in self.terms]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ScenarioError(
                f"Two terms of a reward are called {twice[0]!r}; logs tell terms apart by name, so "
                "give each its own: name=..."
            )
        object.__setattr__(self, "gamma", _discount(self.gamma))

    @property
    def shaped(self) -> tuple[str, ...]:
        """Names of the terms that are potential differences."""
        return tuple(term.name for term in self.terms if term.shaping)

    def declared(self) -> dict[str, Any]:
        """All that decides what it pays, in JSON form."""
        gamma = {"gamma": repr(self.gamma)} if self.shaped else {}
        return {"terms": [_declared(term) for term in self.terms], **gamma}

    def code(self) -> Iterator[Callable[..., Any]]:
        """Functions and classes of the user's whose source files belong to the digest."""
        for term in self.terms:
            yield from term.code()
            if _is_own(term):
                yield type(term)

    def issues(self, spec: "ScenarioSpec") -> Iterator[str]:
        """What does not fit the scenario, a sentence each."""
        for term in self.terms:
            yield from signal_issues(term, spec)
            yield from term.issues(spec)

    def meters(self, spec: "ScenarioSpec") -> Mapping[str, Meter]:
        """Term name -> the term at work. Raises ScenarioError where a term does not fit."""
        issues = list(self.issues(spec))
        if issues:
            raise ScenarioError(f"The reward of {spec.name} does not fit it. {' '.join(issues)}")
        return {term.name: term.meter(spec, self.gamma) for term in self.terms}


def _discount(gamma: object) -> float:
    if isinstance(gamma, bool) or not isinstance(gamma, int | float) or not 0 < gamma <= 1:
        raise ScenarioError(f"Reward(gamma={gamma!r}): give the learner's discount, in (0, 1].")
    return float(gamma)


def _declared(term: RewardTerm) -> list[Any]:
    kind = type(term)
    own = [f"{kind.__module__}.{kind.__qualname__}"] if _is_own(term) else []
    return [*own, *term.declared()]


def _is_own(term: RewardTerm) -> bool:
    """Whether the user wrote the term: then no version stands for its code."""
    return type(term).__module__.partition(".")[0] != "safegym"


def _tuple(terms: object) -> tuple[RewardTerm, ...]:
    if not isinstance(terms, Iterable):
        raise ScenarioError(
            f"Reward({terms!r:.80}) has no sequence of terms; write Reward((EnvironmentReward(),))."
        )
    return tuple(terms)


def _check_term(term: object) -> None:
    if isinstance(term, type) or not isinstance(term, RewardTerm):
        raise ScenarioError(
            f"{term!r:.80} is no term of a reward; write EnvironmentReward(), Dense(name, value), "
            "Sparse(name, when, amount), Effort(name, weight) or Potential(name, of)."
        )
    name: Any = term.name
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ScenarioError(
            f"A reward term is called {name!r}; use letters, digits and . _ - after a letter, "
            "such as 'goal.near'."
        )


def signal_issues(term: RewardTerm, spec: "ScenarioSpec") -> Iterator[str]:
    """A sentence for each signal that a term reads and the scenario records otherwise or not."""
    recorded = {signal.name: signal for signal in spec.signals}
    for signal in term.signals:
        found = recorded.get(signal.name)
        if found is None:
            yield (
                f"Term {term.name} reads signal {signal.name!r}; the scenario records "
                f"{', '.join(recorded)}."
            )
        elif (signal.shape, signal.unit) != (found.shape, found.unit):
            yield (
                f"Term {term.name} reads {signal.name!r} in {signal.unit} with shape "
                f"{signal.shape}; the scenario records it in {found.unit} with shape "
                f"{found.shape}. Use the scenario's own signal, or parse(text, "
                "signals=spec.signals)."
            )


def check_numbers(
    name: str, numbers: Mapping[str, object], optional: Mapping[str, object] | None = None
) -> None:
    """Raises ScenarioError for a field that is no number; those in `optional` may be None."""
    given = {field: value for field, value in (optional or {}).items() if value is not None}
    for field, value in {**numbers, **given}.items():
        if isinstance(value, bool) or not isinstance(value, Real) or _is_beyond(value):
            raise ScenarioError(
                f"Reward term {name} has {field}={value!r:.60}; give a number, such as {field}=1.0."
            )


def _is_beyond(value: Real) -> bool:
    try:
        float(value)
    except OverflowError:
        return True
    return False


def number_issues(name: str, numbers: Mapping[str, float | None]) -> Iterator[str]:
    """A sentence for each number of a term that is not finite."""
    for field, number in numbers.items():
        if number is not None and not isfinite(number):
            yield f"Term {name} has {field}={number!r}; give a finite number."
