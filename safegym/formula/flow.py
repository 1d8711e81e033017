"""Declared flows: a plant's rate of change as terms, with an action held over each period."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from safegym.errors import FormulaError
from safegym.formula.declared import (
    Declared,
    check_keys,
    check_reads,
    check_signals,
    check_unit,
    unit_of,
)
from safegym.formula.derivative import derivative as derivative_of
from safegym.formula.derivative import plain
from safegym.formula.terms import Signal, Term, term
from safegym.rational import Exact, exact
from safegym.units import ONE, unit

LANGUAGE = "safegym flow 1"
"""First line of the text that a digest is over."""


@dataclass(frozen=True, slots=True, init=False)
class Flow(Declared):
    """A plant in continuous time: d state / dt of state, action and disturbance.

    The action is chosen at the control instants 0, dt, 2 dt... and held until the next; so is each
    disturbance, which takes any value of its bounds (required) in each period anew. derivative:
    state's name -> term, in the state's unit per second or without one ("1" will do where the
    state is in "1"), made of + - * /, sin, cos and exp. The rest is as in `Dynamics`. Raises
    FormulaError, UnitError, UnsupportedError.
    """

    name: str
    states: tuple[Signal, ...]
    actions: tuple[Signal, ...]
    disturbances: tuple[Signal, ...]
    derivative: tuple[Term, ...]
    observation: tuple[Term, ...]
    dt: Fraction

    def __init__(
        self,
        name: str,
        *,
        states: Sequence[Signal],
        actions: Sequence[Signal],
        derivative: Mapping[str, Term],
        dt: Exact,
        disturbances: Sequence[Signal] = (),
        observation: Sequence[Term] | None = None,
    ) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "states", tuple(states))
        object.__setattr__(self, "actions", tuple(actions))
        object.__setattr__(self, "disturbances", tuple(disturbances))
        object.__setattr__(self, "dt", exact(dt))
        what = f"Flow {name}"
        if self.dt <= 0:
            raise FormulaError(f"{what}: dt must be above 0 s, found {dt}.")
        check_signals(what, self.signals, self.disturbances)
        check_keys(what, derivative, self.states, "derivative")
        terms = tuple(term(derivative[signal.name]) for signal in states)
        object.__setattr__(self, "derivative", terms)
        seen = tuple(states) if observation is None else tuple(observation)
        object.__setattr__(self, "observation", tuple(term(each) for each in seen))
        check_reads(what, terms, self.signals)
        check_reads(f"{what}: observation", self.observation, self.states)
        for signal, each in zip(self.states, terms, strict=True):
            rate = f"the rate of {signal.name}"
            if not (unit_of(signal) == ONE and each.unit_or_none == ONE):
                check_unit(what, rate, each, unit_of(signal) / unit("s"))
            for other in states:
                derivative_of(plain(each), other.name)

    def _rule(self) -> tuple[str, str, tuple[Term, ...]]:
        return LANGUAGE, "derivative", self.derivative
