"""Terms that pay for what one step and the sample after it show: dense, sparse, effort, an end."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from safegym.errors import ScenarioError
from safegym.formula.formulas import Formula
from safegym.formula.terms import Signal, Term, describe, signals_of
from safegym.scenario.identity import identity_of
from safegym.scenario.reward import Meter, Row, Step, check_numbers, number_issues
from safegym.scenario.reward_checks import (
    check_function,
    check_value,
    not_present,
    value_issues,
)
from safegym.scenario.reward_values import (
    Truth,
    Value,
    margin_of,
    of_the_present,
    truth_of,
    value_of,
)

if TYPE_CHECKING:
    from safegym.scenario.spec import ScenarioSpec

Sample = Mapping[str, Any]


class PlainTerm:
    """What most terms have in common: no shaping, no signals, no code of the user's."""

    __slots__ = ()

    @property
    def shaping(self) -> bool:
        """Whether it is a potential difference."""
        return False

    @property
    def signals(self) -> Iterable[Signal]:
        """The signals that it reads."""
        return ()

    def code(self) -> Iterable[Callable[..., Any]]:
        """Functions of the user's."""
        return ()


class PlainMeter:
    """A term that remembers nothing from step to step, and to which no end is special."""

    __slots__ = ()

    def begin(self, row: Row) -> None:
        """Nothing to begin."""

    def at_terminal(self) -> float:
        """Nothing more or less."""
        return 0.0


@dataclass(frozen=True, slots=True)
class EnvironmentReward(PlainTerm):
    """Pays `weight` times the reward that the environment itself gives, at every step."""

    name: str = "environment"
    weight: float = 1.0

    def __post_init__(self) -> None:
        check_numbers(self.name, {"weight": self.weight})

    def declared(self) -> list[Any]:
        """Kind, name and number."""
        return ["environment", self.name, repr(float(self.weight))]

    def issues(self, spec: "ScenarioSpec") -> Iterator[str]:
        """A weight that is not finite."""
        yield from number_issues(self.name, {"weight": self.weight})

    def meter(self, spec: "ScenarioSpec", gamma: float) -> Meter:
        """The term at work."""
        return _Own(float(self.weight))


@dataclass(frozen=True, slots=True)
class Dense(PlainTerm):
    """Pays `weight` times a value of the sample after the action, clipped to [low, high] before.

    value: a term over signals, in its unit; or a formula of the present, whose margin counts, in
    multiples of its scale. low, high: None for no limit.
    """

    name: str
    value: Term | Formula
    weight: float = 1.0
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        check_value(self.name, self.value)
        check_numbers(self.name, {"weight": self.weight}, {"low": self.low, "high": self.high})

    @property
    def signals(self) -> Iterable[Signal]:
        """The signals that it reads."""
        return signals_of(self.value)

    def declared(self) -> list[Any]:
        """Kind, name, value with its signals, and numbers."""
        numbers = [_text(self.weight), _text(self.low), _text(self.high)]
        return ["dense", self.name, expression(self.value), *numbers]

    def issues(self, spec: "ScenarioSpec") -> Iterator[str]:
        """A value that one sample does not have, or limits that are none."""
        yield from number_issues(
            self.name, {"weight": self.weight, "low": self.low, "high": self.high}
        )
        yield from value_issues(self.name, self.value)
        if self.low is not None and self.high is not None and self.low > self.high:
            yield f"Term {self.name} has low={self.low} above high={self.high}."

    def meter(self, spec: "ScenarioSpec", gamma: float) -> Meter:
        """The term at work."""
        low = -inf if self.low is None else float(self.low)
        high = inf if self.high is None else float(self.high)
        return _Dense(number_of(self.value, spec), float(self.weight), low, high)


@dataclass(frozen=True, slots=True)
class Sparse(PlainTerm):
    """Pays `amount` at each step whose sample satisfies `when`, or at the first only (`once`).

    when: a formula of the present, such as `distance <= 0.1`.
    """

    name: str
    when: Formula
    amount: float
    once: bool = False

    def __post_init__(self) -> None:
        check_value(self.name, self.when)
        check_numbers(self.name, {"amount": self.amount})

    @property
    def signals(self) -> Iterable[Signal]:
        """The signals that it reads."""
        return signals_of(self.when)

    def declared(self) -> list[Any]:
        """Kind, name, formula with its signals, and numbers."""
        return ["sparse", self.name, expression(self.when), _text(self.amount), bool(self.once)]

    def issues(self, spec: "ScenarioSpec") -> Iterator[str]:
        """A formula that one sample does not decide."""
        yield from number_issues(self.name, {"amount": self.amount})
        if not of_the_present(self.when):
            yield not_present(self.name, self.when)

    def meter(self, spec: "ScenarioSpec", gamma: float) -> Meter:
        """The term at work."""
        return _Sparse(truth_of(self.when, spec), float(self.amount), once=bool(self.once))


@dataclass(frozen=True, slots=True)
class Ending(PlainTerm):
    """Pays `amount` once, where the environment ends the episode for `reason`.

    reason: one of the scenario's declared terminals, or "" for any end of the environment's own.
    A horizon that is reached ends nothing: the learner values what would have come.
    """

    name: str
    amount: float
    reason: str = ""

    def __post_init__(self) -> None:
        check_numbers(self.name, {"amount": self.amount})
        reason: Any = self.reason
        if not isinstance(reason, str):
            raise ScenarioError(
                f"Reward term {self.name} has reason={reason!r:.60}; give a declared "
                'terminal, or "" for any end.'
            )

    def declared(self) -> list[Any]:
        """Kind, name, number and reason."""
        return ["ending", self.name, _text(self.amount), self.reason]

    def issues(self, spec: "ScenarioSpec") -> Iterator[str]:
        """A reason that the scenario does not declare."""
        yield from number_issues(self.name, {"amount": self.amount})
        if self.reason and self.reason not in spec.terminals:
            known = ", ".join(map(repr, spec.terminals)) or "none"
            yield (
                f"Term {self.name} waits for the end {self.reason!r}; the scenario's terminals "
                f"are {known}."
            )

    def meter(self, spec: "ScenarioSpec", gamma: float) -> Meter:
        """The term at work."""
        return _Ending(float(self.amount), self.reason)


@dataclass(frozen=True, slots=True)
class Effort(PlainTerm):
    """Pays -weight times the sum of the action's squares; with change=True, of their change.

    The first action of an episode changes nothing. Numbers are those that the policy gave.
    """

    name: str = "effort"
    weight: float = 0.1
    change: bool = False

    def __post_init__(self) -> None:
        check_numbers(self.name, {"weight": self.weight})

    def declared(self) -> list[Any]:
        """Kind, name and number."""
        return ["effort", self.name, _text(self.weight), bool(self.change)]

    def issues(self, spec: "ScenarioSpec") -> Iterator[str]:
        """A weight that is not finite."""
        yield from number_issues(self.name, {"weight": self.weight})

    def meter(self, spec: "ScenarioSpec", gamma: float) -> Meter:
        """The term at work."""
        return _Change(float(self.weight)) if self.change else _Effort(float(self.weight))


@dataclass(frozen=True, slots=True)
class Computed(PlainTerm):
    """Pays `weight` times what a function makes of the sample after the action.

    function: takes {signal name: number or read-only array} and returns a number; its source file
    and its name are part of the scenario's digest, so it must be defined in a file with `def`. It
    must depend on nothing else.
    """

    name: str
    function: Callable[[Sample], float]
    weight: float = 1.0

    def __post_init__(self) -> None:
        check_numbers(self.name, {"weight": self.weight})
        check_function(self.name, self.function)

    def declared(self) -> list[Any]:
        """Kind, name, number, and the function's name with what is baked into it."""
        what = f"reward term {self.name}"
        return ["computed", self.name, _text(self.weight), identity_of(self.function, what)]

    def code(self) -> Iterable[Callable[..., Any]]:
        """The function."""
        return (self.function,)

    def issues(self, spec: "ScenarioSpec") -> Iterator[str]:
        """A weight that is not finite."""
        yield from number_issues(self.name, {"weight": self.weight})

    def meter(self, spec: "ScenarioSpec", gamma: float) -> Meter:
        """The term at work."""
        names = tuple(signal.name for signal in spec.signals)
        return _Computed(self.function, names, float(self.weight))


def expression(value: Term | Formula) -> list[Any]:
    """An expression in JSON form: its text and its signals' declarations."""
    return [str(value), sorted(describe(signal) for signal in signals_of(value))]


def number_of(value: Term | Formula, spec: "ScenarioSpec") -> Value:
    """A term's value, or the margin of a formula of the present, as a function of a row."""
    return margin_of(value, spec) if isinstance(value, Formula) else value_of(value, spec)


def _text(number: float | None) -> str | None:
    return None if number is None else repr(float(number))


@dataclass(slots=True)
class _Own(PlainMeter):
    weight: float

    def pay(self, step: Step) -> float:
        return self.weight * step.reward


@dataclass(slots=True)
class _Dense(PlainMeter):
    value: Value
    weight: float
    low: float
    high: float

    def pay(self, step: Step) -> float:
        found = self.value(step.row)
        return self.weight * (
            self.low if found < self.low else self.high if found > self.high else found
        )


@dataclass(slots=True)
class _Sparse(PlainMeter):
    when: Truth
    amount: float
    once: bool
    paid: bool = False

    def begin(self, row: Row) -> None:
        self.paid = False

    def pay(self, step: Step) -> float:
        if self.paid or not self.when(step.row):
            return 0.0
        self.paid = self.once
        return self.amount


@dataclass(slots=True)
class _Ending(PlainMeter):
    amount: float
    reason: str

    def pay(self, step: Step) -> float:
        due = step.terminated and self.reason in ("", step.reason)
        return self.amount if due else 0.0


@dataclass(slots=True)
class _Effort(PlainMeter):
    weight: float

    def pay(self, step: Step) -> float:
        action = np.asarray(step.action, dtype=np.float64).ravel()
        return -self.weight * float(action @ action)


@dataclass(slots=True)
class _Change(PlainMeter):
    weight: float
    last: "np.ndarray[Any, np.dtype[np.float64]] | None" = None

    def begin(self, row: Row) -> None:
        self.last = None

    def pay(self, step: Step) -> float:
        action = np.array(step.action, dtype=np.float64).ravel()
        change = np.zeros_like(action) if self.last is None else action - self.last
        self.last = action
        return -self.weight * float(change @ change)


@dataclass(slots=True)
class _Computed(PlainMeter):
    function: Callable[[Sample], float]
    names: tuple[str, ...]
    weight: float

    def pay(self, step: Step) -> float:
        sample = dict(zip(self.names, map(_untouchable, step.row), strict=True))
        return self.weight * float(self.function(sample))


def _untouchable(value: Any) -> Any:
    """A view that the user's function cannot write: a reader may hand out the simulator's own."""
    if not isinstance(value, np.ndarray):
        return value
    view: np.ndarray[Any, np.dtype[Any]] = value.view()
    view.flags.writeable = False
    return view
