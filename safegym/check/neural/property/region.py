"""The region of observations that a proof is about, as its user wrote it."""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.problem import HalfSpace, Region
from safegym.check.neural.property.constraints import constrained
from safegym.check.neural.property.emptiness import check_not_empty
from safegym.check.neural.property.layout import OBSERVATION, Layout
from safegym.check.neural.property.limits import interval
from safegym.errors import UnsupportedError
from safegym.formula.formulas import Formula

WHERE = "where"
"""The key of a region's linear constraints."""
Box = Mapping[Any, Any]
RegionInput = Region | Box | Formula | str | Sequence[Any] | None
LARGEST_FILE = 2**20
"""Bytes of a file of regions, at most."""
MOST_PARTS = 1000
"""Boxes of a union, at most."""


def regions_of(
    given: RegionInput,
    layout: Layout,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> tuple[Region, ...]:
    """The parts of a region, each an exact box with cuts; a list is a union.

    given: a mapping from "obs[0]", 0 or a field's name to (low, high), "low..high" or one number,
    and from "where" to linear constraints in the language (text or a formula); or only such
    constraints; or a list of these; or None for the whole observation space. Text, Fraction and
    Decimal are read exactly as written, a float as the binary64 number that it is. Entries that a
    region does not name keep the limits (low, high) of the observation space. Raises
    UnsupportedError for an empty region, one outside the observation space, or a number that is
    none, with the line that would work.
    """
    if isinstance(given, Sequence) and not isinstance(given, str):
        parts: list[Any] = [*given]
    else:
        parts = [given]
    if not parts:
        raise UnsupportedError(
            'The region is a list of no parts, so it is empty; write region={"obs[0]": (-1, 1)}.'
        )
    found = [region for part in parts for region in _part(part, layout, low, high)]
    if len(found) > MOST_PARTS:
        raise UnsupportedError(f"The region has {len(found)} parts; {MOST_PARTS} are the most.")
    for region in found:
        check_not_empty(region)
    return tuple(found)


def read_region(path: Path) -> RegionInput:
    """The region of a JSON file: an object, or a list of them; numbers keep all their digits.

    Raises UnsupportedError for a file that is none.
    """
    if not path.is_file():
        raise UnsupportedError(f"There is no region file {path}.")
    if path.stat().st_size > LARGEST_FILE:
        raise UnsupportedError(f"{path} is larger than {LARGEST_FILE >> 20} MiB.")
    try:
        read: Any = json.loads(
            path.read_text(encoding="utf-8"), parse_float=Decimal, object_pairs_hook=_object
        )
    except (ValueError, RecursionError) as error:
        raise UnsupportedError(f"{path} is not JSON: {error}. {_EXAMPLE}") from None
    parts: list[Any] = read if isinstance(read, list) else [read]
    if not all(isinstance(part, dict) for part in parts):
        raise UnsupportedError(f"{path} holds no region. {_EXAMPLE}")
    return cast("RegionInput", parts)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, _ in pairs if sum(key == each for each, _ in pairs) > 1)
        raise ValueError(f"{twice!r:.60} stands twice in one object")
    return found


_EXAMPLE = 'A region file holds {"obs[0]": ["-0.1", "0.1"], "obs[1]": 0} or a list of such objects.'


def _part(
    given: Any, layout: Layout, low: NDArray[np.float64], high: NDArray[np.float64]
) -> list[Region]:
    if isinstance(given, Region):
        if not len(given.low) == len(given.high) == layout.observations:
            raise UnsupportedError(
                f"The region has {len(given.low)} dimensions, the observation "
                f"{layout.observations}."
            )
        if any(len(cut.coefficients) != layout.observations for cut in given.cuts):
            raise UnsupportedError(
                f"A half space of the region has not {layout.observations} coefficients, one for "
                "each entry of the observation."
            )
        box = dict(enumerate(zip(given.low, given.high, strict=True)))
        return [_boxed(box, given.cuts, layout, low, high)]
    if given is None or isinstance(given, (Formula, str)):
        return _where(given, {}, layout, low, high)
    if not isinstance(given, Mapping):
        raise UnsupportedError(
            f"A region is a mapping, found {given!r:.60} ({type(given).__name__}); write "
            'region={"obs[0]": (-0.1, 0.1)}.'
        )
    named = cast("dict[Any, Any]", given)
    limits: dict[int, tuple[Fraction, Fraction]] = {}
    for key, value in named.items():
        if key == WHERE:
            continue
        at = layout.observed(key)
        if at in limits:
            raise UnsupportedError(f"The region limits {layout.name((OBSERVATION, at))} twice.")
        limits[at] = interval(value, f"The region's {key}")
    return _where(named.get(WHERE), limits, layout, low, high)


def _where(
    where: Any,
    box: Mapping[int, tuple[Fraction, Fraction]],
    layout: Layout,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> list[Region]:
    found: list[Region] = []
    for limits, cuts in constrained(where, layout):
        narrowed = dict(box)
        for at, (least, most) in limits.items():
            lower, upper = narrowed.get(at, (None, None))
            lowest = [value for value in (lower, least) if value is not None]
            highest = [value for value in (upper, most) if value is not None]
            narrowed[at] = (
                max(lowest) if lowest else _end(low, at, layout),
                min(highest) if highest else _end(high, at, layout),
            )
        found.append(_boxed(narrowed, cuts, layout, low, high))
    return found


def _boxed(
    box: Mapping[int, tuple[Fraction, Fraction]],
    cuts: Sequence[HalfSpace],
    layout: Layout,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> Region:
    """The box of all entries; what it does not name comes from the observation space."""
    _check_limited(box, layout, low, high)
    lows, highs = list[Fraction](), list[Fraction]()
    for at in range(layout.observations):
        space = float(low[at]), float(high[at])
        least, most = box[at] if at in box else (Fraction(space[0]), Fraction(space[1]))
        name = layout.name((OBSERVATION, at))
        if least > most:
            raise UnsupportedError(
                f"The region is empty: {name} is to lie from {_text(least)} up to {_text(most)}; "
                f'write "{name}": ({_text(most)}, {_text(least)}), or drop one of the limits.'
            )
        lows.append(_within(least, space, name))
        highs.append(_within(most, space, name))
    return Region(tuple(lows), tuple(highs), tuple(cuts))


def _check_limited(
    box: Mapping[int, object],
    layout: Layout,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> None:
    open_ended = [
        layout.name((OBSERVATION, at))
        for at in range(layout.observations)
        if at not in box and not (np.isfinite(low[at]) and np.isfinite(high[at]))
    ]
    if open_ended:
        line = ", ".join(f'"{name}": (-1, 1)' for name in open_ended[:3])
        more = ", ..." if open_ended[3:] else ""
        typed = " ".join(f'--region "{name}=-1..1"' for name in open_ended[:3])
        raise UnsupportedError(
            f"The observation space has no finite limits for {', '.join(open_ended)[:200]}, so "
            f"the region must give them: region={{{line}{more}}}, on the command line "
            f"{typed}{more}."
        )


def _end(space: NDArray[np.float64], at: int, layout: Layout) -> Fraction:
    if not np.isfinite(space[at]):
        name = layout.name((OBSERVATION, at))
        raise UnsupportedError(
            f"The constraints limit {name} on one side only and the observation space has no limit "
            f'on the other; add "{name}": (-1, 1).'
        )
    return Fraction(float(space[at]))


def _within(value: Fraction, space: tuple[float, float], name: str) -> Fraction:
    """A limit inside the observation space; one that binary32 cannot tell from its end is the end.

    Raises UnsupportedError for one outside.
    """
    for end, outside in ((space[0], value < space[0]), (space[1], value > space[1])):
        if outside and float(np.float32(float(value))) == end:
            return Fraction(end)
        if outside:
            raise UnsupportedError(
                f"The region reaches outside the observation space: {name} at {_text(value)}, "
                f"where the space has {space[0]:.9g} to {space[1]:.9g}. No such observation "
                f'exists; write "{name}": ({space[0]:.9g}, {space[1]:.9g}) or less.'
            )
    return value


def _text(value: Fraction) -> str:
    return f"{float(value):.9g}"
