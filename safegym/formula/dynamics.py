"""Declared dynamics: a plant's next state as terms, one source for every backend.

Terms are those of formulas and, beside them, `if_(condition, then, otherwise)` of
`safegym.formula.choice`: a `Choice` node, of the fields `condition` (an `Atom`), `then` and
`otherwise`, anywhere in a term of `next` or `observation`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from safegym.errors import FormulaError
from safegym.formula.choice import Choice, choices_of
from safegym.formula.declared import (
    Declared,
    check_keys,
    check_reads,
    check_signals,
    check_unit,
    unit_of,
)
from safegym.formula.terms import Signal, Term, term
from safegym.rational import Exact, exact

LANGUAGE = "safegym dynamics 1"
"""First line of the text that a digest is over."""


@dataclass(frozen=True, slots=True, init=False)
class Dynamics(Declared):
    """A plant in discrete time: state, action and disturbance give the next state.

    states, actions, disturbances: scalar signals. The bounds of an action are what the deployed
    system clips it to; those of a disturbance (required) are the set it stays in, whatever the
    time. next: state's name -> term over all of them, in the state's unit or without one.
    observation: what the policy sees, in order, as terms over the states (the states themselves by
    default). dt: seconds from one state to the next. Raises FormulaError for anything that does
    not fit, UnitError for a next state in another unit than the state's.
    """

    name: str
    states: tuple[Signal, ...]
    actions: tuple[Signal, ...]
    disturbances: tuple[Signal, ...]
    next: tuple[Term, ...]
    observation: tuple[Term, ...]
    dt: Fraction

    def __init__(
        self,
        name: str,
        *,
        states: Sequence[Signal],
        actions: Sequence[Signal],
        next: Mapping[str, Term],
        dt: Exact,
        disturbances: Sequence[Signal] = (),
        observation: Sequence[Term] | None = None,
    ) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "states", tuple(states))
        object.__setattr__(self, "actions", tuple(actions))
        object.__setattr__(self, "disturbances", tuple(disturbances))
        object.__setattr__(self, "dt", exact(dt))
        what = f"Dynamics {name}"
        if self.dt <= 0:
            raise FormulaError(f"{what}: dt must be above 0 s, found {dt}.")
        check_signals(what, self.signals, self.disturbances)
        check_keys(what, next, self.states, "next")
        seen = tuple(states) if observation is None else tuple(observation)
        object.__setattr__(self, "observation", tuple(term(each) for each in seen))
        terms = tuple(term(next[signal.name]) for signal in states)
        object.__setattr__(self, "next", terms)
        check_reads(what, terms, self.signals)
        check_reads(f"{what}: observation", self.observation, self.states)
        for signal, each in zip(self.states, terms, strict=True):
            check_unit(what, f"the state {signal.name}", each, unit_of(signal))

    def _rule(self) -> tuple[str, str, tuple[Term, ...]]:
        return LANGUAGE, "next", self.next

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The distinct `if`s of the next state and the observation, parts first."""
        found = dict.fromkeys(each for root in self.terms for each in choices_of(root))
        return tuple(found)
