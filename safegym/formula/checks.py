"""What signals and constants may be made of: names, numbers, shapes, bounds, labels, units."""

import math
import re
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import cast

from safegym.errors import FormulaError, UnitError
from safegym.units import Unit, unit

LONGEST_NAME = 100
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z", re.ASCII)

WORDS = """
true false not and or implies iff xor
always eventually never once historically next weak_next previous weak_previous rising falling
until weak_until release since trigger
abs min max norm sqrt exp sin cos scaled prob fraction mean given inf nan
"""
RESERVED = frozenset(WORDS.split())  # no signal may have a word of the language as its name


def number_text(value: float) -> str:
    """Returns the shortest decimal that reads back as the same binary64 number."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def finite(value: object, what: str) -> float:
    """Returns a finite float, -0.0 as 0.0. Raises TypeError or FormulaError naming `what`."""
    if isinstance(value, bool) or not isinstance(value, Real) or type(value).__name__ == "bool_":
        raise TypeError(
            f"{what} must be a number, found {value!r:.60} ({type(value).__name__}); "
            "wrap arrays, Decimal and text in float(...)."
        )
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise FormulaError(f"{what} must be finite, found {number!r}.")
    if isinstance(value, int) and int(number) != value:
        raise FormulaError(
            f"{what} must be a binary64 number; {value} is not. Write {number!r} if you mean that."
        )
    return number + 0.0


def positive(value: object, what: str) -> float:
    """Returns a finite float > 0. Raises TypeError or FormulaError naming `what`."""
    number = finite(value, what)
    if number <= 0:
        raise FormulaError(f"{what} must be > 0, found {number!r}.")
    return number


def check_name(name: object) -> None:
    """Raises FormulaError unless `name` is an ASCII identifier that is no word of the language."""
    if not isinstance(name, str) or not NAME.match(name) or len(name) > LONGEST_NAME:
        raise FormulaError(
            f"A signal's name must be an ASCII identifier of at most {LONGEST_NAME} characters, "
            f'such as "lateral_velocity"; found {name!r:.60}.'
        )
    if name in RESERVED:
        raise FormulaError(
            f"{name!r} is a word of the predicate language; name the signal {name}_value, say."
        )


def signal_unit(text: object, what: str) -> tuple[Unit, str]:
    """Returns the unit that `text` names, and the text without spaces. Raises UnitError."""
    if not isinstance(text, str):
        raise UnitError(f'{what} unit must be text such as "m/s" or "1", found {text!r:.60}.')
    try:
        parsed = unit(text)
    except UnitError as error:
        raise UnitError(f"{what} {error}") from None
    return parsed, "".join(text.split())


def index_of(value: object, what: str) -> int:
    """Returns an integer. Raises FormulaError naming `what`."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise FormulaError(f"{what} must be an integer, found {value!r:.60}.")
    return int(cast("int", value).__index__())


ANY_LENGTH = -1
"""The d of a vector whose length nobody declared."""


def shape_of(shape: object, what: str) -> tuple[int, ...]:
    """Returns () or (d,), d > 0 or ANY_LENGTH. Raises FormulaError naming `what`."""
    if isinstance(shape, (tuple, list)) and len(cast("Sequence[object]", shape)) <= 1:
        found = tuple(index_of(size, f"{what} shape") for size in cast("Sequence[object]", shape))
        if all(size > 0 or size == ANY_LENGTH for size in found):
            return found
    raise FormulaError(
        f"{what} shape must be () or (d,) with d > 0, or (-1,) for a vector of any length; "
        f"found {shape!r:.60}."
    )


def bounds_of(bounds: object, what: str) -> tuple[float, float] | None:
    """Returns (lowest, highest) or None. Raises FormulaError naming `what`."""
    if bounds is None:
        return None
    if not isinstance(bounds, (tuple, list)) or len(cast("Sequence[object]", bounds)) != 2:
        raise FormulaError(f"{what} bounds must be a pair (lowest, highest), found {bounds!r:.60}.")
    low, high = (finite(bound, f"{what} bounds") for bound in cast("Sequence[object]", bounds))
    if low >= high:
        raise FormulaError(f"{what} bounds must be lowest < highest, found ({low!r}, {high!r}).")
    return low, high


Coding = tuple[tuple[str, int], ...]
"""The names of a mode signal's values, each with its number."""
LARGEST_CODE = 2**31


def coding_of(labels: object, shape: object, what: str) -> Coding:
    """Returns distinct names with distinct numbers, none for a vector.

    labels: names for 0, 1, 2..., or a mapping or pairs of name and number. Raises FormulaError
    naming `what`.
    """
    pairs = _pairs(labels)
    names = {name for name, _ in pairs or ()}
    codes = {code for _, code in pairs or ()}
    if pairs is not None and len(names) == len(codes) == len(pairs) and not (pairs and shape):
        return pairs
    raise FormulaError(
        f"{what} labels must be distinct identifiers for the values 0, 1, 2... of a scalar, or "
        f"name them with distinct whole numbers, "
        f'labels={{"OK": 0, "FAULT": 7}}; found {labels!r:.60}.'
    )


def _pairs(labels: object) -> Coding | None:
    listed: object = labels
    if isinstance(labels, Mapping):
        listed = tuple(cast("Mapping[object, object]", labels).items())
    if not isinstance(listed, (tuple, list)):
        return None
    found: list[tuple[str, int]] = []
    for place, item in enumerate(cast("Sequence[object]", listed)):
        pair = cast("tuple[object, ...]", item) if isinstance(item, tuple) else (item, place)
        if len(pair) != 2 or not _is_label(pair[0]) or not _is_code(pair[1]):
            return None
        found.append((cast("str", pair[0]), int(cast("int", pair[1]))))
    return tuple(found)


def _is_label(found: object) -> bool:
    return isinstance(found, str) and NAME.match(found) is not None


def _is_code(found: object) -> bool:
    return isinstance(found, int) and not isinstance(found, bool) and abs(found) <= LARGEST_CODE


def counts_from_zero(coding: Coding) -> bool:
    """Whether the numbers are 0, 1, 2... in order."""
    return all(code == place for place, (_, code) in enumerate(coding))
