"""Potential-based shaping: guidance that changes no optimal policy.

F = gamma * phi(s') - phi(s), added to the reward, leaves the optimal policies of every MDP as they
are. Source: Ng, Harada and Russell 1999, theorem 1. Discounted along an episode it telescopes to
gamma^T phi(s_T) - phi(s_0), so the last potential must not depend on what the policy did: where the
environment or a trainer (`at_terminal`) ends the episode, phi is 0 there. Where a horizon only cuts
it, phi stays, since the learner adds gamma * V(s_T), and the shaped V is V - phi.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from safegym.formula.formulas import Formula
from safegym.formula.terms import Signal, Term, signals_of
from safegym.scenario.reward import Meter, Row, Step, check_numbers, number_issues
from safegym.scenario.reward_checks import check_value, value_issues
from safegym.scenario.reward_terms import PlainTerm, expression, number_of
from safegym.scenario.reward_values import Value

if TYPE_CHECKING:
    from safegym.scenario.spec import ScenarioSpec


@dataclass(frozen=True, slots=True)
class Potential(PlainTerm):
    """Pays gamma * phi(after) - phi(before), with phi = weight * clip(of, -cap, cap).

    of: a term over signals, in its unit; or a formula of the present, whose robustness counts, in
    multiples of its scale. cap: None for no limit. gamma is the reward's. phi is 0 where the
    environment has ended the episode.
    """

    name: str
    of: Term | Formula
    weight: float = 1.0
    cap: float | None = None

    def __post_init__(self) -> None:
        check_value(self.name, self.of)
        check_numbers(self.name, {"weight": self.weight}, {"cap": self.cap})

    @property
    def shaping(self) -> bool:
        """It is a potential difference."""
        return True

    @property
    def signals(self) -> Iterable[Signal]:
        """The signals that it reads."""
        return signals_of(self.of)

    def declared(self) -> list[Any]:
        """Kind, name, value with its signals, and numbers."""
        cap = None if self.cap is None else repr(float(self.cap))
        return ["potential", self.name, expression(self.of), repr(float(self.weight)), cap]

    def issues(self, spec: "ScenarioSpec") -> Iterator[str]:
        """A value that one sample does not have."""
        yield from number_issues(self.name, {"weight": self.weight, "cap": self.cap})
        yield from cap_issues(self.name, self.cap)
        yield from value_issues(self.name, self.of)

    def meter(self, spec: "ScenarioSpec", gamma: float) -> Meter:
        """The term at work."""
        cap = inf if self.cap is None else float(self.cap)
        return _Potential(number_of(self.of, spec), float(self.weight), cap, gamma)


def cap_issues(name: str, cap: float | None) -> Iterator[str]:
    """A sentence for a cap that leaves nothing."""
    if cap is not None and not cap > 0.0:
        yield f"Term {name} has cap={cap!r}; give a number above 0."


@dataclass(slots=True)
class _Potential:
    value: Value
    weight: float
    cap: float
    gamma: float
    last: float = 0.0

    def begin(self, row: Row) -> None:
        self.last = self._phi(row)

    def pay(self, step: Step) -> float:
        before, self.last = self.last, 0.0 if step.terminated else self._phi(step.row)
        return self.gamma * self.last - before

    def at_terminal(self) -> float:
        return -self.gamma * self.last

    def _phi(self, row: Row) -> float:
        found = self.value(row)
        cap = self.cap
        return self.weight * (-cap if found < -cap else cap if found > cap else found)
