"""`where={"gust_peak": (0, 2)}`: fixing and narrowing what a search may choose."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from math import isfinite
from numbers import Real
from typing import Any

from safegym.errors import ScenarioError

Range = tuple[float, float]
Where = Mapping[str, float | Range | None]
"""Name -> a number (fix), a pair (narrow), or None (leave it to the seed)."""


def checked_names(where: Where, channels: Iterable[str], pieces: Iterable[str]) -> None:
    """Raise ScenarioError, with near matches, for a name that is not declared."""
    known, single = list(channels), set(pieces)
    for name in where:
        if name in single or name in known:
            continue
        choices = ", ".join(get_close_matches(name, [*known, *single], n=3, cutoff=0.4) or known)
        raise ScenarioError(
            f"where= names {name!r}, which the scenario does not declare; "
            + (f"did you mean {choices}?" if choices else "it declares nothing to choose.")
        )


def narrowed(name: str, low: float, high: float, asked: Any) -> Range:
    """The limits that `asked` leaves of [low, high]: a number fixes, a pair narrows.

    Raises ScenarioError unless they are finite, in order, and within what is declared.
    """
    pair = asked if isinstance(asked, tuple | list) else (asked, asked)
    if len(pair) != 2 or not all(_is_number(each) for each in pair):
        raise ScenarioError(
            f"where[{name!r}] is {asked!r}; give a number to fix it, a pair (low, high) to narrow "
            f"it, or None to leave it to the seed: where={{{name!r}: ({low:g}, {high:g})}}."
        )
    first, last = float(pair[0]), float(pair[1])
    if first > last:
        raise ScenarioError(
            f"where[{name!r}] is [{first:g}, {last:g}], which is empty; the lower limit comes "
            f"first: where={{{name!r}: ({last:g}, {first:g})}}."
        )
    if not low <= first <= last <= high:
        raise ScenarioError(
            f"where[{name!r}] is [{first:g}, {last:g}], which is not inside the declared "
            f"[{low:g}, {high:g}]; bounds are kept exactly."
        )
    return first, last


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and isfinite(value)
