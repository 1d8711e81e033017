"""Return of an episode against its worst margin over the claims."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from safegym.audit.report.figures import counted, plain, spaced
from safegym.audit.report.margins import DEEPEST
from safegym.audit.report.model import Campaign
from safegym.audit.report.svg import Canvas, Point, Scale, crosses, diamonds, dots, span, ticks
from safegym.trace.model import Trace

WIDTH, HEIGHT = 720.0, 300.0
LEFT, RIGHT, TOP, END = 64.0, 704.0, 26.0, 250.0
MOST = 600
"""Episodes drawn, the first in index order."""


@dataclass(frozen=True, slots=True)
class Earned:
    """An episode: its return, its worst margin, and its worst status over the claims."""

    total: float
    margin: float
    status: str


def earned(campaign: Campaign, traces: Iterable[Trace]) -> list[Earned]:
    """Episodes with a margin on some claim, in index order."""
    margins: dict[str, float] = {}
    statuses: dict[str, set[str]] = {}
    for judged in campaign.verdicts.values():
        for item in judged:
            statuses.setdefault(item.trace, set()).add(item.status)
            if item.lo is not None:
                margins[item.trace] = min(item.lo, margins.get(item.trace, item.lo))
    found: list[Earned] = []
    for trace in traces:
        if trace.digest in margins:
            seen = statuses[trace.digest]
            worst = next((s for s in ("violated", "inconclusive") if s in seen), "satisfied")
            found.append(Earned(float(trace.rewards.sum()), margins[trace.digest], worst))
    return found


def return_plot(found: Sequence[Earned], campaign: str) -> Markup:
    """The picture, or "" if there is nothing to compare: no margin, or every reward is 0."""
    if not any(item.total for item in found):
        return Markup("")
    canvas = Canvas(
        "returns", WIDTH, HEIGHT, f"Return against worst margin, {campaign}", _describe(found)
    )
    top = max((item.margin for item in found if math.isfinite(item.margin)), default=0.0)
    deepest = -DEEPEST * max(top, 1.0)
    margins = [max(item.margin, deepest) for item in found]
    across = Scale(*span([*margins, 0.0]), LEFT, RIGHT)
    beyond = sum(item.margin < across.lo for item in found)
    up = Scale(*span([item.total for item in found]), END, TOP)
    _frame(canvas, across, up, beyond)
    places: dict[str, list[Point]] = {"satisfied": [], "violated": [], "inconclusive": []}
    for item in found:
        places[item.status].append((across(item.margin), up(item.total)))
    canvas.path(dots(places["satisfied"]), "ok dots")
    canvas.path(diamonds(places["inconclusive"]), "open hollow")
    canvas.path(crosses(places["violated"]), "bad stroke")
    return canvas.markup()


def _describe(found: Sequence[Earned]) -> str:
    violated = sum(item.status == "violated" for item in found)
    best = max(found, key=lambda item: item.total)
    return (
        f"{counted(len(found), 'episode')}, {violated} violated some claim. The highest return, "
        f"{plain(best.total)}, had a worst margin of {plain(best.margin)}."
    )


def _frame(canvas: Canvas, across: Scale, up: Scale, beyond: int) -> None:
    zero = across(0.0)
    canvas.rect((LEFT, TOP), (max(zero - LEFT, 0.0), END - TOP), "badzone")
    for value in ticks(up.lo, up.hi, 5):
        canvas.line((LEFT, up(value)), (RIGHT, up(value)), "grid")
        canvas.text((LEFT - 6, up(value) + 4), plain(value), "small", "end")
    for value in ticks(across.lo, across.hi, 8):
        canvas.line((across(value), END), (across(value), END + 4), "axis")
        canvas.text((across(value), END + 16), plain(value), "small", "middle")
    canvas.line((zero, TOP), (zero, END), "zero")
    canvas.line((LEFT, END), (RIGHT, END), "axis")
    if beyond:
        canvas.text(
            (LEFT + 24, END - 8), f"{spaced(beyond)} lie further left than the axis", "small"
        )
    canvas.text((LEFT - 50, TOP - 10), "return of the episode", "small")
    words = "worst margin over the claims, multiples of each claim's scale"
    canvas.text(((LEFT + RIGHT) / 2, END + 36), words, "small", "middle")
