"""Two runs beside each other: what they share, what differs, and each claim in both."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from markupsafe import Markup

from safegym.audit.record import AuditRecord
from safegym.audit.rederive import Rederive
from safegym.audit.report import wording
from safegym.audit.report.drawing import read_run
from safegym.audit.report.figures import counted, plain, short, short_digest, spaced
from safegym.audit.report.integrity import Integrity
from safegym.audit.report.model import Story
from safegym.audit.report.svg import Canvas, Point, Scale, dots, span, ticks
from safegym.audit.report.templating import environment
from safegym.audit.sign import PublicKey

WIDTH, LEFT, RIGHT, TOP, END = 960.0, 70.0, 940.0, 46.0, 226.0
MOST_KEYS = 60
"""Entries of plan and training that are listed as different at most."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs. name: of its folder or bundle, with a letter before it."""

    name: str
    records: tuple[AuditRecord, ...]
    story: Story
    box: Integrity
    outcome: wording.Outcome


@dataclass(frozen=True, slots=True)
class Shared:
    """One thing that both runs state. same: whether they state the same."""

    what: str
    one: str
    other: str
    same: bool


@dataclass(frozen=True, slots=True)
class Compared:
    """A claim in both runs. note: why the two verdicts are not about the same, "" if they are."""

    id: str
    one: wording.ClaimVerdict | None
    other: wording.ClaimVerdict | None
    note: str


def compare(
    one: Path,
    other: Path,
    *,
    keys: Callable[[Path], Sequence[PublicKey]],
    rederive: Rederive | None = None,
    at: datetime | None = None,
) -> bytes:
    """The page that compares two runs or bundles; both are verified first.

    keys: the trusted keys for a place. rederive, at: as in `write_report`. Raises AuditError if
    one of the logs is broken.
    """
    sides = tuple(
        _side(letter, place, keys(place), rederive, at)
        for letter, place in (("A", one), ("B", other))
    )
    first, second = sides
    shared = list(shared_of(first, second))
    claims = list(claims_of(first, second))
    page: str = (
        environment()
        .get_template("compare.html.j2")
        .render(
            sides=sides,
            shared=shared,
            claims=claims,
            returns=return_lines(first.story, second.story),
            verdict_changes=sum(_changed(item) for item in claims),
            differing=sum(not item.same for item in shared),
        )
    )
    return page.encode("utf-8")


def _side(
    letter: str,
    place: Path,
    keys: Sequence[PublicKey],
    rederive: Rederive | None,
    at: datetime | None,
) -> Side:
    records, story, box, place = read_run(place, keys=keys, rederive=rederive, at=at)
    outcome = wording.outcome_of(story, incomplete=bool(box.missing))
    return Side(f"{letter}: {place.name}", records, story, box, outcome)


def shared_of(one: Side, other: Side) -> Iterator[Shared]:
    """Scenario, claims, plan, training, versions and counts of both runs."""
    yield _row("scenario", one.story.scenario, other.story.scenario)
    yield _row("scenario digest", *(_digest(side, "scenario_registered") for side in (one, other)))
    yield _row("claim set digest", *(_digest(side, "spec_registered") for side in (one, other)))
    yield from _entries("plan", one.story.plan, other.story.plan)
    yield from _entries("training", one.story.training, other.story.training)
    yield from _entries("version", _versions(one), _versions(other))
    yield _row("signing key", one.box.key[:16], other.box.key[:16])
    yield _row("last policy", *(short_digest(side.outcome.policy) for side in (one, other)))
    yield _row("training steps", *(_steps(side.story) for side in (one, other)))
    yield _row("screens", *(spaced(len(side.story.screens)) for side in (one, other)))
    yield _row("attempts", *(spaced(len(side.story.attempts)) for side in (one, other)))
    yield _row("run ended", *(side.story.outcome or "not closed" for side in (one, other)))


def _row(what: str, one: str, other: str) -> Shared:
    return Shared(what, one or "none", other or "none", one == other)


def _digest(side: Side, kind: str) -> str:
    found = next((record for record in side.records if record.kind == kind), None)
    return "" if found is None else short_digest(str(found.payload["digest"]))


def _versions(side: Side) -> dict[str, Any]:
    found = next((r for r in side.records if r.kind == "scenario_registered"), None)
    return {} if found is None else dict(found.payload.get("versions", {}))


def _steps(story: Story) -> str:
    if not story.epochs:
        return "no training in this log"
    return f"{spaced(story.epochs[-1].steps)} in {counted(len(story.epochs), 'epoch')}"


def _entries(what: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Shared]:
    """Only what differs, and one line that says how much is the same."""
    names = [*one, *(name for name in other if name not in one)]
    differing = [name for name in names if one.get(name) != other.get(name)]
    same = len(names) - len(differing)
    if same and not differing:
        yield Shared(what, f"{counted(same, 'entry', 'entries')} the same", "the same", True)
    for name in differing[:MOST_KEYS]:
        mine, theirs = (short(str(side.get(name, "not given")), 120) for side in (one, other))
        yield Shared(f"{what}: {name}", mine, theirs, False)


def claims_of(one: Side, other: Side) -> Iterator[Compared]:
    """Each claim of either run, in the order of A and then of B."""
    mine = {item.claim.id: item for item in one.outcome.verdicts}
    theirs = {item.claim.id: item for item in other.outcome.verdicts}
    for name in [*mine, *(name for name in theirs if name not in mine)]:
        a, b = mine.get(name), theirs.get(name)
        yield Compared(name, a, b, _note(one, other, a, b))


def _note(
    one: Side, other: Side, a: wording.ClaimVerdict | None, b: wording.ClaimVerdict | None
) -> str:
    if a is None or b is None:
        return f"only {'B' if a is None else 'A'} registers it"
    if a.claim.digest != b.claim.digest:
        return "another claim under the same name: its text differs"
    if _digest(one, "scenario_registered") != _digest(other, "scenario_registered"):
        return "judged on different scenarios"
    return ""


def _changed(item: Compared) -> bool:
    return item.one is None or item.other is None or item.one.mark != item.other.mark


def return_lines(one: Story, other: Story) -> Markup:
    """Mean training return of both runs over their steps; "" if neither logged any."""
    lines = [
        [(e.steps, e.mean_return) for e in story.epochs if e.mean_return is not None]
        for story in (one, other)
    ]
    values = [value for line in lines for _, value in line]
    if not values:
        return Markup("")
    last = max(step for line in lines for step, _ in line)
    across, up = Scale(0.0, max(last, 1), LEFT, RIGHT), Scale(*span(values), END, TOP)
    desc = "; ".join(
        f"{letter} ends at {plain(line[-1][1])} after {spaced(line[-1][0])} steps"
        if line
        else f"{letter} logged no return"
        for letter, line in zip("AB", lines, strict=True)
    )
    canvas = Canvas("returns", WIDTH, END + 56, "Mean return of training episodes", desc + ".")
    for value in ticks(up.lo, up.hi, 4):
        canvas.line((LEFT, up(value)), (RIGHT, up(value)), "grid")
        canvas.text((LEFT - 6, up(value) + 4), plain(value), "small", "end")
    for value in ticks(0.0, across.hi, 8):
        canvas.text((across(value), END + 16), spaced(int(value)), "small", "middle")
    canvas.line((LEFT, END), (RIGHT, END), "axis")
    canvas.text(((LEFT + RIGHT) / 2, END + 36), "training steps", "small", "middle")
    canvas.text((LEFT - 52, TOP - 26), "mean return of training episodes (no evidence)", "small")
    for letter, line, styles in zip(
        "AB", lines, (("line", "ok dots"), ("second", "")), strict=True
    ):
        _line(canvas, letter, [(across(step), up(value)) for step, value in line], styles)
    return canvas.markup()


def _line(canvas: Canvas, letter: str, points: list[Point], styles: tuple[str, str]) -> None:
    if not points:
        return
    canvas.polyline(points, styles[0])
    if styles[1] and len(points) <= 60:
        canvas.path(dots(points), styles[1])
    x, y = points[-1]
    canvas.text((x - 4, y - 8 if letter == "A" else y + 18), letter, "value", "end")
