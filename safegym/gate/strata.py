"""Strata: a declared mix of conditions, drawn so that the statistics of the whole mix hold.

Two ways are offered (docs/decisions/0012): "random" draws each episode's stratum from the
episode's own seed, so every episode is a fair draw of the mix; "rounds" runs complete rounds in
which each stratum has exactly its share, and nothing is decided inside a round.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from itertools import accumulate
from typing import Any, Literal, cast, get_args

import numpy as np

from safegym.check.statistics.strata import LONGEST_ROUND, stratum_of
from safegym.errors import GateError

Mode = Literal["random", "rounds"]
DRAWS = 0x53545241
"""First part of the spawn key of everything that strata draw from an episode's seed."""
WEIGHT = re.compile(r"[0-9]{1,20}(/[0-9]{1,20})?|[0-9]{0,20}\.[0-9]{1,20}")
"""How a weight is written. No exponents: a short text could ask for a number of any length."""
_EXAMPLE = 'Stratum("calm", "7/10", parameters={"gust_peak": [0.0, 0.2]})'


@dataclass(frozen=True, slots=True)
class Stratum:
    """A part of the mix.

    weight: exact share of the mix, as text ("7/10", "0.7"). parameters: name -> [low, high] in
    the parameter's unit, drawn evenly from it; others are drawn as the scenario does. faults:
    name -> value, fixed.
    """

    name: str
    weight: str
    parameters: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    faults: Mapping[str, float] = field(default_factory=dict[str, float])

    def __post_init__(self) -> None:
        if not self.name or not isinstance(cast("object", self.name), str):
            raise GateError(f"A stratum needs a name, found {self.name!r}; write {_EXAMPLE}.")
        for given, what in ((self.parameters, "parameters"), (self.faults, "faults")):
            if not _is_table(given):
                raise GateError(
                    f"Stratum {self.name} gives {what} as {given!r:.60}; write a table with a name "
                    f"for each, as in {_EXAMPLE}."
                )
        _ = self.share
        ranges = {
            name: self._range(name, self.parameters[name]) for name in sorted(self.parameters)
        }
        object.__setattr__(self, "parameters", ranges)
        faults = {name: self._number(name, self.faults[name]) for name in sorted(self.faults)}
        object.__setattr__(self, "faults", faults)
        both = sorted(set(ranges) & set(faults))
        if both:
            raise GateError(
                f"Stratum {self.name} gives {both[0]} both as a range and as a fault; keep one."
            )

    @property
    def share(self) -> Fraction:
        """The weight, exactly, in (0, 1]. Raises GateError."""
        weight = cast("object", self.weight)
        try:
            if not isinstance(weight, str) or not WEIGHT.fullmatch(weight):
                raise ValueError("not text")
            found = Fraction(weight)
        except (ValueError, ZeroDivisionError):
            raise GateError(
                f"Stratum {self.name} has weight {weight!r:.60}; write it as text, which is exact: "
                f"{_EXAMPLE}."
            ) from None
        if not 0 < found <= 1:
            raise GateError(
                f"Stratum {self.name} has weight {weight}, which is not in (0, 1]; leave out a "
                f"stratum that never occurs, or write {_EXAMPLE}."
            )
        return found

    def options(self, seed: int) -> dict[str, Any]:
        """What the episode's reset is given: the seed's draw in each range, and the faults."""
        words = _words(seed, 1, len(self.parameters))
        drawn = {
            name: _inside(low, high, word)
            for (name, (low, high)), word in zip(self.parameters.items(), words, strict=True)
        }
        return {"parameters": {**drawn, **self.faults}}

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        ranges = {name: list(ends) for name, ends in self.parameters.items()}
        faults = dict(self.faults)
        return {"name": self.name, "weight": self.weight, "parameters": ranges, "faults": faults}

    def _range(self, name: str, ends: object) -> tuple[float, float]:
        example = f'parameters={{"{name}": [0.0, 1.0]}}'
        pair: list[object] = list(cast("Sequence[object]", ends)) if _is_pair(ends) else []
        if len(pair) != 2:
            raise GateError(
                f"Stratum {self.name} gives {name} the range {ends!r:.60}; write {example}."
            )
        low, high = (self._number(name, end) for end in pair)
        if not low < high:
            raise GateError(
                f"Stratum {self.name} gives {name} the empty range [{low:g}, {high:g}]; write "
                f'{example}, or fix it: faults={{"{name}": {low:g}}}.'
            )
        return low, high

    def _number(self, name: str, value: object) -> float:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
        ):
            raise GateError(
                f"Stratum {self.name} gives {name} = {value!r:.60}, which is no finite number: "
                'a range is parameters={"' + name + '": [0.0, 1.0]}, and a fixed value '
                'faults={"' + name + '": 0.5}.'
            )
        return float(value)


@dataclass(frozen=True, slots=True)
class Strata:
    """The declared mix. mode: "random" or "rounds". Raises GateError unless weights sum to 1."""

    strata: tuple[Stratum, ...]
    mode: Mode = "random"

    def __post_init__(self) -> None:
        object.__setattr__(self, "strata", tuple(self.strata))
        if self.mode not in get_args(Mode):
            raise GateError(f"Strata(mode={self.mode!r:.40}): write mode='random' or 'rounds'.")
        names = [item.name for item in self.strata]
        if not names or len(set(names)) != len(names):
            raise GateError(f"Strata need distinct names, found {names}; write {_EXAMPLE}.")
        total = sum((item.share for item in self.strata), Fraction(0))
        if total != 1:
            rest = 1 - total + self.strata[-1].share
            hint = f'; with the others as they are, "{rest}" for {names[-1]}' if rest > 0 else ""
            told = " + ".join(item.weight for item in self.strata)
            raise GateError(f"The weights of the strata must sum to 1, and {told} = {total}{hint}.")
        if self.round > LONGEST_ROUND:
            raise GateError(
                f"The weights of the strata have the common denominator {self.round}; give weights "
                f"with one of at most {LONGEST_ROUND}, e.g. 7/10 and 3/10."
            )

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The weights, exactly, in order."""
        return tuple(item.share for item in self.strata)

    @property
    def round(self) -> int:
        """Episodes of the shortest round in which each stratum has exactly its share."""
        return math.lcm(*(item.share.denominator for item in self.strata))

    @property
    def look(self) -> int:
        """Episodes between two looks at the statistics: a whole round in mode "rounds", else 1."""
        return self.round if self.mode == "rounds" else 1

    def of(self, index: int, seed: int) -> Stratum:
        """The stratum of episode `index`, which runs on `seed`.

        In rounds it follows from the index alone, in an order that mixes the strata evenly.
        """
        if self.mode == "rounds":
            return self.strata[stratum_of(index, self.shares)]
        place = _below(self.round, seed)
        ends = accumulate(int(item.share * self.round) for item in self.strata)
        return next(s for s, end in zip(self.strata, ends, strict=True) if place < end)

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return {"mode": self.mode, "strata": [item.to_json() for item in self.strata]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Strata":
        """The strata of `to_json`. Raises GateError when malformed."""
        if not _is_table(data):
            raise GateError(f"Strata are a list of tables and a mode; found {data!r:.120}.")
        listed = cast("object", data.get("strata"))
        if not isinstance(listed, Sequence) or isinstance(listed, str) or "mode" not in data:
            raise GateError(f"Strata are a list of tables and a mode; found {data!r:.120}.")
        return cls(tuple(_stratum(item) for item in cast("Sequence[object]", listed)), data["mode"])

    def text(self) -> str:
        """The mix in words, for what evidence assumes."""
        parts = "; ".join(f"{item.name} {item.weight}{_conditions(item)}" for item in self.strata)
        how = (
            f"in complete rounds of {self.round} episodes, looked at between rounds only"
            if self.mode == "rounds"
            else "drawn for each episode from its own seed"
        )
        return f"strata {how}: {parts}"


def _conditions(item: Stratum) -> str:
    ranges = [f"{name} in [{ends[0]:g}, {ends[1]:g}]" for name, ends in item.parameters.items()]
    fixed = [f"{name} = {value:g}" for name, value in item.faults.items()]
    return f" ({', '.join((*ranges, *fixed))})" if ranges or fixed else ""


def _stratum(item: object) -> Stratum:
    """One stratum of a stored or written table. Raises GateError naming what is wrong in it."""
    names = {each.name for each in fields(Stratum)}
    found = cast("Mapping[str, Any]", item) if _is_table(item) else {}
    odd = sorted(set(found) - names)
    missing = sorted({"name", "weight"} - set(found))
    if odd or missing:
        wrong = f"has no {missing[0]}" if missing else ""
        wrong = f"has {odd[0]!r:.60}, which is none of {', '.join(sorted(names))}" if odd else wrong
        raise GateError(f"A stratum {wrong}: {item!r:.120}; write for example {_EXAMPLE}.")
    return Stratum(**found)


def _is_table(found: object) -> bool:
    if not isinstance(found, Mapping):
        return False
    return all(isinstance(name, str) for name in cast("Mapping[object, object]", found))


def _is_pair(ends: object) -> bool:
    return isinstance(ends, Sequence) and not isinstance(ends, str)


def _words(seed: int, use: int, number: int) -> list[int]:
    """64-bit words of the seed's stream for that use; the same on every machine and version."""
    sequence = np.random.SeedSequence(entropy=seed, spawn_key=(DRAWS, use))
    return [int(word) for word in sequence.generate_state(number, np.uint64)] if number else []


def _below(bound: int, seed: int) -> int:
    """A whole number in [0, bound), exactly even: words of the last, broken stretch are refused."""
    whole = 2**64 - 2**64 % bound
    words = _words(seed, 0, 16)
    return next((word for word in words if word < whole), words[-1]) % bound


def _inside(low: float, high: float, word: int) -> float:
    return min(high, max(low, low + (high - low) * ((word >> 11) * 2.0**-53)))
