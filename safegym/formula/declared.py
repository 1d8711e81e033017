"""What the declarations of plants share: names, signals, units, canonical lines."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from safegym.digest import digest_text
from safegym.errors import FormulaError, UnitError
from safegym.formula.expression import short
from safegym.formula.operations import check_scalar
from safegym.formula.terms import Signal, Term, describe, signals_of
from safegym.units import ONE, Unit


class Declared:
    """What every declared plant says of itself, whatever the form of its rule."""

    __slots__ = ()

    name: str
    states: tuple[Signal, ...]
    actions: tuple[Signal, ...]
    disturbances: tuple[Signal, ...]
    observation: tuple[Term, ...]
    dt: Fraction

    def _rule(self) -> tuple[str, str, tuple[Term, ...]]:
        """The language's name, the word for a state's term, and one term for each state."""
        raise NotImplementedError

    @property
    def signals(self) -> tuple[Signal, ...]:
        """States, then actions, then disturbances."""
        return (*self.states, *self.actions, *self.disturbances)

    @property
    def terms(self) -> tuple[Term, ...]:
        """One term for each state, then the observation."""
        return (*self._rule()[2], *self.observation)

    @property
    def text(self) -> str:
        """Canonical text: everything that decides what the plant does."""
        language, word, terms = self._rule()
        steps = zip(self.states, terms, strict=True)
        return "\n".join(
            (
                language,
                f"name {self.name}",
                f"dt {self.dt}",
                *_lines("state", self.states),
                *_lines("action", self.actions),
                *_lines("disturbance", self.disturbances),
                *(f"{word} {signal.name} = {each}" for signal, each in steps),
                *(f"observation {each}" for each in self.observation),
            )
        )

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical text."""
        return digest_text(self.text)

    def to_json(self) -> dict[str, Any]:
        """A JSON value that says the whole model, for logs and evidence."""
        _, word, terms = self._rule()
        return {
            "name": self.name,
            "dt": str(self.dt),
            "states": [signal.name for signal in self.states],
            "actions": [signal.name for signal in self.actions],
            "disturbances": [signal.name for signal in self.disturbances],
            word: [str(each) for each in terms],
            "observation": [str(each) for each in self.observation],
            "text": self.text,
            "digest": self.digest,
        }


def check_signals(what: str, signals: Sequence[Signal], disturbances: Sequence[Signal]) -> None:
    """Raises FormulaError unless all are distinct scalars and disturbances have bounds."""
    for signal in signals:
        if not isinstance(signal, Signal):  # pyright: ignore[reportUnnecessaryIsInstance]  # user input
            raise FormulaError(f"{what}: declare Signal objects, found {signal!r:.60}.")
        if signal.shape:
            raise FormulaError(
                f"{what}: {signal.name} is a vector; declare a scalar signal for each of its "
                "components."
            )
    names = [signal.name for signal in signals]
    if len(set(names)) < len(names):
        raise FormulaError(f"{what}: a signal is declared twice among {names}.")
    for signal in disturbances:
        if signal.bounds is None:
            raise FormulaError(
                f"{what}: disturbance {signal.name} has no bounds; declare "
                f"Signal({signal.name!r}, bounds=(-0.1, 0.1))."
            )


def check_keys(
    what: str, given: Mapping[str, Term | float], states: Sequence[Signal], word: str
) -> None:
    """Raises FormulaError unless there is one term for each state."""
    wanted = [signal.name for signal in states]
    if not wanted:
        raise FormulaError(f"{what}: declare one state or more.")
    if set(given) != set(wanted):
        raise FormulaError(
            f"{what}: {word}= gives {sorted(given)}, the states are {sorted(wanted)}; give one "
            "term for each state."
        )


def check_reads(what: str, terms: Iterable[Term], allowed: Sequence[Signal]) -> None:
    """Raises FormulaError for a term that is a vector or reads what is not declared there."""
    known = set(allowed)
    for each in terms:
        check_scalar(each, what)
        for signal in signals_of(each):
            if signal in known:
                continue
            twin = [other for other in allowed if other.name == signal.name]
            if twin:
                raise FormulaError(
                    f"{what}: `{short(each)}` reads {describe(signal)}, declared here as "
                    f"{describe(twin[0])}; use one Signal object."
                )
            raise FormulaError(
                f"{what}: `{short(each)}` reads {signal.name}, which is not declared there; "
                f"known: {', '.join(sorted(other.name for other in known))}."
            )


def check_unit(what: str, name: str, found: Term, wanted: Unit) -> None:
    """Raises UnitError unless the term is in that unit, or is a plain number."""
    unit = found.unit_or_none
    if unit is not None and unit != wanted:
        raise UnitError(
            f"{what}: `{short(found)}` is in {unit}, but {name} is in {wanted}; give the constants "
            'of the model their units: x + quantity(0.05, "s") * v.'
        )


def unit_of(signal: Signal) -> Unit:
    """A signal's unit, "1" if none was given."""
    return ONE if signal.unit_or_none is None else signal.unit_or_none


def _lines(word: str, signals: Iterable[Signal]) -> list[str]:
    """One canonical line a signal."""
    return [f"{word} {describe(signal)}" for signal in signals]
