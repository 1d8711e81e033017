"""Declared dynamics: a plant's next state as terms, one source for every backend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from safegym.errors import FormulaError
from safegym.formula.expression import short
from safegym.formula.terms import Signal, Term, signals_of
from safegym.rational import Exact, exact


@dataclass(frozen=True, slots=True, init=False)
class Dynamics:
    """A plant in discrete time: state, action and disturbance give the next state.

    states, actions, disturbances: scalar signals. The bounds of an action are what the deployed
    system clips it to; those of a disturbance (required) are the set it stays in, whatever the
    time. next: state's name -> term over all of them. observation: what the policy sees, in order,
    as terms over the states (the states themselves by default). dt: seconds from one state to the
    next. Raises FormulaError for anything that does not fit.
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
        seen = tuple(states) if observation is None else tuple(observation)
        object.__setattr__(self, "observation", seen)
        self._check_names(next)
        object.__setattr__(self, "next", tuple(next[signal.name] for signal in states))
        self._check_terms()

    @property
    def signals(self) -> tuple[Signal, ...]:
        """States, then actions, then disturbances."""
        return (*self.states, *self.actions, *self.disturbances)

    def _check_names(self, given: Mapping[str, Term]) -> None:
        names = [signal.name for signal in self.signals]
        if len(set(names)) < len(names):
            raise FormulaError(f"Dynamics {self.name}: a signal is declared twice among {names}.")
        wanted = {signal.name for signal in self.states}
        if set(given) != wanted:
            raise FormulaError(
                f"Dynamics {self.name}: next= gives {sorted(given)}, the states are "
                f"{sorted(wanted)}; give one term for each state."
            )
        for signal in self.signals:
            if signal.shape:
                raise FormulaError(
                    f"Dynamics {self.name}: {signal.name} is a vector; declare a scalar signal for "
                    "each of its components."
                )
        for signal in self.disturbances:
            if signal.bounds is None:
                raise FormulaError(
                    f"Dynamics {self.name}: disturbance {signal.name} has no bounds; declare "
                    f"Signal({signal.name!r}, bounds=(-0.1, 0.1))."
                )

    def _check_terms(self) -> None:
        known = set(self.signals)
        for terms, allowed in ((self.next, known), (self.observation, set(self.states))):
            for each in terms:
                for signal in signals_of(each):
                    if signal not in allowed:
                        raise FormulaError(
                            f"Dynamics {self.name}: `{short(each)}` reads {signal.name}, which is "
                            "not declared there."
                        )
