"""From findings to a scene: which stretch of time is shown, and what stands beside the panels."""

from safegym.check.explanation.findings import Findings
from safegym.check.explanation.panels import panels_of
from safegym.check.explanation.phrases import named
from safegym.check.explanation.scene import Bracket, Interval, Panel, Scene
from safegym.check.explanation.visible import visible
from safegym.formula.expression import text_up_to

SHORTEST_ZOOM = 400
"""Samples of an episode that is always shown whole."""
SHARE = 12
"""A longer episode is shown whole unless what matters fills less than one part in so many."""
LONGEST = 300
_AFTER = {
    "held": "last value held",
    "false": "failed: nothing holds",
    "unknown": "not seen",
    "absent": "",
}


def scene_of(found: Findings, words: str) -> Scene:
    """Returns what the picture of a verdict shows."""
    panels = panels_of(found)
    frame = found.run.frame
    view, zoomed = _view(found, panels)
    marks = {mark.sample for panel in panels for mark in panel.marks}
    name = visible(found.verdict.claim_id) or "formula"
    return Scene(
        status=found.verdict.status,
        name=name,
        asked=visible(named(found.formula, text_up_to(found.formula, LONGEST))),
        words=words,
        clock=found.trace.clock,
        last=frame.last,
        view=view,
        after=_AFTER[frame.beyond],
        tail=None if frame.horizon is None or frame.last <= frame.end else frame.end + 1,
        rules=tuple(sorted(marks)),
        panels=panels,
        zoomed=zoomed,
    )


def _view(found: Findings, panels: tuple[Panel, ...]) -> tuple[Interval, bool]:
    """The samples shown, and whether that is a part of the episode only."""
    last = found.run.frame.last
    focus = _focus(found, panels)
    if focus is not None and last >= SHORTEST_ZOOM:
        first, end = focus
        length = end - first + 1
        if length * SHARE < last + 1:
            room = max(2 * length, SHORTEST_ZOOM // 8)
            return (max(first - room, 0), max(min(end + room, last), end)), True
    end = max((bracket.last for panel in panels for bracket in panel.brackets), default=last)
    return (0, max(last, min(end, last + max(last // 3, 5)))), False


def _focus(found: Findings, panels: tuple[Panel, ...]) -> Interval | None:
    """From the first to the last sample that matters: marks, and windows with a bound.

    None where the innermost window is most of the episode: then its whole course matters.
    """
    last = found.run.frame.last
    if not panels or any(_wide(bracket, last) for bracket in panels[0].brackets[-1:]):
        return None
    samples = [mark.sample for panel in panels for mark in panel.marks]
    for panel in panels:
        for bracket in panel.brackets:
            if not _wide(bracket, last):
                samples += [bracket.first, min(bracket.last, last + max(last // 3, 5))]
    return (max(min(samples), 0), max(samples)) if samples else None


def _wide(bracket: Bracket, last: int) -> bool:
    return 2 * (bracket.last - bracket.first) >= last
