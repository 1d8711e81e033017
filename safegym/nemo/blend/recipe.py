"""Recipes: which parts a blend has, and in which ratio, as exact numbers."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

from safegym.errors import BlendError

PUBLISHED = ("nano", "lightning")
"""Recipes that come with safegym: published mixes."""
LARGEST = 1 << 20
"""Bytes of the largest recipe file that is read."""
_MOST_PARTS = 10_000
Ratio = int | float | str | Decimal | Fraction


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a blend: its name, and its ratio."""

    name: str
    ratio: Fraction


@dataclass(frozen=True, slots=True)
class Recipe:
    """Parts with ratios. total: what the ratios sum to; shares are ratios of it.

    Raises BlendError for no parts, a name twice, a ratio that is not above 0, or ratios that do
    not sum to `total`.
    """

    name: str
    parts: tuple[Part, ...]
    total: Fraction = Fraction(1)
    about: str = ""

    def __post_init__(self) -> None:
        if not self.parts or len(self.parts) > _MOST_PARTS:
            raise BlendError(f"A recipe has 1..{_MOST_PARTS} parts, found {len(self.parts)}.")
        names = [part.name for part in self.parts]
        for name in names:
            if not name or "=" in name or names.count(name) > 1:
                raise BlendError(
                    f"Recipe {self.name}: parts have names of their own without '=', found {name!r}"
                    f"{' twice' if names.count(name) > 1 else ''}."
                )
        for part in self.parts:
            if part.ratio <= 0:
                raise BlendError(
                    f"Recipe {self.name}: the ratio of {part.name} is {shown(part.ratio)}; ratios "
                    "are above 0. Leave the part out instead."
                )
        found = sum((part.ratio for part in self.parts), Fraction(0))
        if found != self.total:
            raise BlendError(
                f"Recipe {self.name}: the ratios sum to {shown(found)}, not {shown(self.total)}; "
                f'mend them, or say so: sum = "{shown(found)}" in the file, --sum {shown(found)} '
                "on the command line."
            )

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Each part's share of the rows, exact; they sum to 1."""
        return tuple(part.ratio / self.total for part in self.parts)

    @classmethod
    def of(
        cls, ratios: Mapping[str, Ratio], *, total: Ratio = 1, name: str = "given here"
    ) -> "Recipe":
        """The recipe of part name -> ratio. Raises BlendError for what is no number."""
        parts = tuple(Part(part, exact(ratio, part)) for part, ratio in ratios.items())
        return cls(name, parts, exact(total, "the sum"))

    @classmethod
    def load(cls, named: str | Path) -> "Recipe":
        """A published recipe by name, or one from a TOML or JSON file.

        The file has `parts`, a list of {name, ratio}, and may have `name`, `about` and `sum` (1 if
        it does not say). Raises BlendError saying what is wrong with it.
        """
        text = str(named)
        if text in PUBLISHED:
            source = files("safegym.nemo.blend").joinpath("recipes", f"{text}.json")
            return _read(json.loads(source.read_text("utf-8")), text)
        path = Path(named)
        if not path.is_file():
            raise BlendError(
                f"There is no recipe {text!r}: name a TOML or JSON file, or one of "
                f"{', '.join(PUBLISHED)}."
            )
        return _read(_parsed(path), text)

    def to_json(self) -> dict[str, Any]:
        """As a recipe file."""
        return {
            "name": self.name,
            "about": self.about,
            "sum": shown(self.total),
            "parts": [{"name": part.name, "ratio": shown(part.ratio)} for part in self.parts],
        }


def exact(value: object, what: str) -> Fraction:
    """A number as it was written: 0.1 is one tenth. Raises BlendError for anything else."""
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal | Fraction):
            raise ValueError
        return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        raise BlendError(
            f'The ratio of {what} is {value!r:.40}; write a number such as 0.25 or "1/4".'
        ) from error


def shown(value: Fraction) -> str:
    """A ratio as people write it: a decimal if it is one."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return str(value)
    return f"{Decimal(value.numerator) / Decimal(value.denominator):f}"


def _parsed(path: Path) -> Any:
    if path.stat().st_size > LARGEST:
        raise BlendError(f"{path}: a recipe has {LARGEST >> 20} MiB at most.")
    try:
        text = path.read_text("utf-8")
        if path.suffix.lower() == ".toml":
            return tomllib.loads(text, parse_float=Decimal)
        return json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise BlendError(f"{path}: no readable recipe, {error}.") from error


def _read(found: Any, name: str) -> Recipe:
    if not isinstance(found, dict) or not isinstance(found.get("parts"), list):
        raise BlendError(f"{name}: a recipe has parts, a list of {{name, ratio}}.")
    unknown = sorted(found.keys() - {"name", "about", "sum", "parts"})
    if unknown:
        raise BlendError(f"{name}: a recipe has name, about, sum and parts, found {unknown[0]!r}.")
    parts: list[Part] = []
    for part in found["parts"]:
        if not isinstance(part, dict) or part.keys() != {"name", "ratio"}:
            raise BlendError(f"{name}: each part has name and ratio, found {part!r:.80}.")
        parts.append(Part(str(part["name"]), exact(part["ratio"], str(part["name"]))))
    total = exact(found.get("sum", 1), "the sum")
    return Recipe(str(found.get("name", name)), tuple(parts), total, str(found.get("about", "")))
