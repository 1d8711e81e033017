"""Declared flows: a plant's rate of change as terms, with an action held over each period."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from safegym.digest import digest_text
from safegym.errors import FormulaError
from safegym.formula.declared import (
    check_keys,
    check_reads,
    check_signals,
    check_unit,
    declaration_lines,
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
class Flow:
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

    @property
    def signals(self) -> tuple[Signal, ...]:
        """States, then actions, then disturbances."""
        return (*self.states, *self.actions, *self.disturbances)

    @property
    def text(self) -> str:
        """Canonical text: everything that decides what the plant does."""
        rates = zip(self.states, self.derivative, strict=True)
        return "\n".join(
            (
                LANGUAGE,
                f"name {self.name}",
                f"dt {self.dt}",
                *declaration_lines("state", self.states),
                *declaration_lines("action", self.actions),
                *declaration_lines("disturbance", self.disturbances),
                *(f"derivative {signal.name} = {each}" for signal, each in rates),
                *(f"observation {each}" for each in self.observation),
            )
        )

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical text."""
        return digest_text(self.text)

    def to_json(self) -> dict[str, Any]:
        """A JSON value that says the whole model, for logs and evidence."""
        return {
            "name": self.name,
            "dt": str(self.dt),
            "states": [signal.name for signal in self.states],
            "actions": [signal.name for signal in self.actions],
            "disturbances": [signal.name for signal in self.disturbances],
            "derivative": [str(each) for each in self.derivative],
            "observation": [str(each) for each in self.observation],
            "text": self.text,
            "digest": self.digest,
        }
