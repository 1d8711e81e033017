"""The report on a blend: what it holds, and everything that would break or skew a training."""

import json
from bisect import insort
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from safegym.errors import BlendError
from safegym.nemo.blend.places import Place
from safegym.nemo.blend.rates import PASS_RATE, rate_of
from safegym.nemo.blend.recipe import Recipe
from safegym.nemo.blend.rollouts import value_at
from safegym.nemo.blend.sorting import SMALL, ExternalSort, external_sort
from safegym.nemo.blend.stored import Tell, silent, stored_lines
from safegym.nemo.rows.forms import PARAMS, PLACEHOLDER, agent_of, fields_of, form_of, missing_keys
from safegym.nemo.rows.lines import Line, row_of

FIRST = 20
"""Lines that are named of each kind of problem."""
MOST_NAMES = 1000
"""Names that are counted apart; more are counted together."""
OTHERS = "(others)"
FURTHER = "further problems"
_LICENSES = ("license", "licence")


@dataclass(frozen=True, slots=True)
class Problem:
    """One kind of problem: what, how many rows, the first lines. severe: it breaks a training."""

    what: str
    count: int
    lines: Sequence[str]
    severe: bool

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "what": self.what,
            "count": self.count,
            "first_lines": list(self.lines),
            "severe": self.severe,
        }


@dataclass(frozen=True, slots=True)
class PartShare:
    """A part of a recipe: its share as the recipe has it and as the blend has it."""

    name: str
    wanted: float
    found: float
    rows: int


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a blend holds: rows by form, agent, data set and license, pass rates, and problems."""

    file: str
    rows: int
    forms: Mapping[str, int]
    agents: Mapping[str, int]
    datasets: Mapping[str, int]
    licenses: Mapping[str, int]
    rated: int
    mean_pass_rate: float | None
    parts: Sequence[PartShare]
    problems: Sequence[Problem]

    @property
    def ok(self) -> bool:
        """Whether no problem is severe."""
        return self.rows > 0 and not any(problem.severe for problem in self.problems)

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "file": self.file,
            "ok": self.ok,
            "rows": self.rows,
            "forms": _shares(self.forms, self.rows),
            "agents": _shares(self.agents, self.rows),
            "datasets": _shares(self.datasets, self.rows),
            "licenses": _shares(self.licenses, self.rows),
            "rated": self.rated,
            "mean_pass_rate": self.mean_pass_rate,
            "recipe": [
                {"name": p.name, "wanted": p.wanted, "found": p.found, "rows": p.rows}
                for p in self.parts
            ],
            "problems": [problem.to_json() for problem in self.problems],
        }


def check_blend(
    source: str | Path | Place,
    *,
    agents: Collection[str] = (),
    licenses: Collection[str] = (),
    recipe: Recipe | None = None,
    part_key: str = "dataset",
    tell: Tell = silent,
) -> CheckReport:
    """Read a whole blend and report on it; a broken line is a finding, not an error.

    agents, licenses: those that are known; others are problems. recipe: to compare shares with, by
    the value of `part_key`. Severe are broken lines, missing keys, unknown agents and licenses,
    pass rates outside [0, 1], unfilled placeholders, and shares more than a row off. Duplicates
    and rows without a license are told. Raises BlendError if the file cannot be read at all.
    """
    place = Place.of(source)
    seen = _Seen(place, agents, licenses, part_key)
    with external_sort(budget=SMALL) as digests, external_sort(budget=SMALL) as prompts:
        for line in stored_lines(place, tell, f"checking {place.text}"):
            seen.rows += 1
            try:
                row = row_of(line, place.text)
            except BlendError as error:
                seen.problem("broken line", line, str(error).partition(": ")[2], severe=True)
                continue
            seen.row(line, row)
            number = line.number.to_bytes(8)
            digests.add(_digest(row), number)
            params = fields_of(row).get(PARAMS)
            if isinstance(params, Mapping) and params.get("input"):
                prompts.add(_digest([agent_of(row), params["input"]]), number)
        copies = seen.duplicates("duplicate row", digests)
        seen.duplicates("same prompt for the same agent", prompts, besides=copies)
    return seen.report(recipe)


@dataclass(slots=True)
class _Kind:
    severe: bool
    count: int = 0
    lines: list[str] = field(default_factory=list[str])


class _Seen:
    """What was seen so far."""

    def __init__(
        self, place: Place, agents: Collection[str], licenses: Collection[str], part_key: str
    ) -> None:
        self._place, self._agents, self._licenses = place, set(agents), set(licenses)
        self._part_key = part_key
        self.rows, self._rated, self._sum = 0, 0, 0.0
        self._counts: dict[str, Counter[str]] = {
            name: Counter() for name in ("form", "agent", "dataset", "license", "part")
        }
        self._kinds: dict[str, _Kind] = {}

    def problem(self, what: str, line: Line, said: str, *, severe: bool) -> None:
        if what not in self._kinds and len(self._kinds) >= MOST_NAMES:
            what = FURTHER
        kind = self._kinds.setdefault(what, _Kind(severe))
        kind.severe = kind.severe or severe
        kind.count += 1
        if len(kind.lines) < FIRST:
            kind.lines.append(f"{line.number}: {said}" if said else str(line.number))

    def row(self, line: Line, row: Mapping[str, Any]) -> None:
        fields, agent = fields_of(row), agent_of(row)
        self._count("form", form_of(row) or "none")
        self._count("agent", agent)
        self._count("dataset", fields.get("dataset"))
        self._count("part", value_at(fields, self._part_key))
        for key in missing_keys(row):
            self.problem(f"missing {key}", line, "", severe=True)
        if PLACEHOLDER in fields:
            self.problem("unfilled placeholder", line, "", severe=True)
        if self._agents and agent and agent not in self._agents:
            self.problem(f"unknown agent {agent[:80]}", line, "", severe=True)
        self._license(line, fields)
        try:
            rate = rate_of(row, self._place, line.number)
        except BlendError as error:
            self.problem(f"bad {PASS_RATE}", line, str(error).partition(": ")[2], severe=True)
        else:
            self._rated += rate is not None
            self._sum += rate or 0.0

    def duplicates(self, what: str, digests: ExternalSort, besides: int = 0) -> int:
        """Rows that are like an earlier one; told if there are more than `besides`."""
        before, first, count, lines = b"", 0, 0, list[tuple[int, int]]()
        for digest, number in digests.merged():
            if digest != before:
                before, first = digest, int.from_bytes(number)
                continue
            count += 1
            insort(lines, (int.from_bytes(number), first))
            del lines[FIRST:]
        if count > besides:
            said = [f"{number}: like {first}" for number, first in lines]
            self._kinds[what] = _Kind(False, count, said)
        return count

    def report(self, recipe: Recipe | None) -> CheckReport:
        parts = _parts(recipe, self._counts["part"], self.rows)
        off = [part for part in parts if abs(part.found - part.wanted) * self.rows > 1]
        if off:
            said = [f"{p.name}: {p.found:.2%} instead of {p.wanted:.2%}" for p in off[:FIRST]]
            self._kinds["share off its recipe"] = _Kind(True, len(off), said)
        ordered = sorted(self._kinds.items(), key=lambda kind: (not kind[1].severe, kind[0]))
        sorted_counts = {name: dict(c.most_common()) for name, c in self._counts.items()}
        return CheckReport(
            self._place.text,
            self.rows,
            sorted_counts["form"],
            sorted_counts["agent"],
            sorted_counts["dataset"],
            sorted_counts["license"],
            self._rated,
            self._sum / self._rated if self._rated else None,
            parts,
            [Problem(what, k.count, k.lines, k.severe) for what, k in ordered],
        )

    def _license(self, line: Line, fields: Mapping[str, Any]) -> None:
        found = next((fields[key] for key in _LICENSES if fields.get(key)), None)
        self._count("license", found)
        if found is None:
            self.problem("no license named", line, "", severe=bool(self._licenses))
        elif self._licenses and str(found) not in self._licenses:
            self.problem(f"unknown license {str(found)[:80]}", line, "", severe=True)

    def _count(self, what: str, value: Any) -> None:
        counter = self._counts[what]
        name = "" if value is None else str(value)[:200]
        if name not in counter and len(counter) >= MOST_NAMES:
            name = OTHERS
        counter[name] += 1


def _parts(recipe: Recipe | None, found: Mapping[str, int], rows: int) -> list[PartShare]:
    if recipe is None or not rows:
        return []
    return [
        PartShare(part.name, float(share), found.get(part.name, 0) / rows, found.get(part.name, 0))
        for part, share in zip(recipe.parts, recipe.shares, strict=True)
    ]


def _shares(counts: Mapping[str, int], rows: int) -> dict[str, dict[str, float]]:
    return {name: {"rows": n, "share": n / rows} for name, n in counts.items()}


def _digest(value: Any) -> bytes:
    """Of the content, whatever the order of keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode("ascii")).digest()[:16]
