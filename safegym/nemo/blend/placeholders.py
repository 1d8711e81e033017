"""Filling placeholders: rows that name a row of a public data set instead of repeating it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safegym.errors import BlendError
from safegym.nemo.blend.origins import ALIASES, Origin, Pinned, Wrapping, origins
from safegym.nemo.blend.places import Place, refuse
from safegym.nemo.blend.stored import Tell, silent, stored_rows, writing
from safegym.nemo.rows.forms import PARAMS, PLACEHOLDER, fields_of, with_fields

FIRST = 5
Named = str | Path | Place


@dataclass(frozen=True, slots=True)
class FillReport:
    """What was filled. failed: what went wrong -> how many rows; first: -> lines of the first."""

    out: str
    rows: int
    filled: int
    failed: Mapping[str, int]
    first: Mapping[str, Sequence[int]]
    digest: str

    @property
    def unfilled(self) -> int:
        """Placeholders that are still there."""
        return sum(self.failed.values())

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "out": self.out,
            "rows": self.rows,
            "filled": self.filled,
            "unfilled": self.unfilled,
            "failed": dict(self.failed),
            "first_lines": {what: list(lines) for what, lines in self.first.items()},
            "digest": self.digest,
        }


@dataclass(slots=True)
class _Failures:
    counts: dict[str, int] = field(default_factory=dict[str, int])
    first: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    def see(self, number: int, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1
        lines = self.first.setdefault(what, [])
        if len(lines) < FIRST:
            lines.append(number)

    def words(self) -> str:
        return "; ".join(
            f"{count} with {what} (line {', '.join(map(str, self.first[what]))}"
            f"{', ...' if count > FIRST else ''})"
            for what, count in self.counts.items()
        )


def fill(
    source: Named,
    out: Named,
    origin_files: Mapping[str, Sequence[Pinned]],
    *,
    keep_unfilled: bool = False,
    tell: Tell = silent,
) -> FillReport:
    """Put question, answer and prompt into each placeholder; every other row and key is kept.

    origin_files: alias -> its files in order, each with its pinned digest. A filled row has
    `question`, `expected_answer` and `responses_create_params.input`, and no `_hf_placeholder`.
    keep_unfilled: leave placeholders that cannot be filled as they are, counted; without it they
    are an error and nothing is written. Raises BlendError so, or where a digest differs.
    """
    place, target = Place.of(source), Place.of(out)
    _ = target.kind
    refuse([target], [place, *(Place.of(f.file) for many in origin_files.values() for f in many)])
    failures, filled = _Failures(), 0
    with origins(origin_files, tell) as known, writing(target, tell) as written:
        for line, row in stored_rows(place, tell, f"filling {place.text}"):
            fields = fields_of(row)
            if PLACEHOLDER not in fields:
                written.write(line.text)
                continue
            found = _filled(fields, known)
            if isinstance(found, str):
                failures.see(line.number, found)
                written.write(line.text)
            else:
                filled += 1
                written.row(with_fields(row, found))
        if failures.counts and not keep_unfilled:
            raise BlendError(
                f"{place.text}: {sum(failures.counts.values())} placeholders cannot be filled: "
                f"{failures.words()}. Nothing was written; --keep-unfilled keeps them as they are."
            )
    return FillReport(
        target.text, written.rows, filled, failures.counts, failures.first, written.digest
    )


def _filled(fields: Mapping[str, Any], known: Mapping[str, Origin]) -> dict[str, Any] | str:
    """The fields with question and answer, or in words why not."""
    placeholder, alias = fields[PLACEHOLDER], fields.get("dataset")
    if not isinstance(placeholder, Mapping):
        return "a placeholder that is no object"
    if not isinstance(alias, str):
        return "no dataset that names the alias"
    if alias not in known:
        known_names = ", ".join(known) or "none was given"
        return f"unknown alias {alias[:80]!r} (sources: {known_names})"
    origin, number = known[alias], placeholder.get("row")
    if not isinstance(number, int) or isinstance(number, bool):
        return "a row that is no whole number"
    if not 0 <= number < origin.rows:
        return f"a row out of range (sources of {alias} have {origin.rows})"
    found = origin.row(number)
    if found.question is None:
        return f"a row of {alias} without a question"
    wrapping = ALIASES[alias].wrapping if alias in ALIASES else "either"
    question = _wrapped(placeholder.get("question_template"), found.question, wrapping)
    if question is None:
        return "a template that does not fit its alias"
    params = fields.get(PARAMS)
    kept = dict(params) if isinstance(params, Mapping) else {}
    return {
        **{key: value for key, value in fields.items() if key != PLACEHOLDER},
        "question": question,
        "expected_answer": found.answer,
        PARAMS: {**kept, "input": [{"role": "user", "content": question}]},
    }


def _wrapped(template: Any, question: str, wrapping: Wrapping) -> str | None:
    """The question in its template; None for a template that is not of the alias's kind."""
    if isinstance(template, Mapping) and wrapping != "inside":
        ends = [template.get(end, "") for end in ("prefix", "suffix")]
        fits = all(isinstance(end, str) for end in ends) and template.keys() <= {"prefix", "suffix"}
        return f"{ends[0]}{question}{ends[1]}" if fits else None
    if isinstance(template, str) and wrapping != "around" and "{question}" in template:
        return template.replace("{question}", question)
    return None
