"""Finite Markov decision processes with rational transition probabilities.

Every probability is a whole-number weight over the sum of its row's weights, so that an
environment can draw it exactly and a solver can compute with it exactly.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from safegym.errors import ScenarioError

Row = tuple[tuple[str, int], ...]
"""Successors with whole-number weights; a weight over the row's sum is a probability."""
Kind = Literal["absorbed", "failed"]


@dataclass(frozen=True, slots=True)
class ChainModel:
    """States with signal values, and one row of successors for each state and action.

    signals: names, in the order of the values. values: state -> value of each signal. initial:
    weights of the states at sample 0. moves: state -> one row an action; a state without moves is
    terminal and stands in `terminals` with what its end means. Raises ScenarioError for weights
    below 1, unknown states, a state that cannot be left and is no terminal, or an initial one that
    is terminal.
    """

    signals: tuple[str, ...]
    values: Mapping[str, tuple[float, ...]]
    initial: Row
    moves: Mapping[str, tuple[Row, ...]]
    terminals: Mapping[str, Kind]

    def __post_init__(self) -> None:
        counts = {len(rows) for rows in self.moves.values()}
        if len(counts) != 1 or counts == {0}:
            raise ScenarioError(f"Every state has one row an action; found {sorted(counts)} rows.")
        if set(self.moves) | set(self.terminals) != set(self.values):
            odd = sorted((set(self.moves) | set(self.terminals)) ^ set(self.values))
            raise ScenarioError(f"States with moves or an end, and with values, differ: {odd}.")
        if set(self.moves) & set(self.terminals):
            raise ScenarioError(f"Terminal with moves: {sorted({*self.moves} & {*self.terminals})}")
        for state, values in self.values.items():
            if len(values) != len(self.signals):
                raise ScenarioError(f"State {state} has {len(values)} values for {self.signals}.")
        self._check_row("at sample 0", self.initial)
        for state, rows in self.moves.items():
            for row in rows:
                self._check_row(f"from {state}", row)
        for state, _ in self.initial:
            if state in self.terminals:
                raise ScenarioError(f"State {state} is terminal and may stand at sample 0.")

    def _check_row(self, where: str, row: Row) -> None:
        for state, weight in row:
            if state not in self.values:
                raise ScenarioError(f"The row {where} leads to {state}, which is not declared.")
            if type(weight) is not int or weight < 1:
                raise ScenarioError(
                    f"The row {where} gives {state} the weight {weight!r}; weights are whole "
                    "numbers of at least 1, a probability being weight / sum of the row."
                )
        if not row:
            raise ScenarioError(f"The row {where} is empty.")

    @property
    def actions(self) -> int:
        """How many actions there are."""
        return len(next(iter(self.moves.values())))

    @property
    def states(self) -> tuple[str, ...]:
        """All states, in the order of `values`: what an environment's observation counts."""
        return tuple(self.values)

    def under(self, rule: Mapping[str, int] | int) -> "Chain":
        """The Markov chain of a memoryless policy: state -> action, or one action everywhere."""
        rows = {
            state: rows[rule if isinstance(rule, int) else rule[state]]
            for state, rows in self.moves.items()
        }
        return Chain(
            self, _exact(self.initial), {state: _exact(row) for state, row in rows.items()}
        )


@dataclass(frozen=True, slots=True)
class Chain:
    """A model under one policy: exact probabilities of the states at sample 0 and of each move."""

    model: ChainModel
    initial: Mapping[str, Fraction]
    moves: Mapping[str, Mapping[str, Fraction]]

    def sample(self, state: str) -> dict[str, float]:
        """Signal name -> value in a state."""
        return dict(zip(self.model.signals, self.model.values[state], strict=True))


def _exact(row: Row) -> dict[str, Fraction]:
    total = sum(weight for _, weight in row)
    found: dict[str, Fraction] = {}
    for state, weight in row:
        found[state] = found.get(state, Fraction(0)) + Fraction(weight, total)
    return found
