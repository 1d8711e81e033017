"""The gate over the epochs: return, training violations, screens, attempts, decisions."""

from collections.abc import Sequence

from markupsafe import Markup

from safegym.audit.report.figures import counted, plain, spaced
from safegym.audit.report.model import Attempt, Epoch, Screen, Story
from safegym.audit.report.svg import (
    Anchor,
    Canvas,
    Point,
    Scale,
    crosses,
    diamonds,
    dots,
    pixel,
    span,
    ticks,
)

WIDTH, LEFT, RIGHT = 1080.0, 150.0, 1050.0
RETURN_TOP, RETURN_END = 22.0, 112.0
BARS_TOP, BARS_END = 138.0, 180.0
SCREENS, SEARCHES, ATTEMPTS, DECISIONS = 214.0, 246.0, 284.0, 322.0
AXIS, LEGEND = 352.0, 400.0
HEIGHT = 440.0
APART = 16.0
"""Pixels between attempts of one epoch."""


def timeline(story: Story) -> Markup:
    """The picture, or "" if the run had no epoch."""
    numbers = [item.epoch for item in story.epochs]
    numbers += [item.epoch for item in story.screens] + [item.epoch for item in story.decisions]
    last = max(numbers, default=0)
    if last == 0:
        return Markup("")
    canvas = Canvas("timeline", WIDTH, HEIGHT, "The gate over the epochs", _describe(story, last))
    across = Scale(0.5, last + 0.5, LEFT, RIGHT)
    _frame(canvas, across, last)
    _returns(canvas, across, story.epochs)
    _violations(canvas, across, story.epochs)
    _screens(canvas, across, story.screens)
    _searches(canvas, across, story)
    _attempts(canvas, across, story.attempts)
    _decisions(canvas, across, story)
    _legend(canvas)
    return canvas.markup()


def _describe(story: Story, last: int) -> str:
    passed = sum(screen.passed for screen in story.screens)
    degraded = sum(screen.degraded for screen in story.screens)
    tried = ", ".join(
        f"attempt {item.number} in epoch {item.epoch}: {item.outcome or 'open'}"
        for item in story.attempts[:20]
    )
    suites = sum(suite.passed for suite in story.suites)
    finds = sum(burst.found for burst in story.bursts)
    looked = ""
    if story.suites or story.bursts:
        looked = (
            f"{suites} of {counted(len(story.suites), 'regression suite')} passed; "
            f"{finds} of {len(story.bursts)} searches found a counterexample; "
        )
    return (
        f"{counted(last, 'epoch')}; {counted(len(story.screens), 'screen')}, {passed} passed, "
        f"{degraded} degraded; {counted(len(story.rollbacks), 'rollback')}; "
        f"{looked}{tried or 'no attempt'}."
    )


def _frame(canvas: Canvas, across: Scale, last: int) -> None:
    lanes = (
        (RETURN_TOP + 14, "mean return"),
        (BARS_TOP + 14, "violations in"),
        (SCREENS + 4, "screens"),
        (SEARCHES + 4, "suite, searches"),
        (ATTEMPTS + 4, "attempts"),
        (DECISIONS + 4, "decisions"),
    )
    for y, name in lanes:
        canvas.text((LEFT - 14, y), name, "label", "end")
    canvas.text((LEFT - 14, RETURN_TOP + 29), "of training episodes", "small", "end")
    canvas.text((LEFT - 14, BARS_TOP + 28), "training", "label", "end")
    canvas.text((LEFT - 14, BARS_TOP + 42), "(no evidence)", "small", "end")
    for y in (SCREENS, SEARCHES, ATTEMPTS, DECISIONS):
        canvas.line((LEFT, y), (RIGHT, y), "grid")
    canvas.line((LEFT, AXIS), (RIGHT, AXIS), "axis")
    marks = sorted({1, *(int(value) for value in ticks(1, last, 10) if 1 <= value <= last)})
    for epoch in marks:
        canvas.line((across(epoch), AXIS), (across(epoch), AXIS + 5), "axis")
        canvas.text((across(epoch), AXIS + 18), str(epoch), "small", "middle")
    canvas.text((LEFT - 14, AXIS + 18), "epoch", "small", "end")


def _returns(canvas: Canvas, across: Scale, epochs: Sequence[Epoch]) -> None:
    seen = [(item.epoch, item.mean_return) for item in epochs if item.mean_return is not None]
    if not seen:
        canvas.text((LEFT + 4, RETURN_TOP + 40), "no return was logged", "small")
        return
    up = Scale(*span([value for _, value in seen]), RETURN_END, RETURN_TOP)
    points: list[Point] = [(across(epoch), up(value)) for epoch, value in seen]
    canvas.polyline(points, "line")
    if len(points) <= 60:
        canvas.path(dots(points), "dots")
    best = max(range(len(seen)), key=lambda at: seen[at][1])
    for at in sorted({0, best, len(seen) - 1}):
        x, y = points[at]
        anchor: Anchor = "start" if x < LEFT + 60 else "end" if x > RIGHT - 60 else "middle"
        above = y - 7 if y > RETURN_TOP + 14 else y + 16
        canvas.text((x, above), plain(seen[at][1]), "value", anchor)


def _violations(canvas: Canvas, across: Scale, epochs: Sequence[Epoch]) -> None:
    seen = [(item.epoch, sum(item.violations.values())) for item in epochs]
    most = max((count for _, count in seen), default=0)
    canvas.line((LEFT, BARS_END), (RIGHT, BARS_END), "grid")
    if most == 0:
        words = "none" if seen else "no epoch was logged"
        canvas.text((LEFT + 4, BARS_END - 8), words, "small")
        return
    up = Scale(0, most, BARS_END, BARS_TOP + 4)
    wide = max(1.0, min(14.0, 0.7 * (across(2) - across(1))))
    data = "".join(
        f"M{pixel(across(epoch) - wide / 2)} {pixel(BARS_END)}v{pixel(up(count) - BARS_END)}"
        f"h{pixel(wide)}V{pixel(BARS_END)}z"
        for epoch, count in seen
        if count
    )
    canvas.path(data, "bars")
    at = next(epoch for epoch, count in seen if count == most)
    canvas.text((across(at) + wide / 2 + 4, BARS_TOP + 12), spaced(most), "value")


def _screens(canvas: Canvas, across: Scale, screens: Sequence[Screen]) -> None:
    size = max(1.5, min(5.0, 0.42 * (across(2) - across(1))))
    passed = [(across(s.epoch), SCREENS) for s in screens if s.passed]
    worse = [(across(s.epoch), SCREENS) for s in screens if s.degraded and not s.passed]
    failed = [(across(s.epoch), SCREENS) for s in screens if not s.passed and not s.degraded]
    canvas.path("".join(_circle(x, y, size) for x, y in passed), "ok fill")
    canvas.path("".join(_circle(x, y, size) for x, y in failed), "open hollow")
    canvas.path("".join(_triangle(x, y, size * 1.2) for x, y in worse), "bad fill")
    if not screens:
        canvas.text((LEFT + 4, SCREENS - 6), "no screen was run", "small")


def _searches(canvas: Canvas, across: Scale, story: Story) -> None:
    """The regression suite left of an epoch's middle, its searches right of it."""
    side = min(11.0, 0.24 * (across(2) - across(1)))
    size = max(1.5, min(5.0, side * 0.5))
    for suite in story.suites:
        x = across(suite.epoch) - side
        words = f"suite in epoch {suite.epoch}: {suite.held} of {suite.starts} starts passed"
        canvas.path(_square(x, SEARCHES, size), "ok fill" if suite.passed else "bad hollow", words)
        if not suite.passed:
            canvas.path(crosses([(x, SEARCHES)], size * 0.7), "bad stroke")
    for epoch in sorted({burst.epoch for burst in story.bursts}):
        here = [burst for burst in story.bursts if burst.epoch == epoch]
        found, x = sum(burst.found for burst in here), across(epoch) + side
        words = f"searches in epoch {epoch}: {found} of {len(here)} found a counterexample"
        canvas.path(_lens(x, SEARCHES, size), "bad hollow" if found else "ink stroke", words)
        if found:
            canvas.path(crosses([(x, SEARCHES)], size * 0.45), "bad stroke")
    if not story.suites and not story.bursts:
        canvas.text((LEFT + 4, SEARCHES - 6), "neither was run", "small")


def _lens(x: float, y: float, r: float) -> str:
    return _circle(x, y, r) + f"M{pixel(x + 0.7 * r)} {pixel(y + 0.7 * r)}l{pixel(r)} {pixel(r)}"


def _circle(x: float, y: float, r: float) -> str:
    """Four quarters: a half circle's arc is ambiguous once its end is rounded."""
    ends = ((r, -r), (r, r), (-r, r), (-r, -r))
    arcs = "".join(f"a{pixel(r)} {pixel(r)} 0 0 1 {pixel(dx)} {pixel(dy)}" for dx, dy in ends)
    return f"M{pixel(x - r)} {pixel(y)}{arcs}z"


def _triangle(x: float, y: float, r: float) -> str:
    """Pointing down."""
    return f"M{pixel(x - r)} {pixel(y - r)}h{pixel(2 * r)}l{pixel(-r)} {pixel(2 * r)}z"


def _square(x: float, y: float, r: float) -> str:
    return f"M{pixel(x - r)} {pixel(y - r)}h{pixel(2 * r)}v{pixel(2 * r)}h{pixel(-2 * r)}z"


def attempt_places(attempts: Sequence[Attempt], across: Scale) -> list[tuple[float, Attempt]]:
    """Where attempts stand on the epoch axis; those of one epoch side by side, inside it."""
    found: list[tuple[float, Attempt]] = []
    for epoch in sorted({item.epoch for item in attempts}):
        here = [item for item in attempts if item.epoch == epoch]
        first = across(epoch) - APART * (len(here) - 1) / 2
        first = min(first, across.end - APART * (len(here) - 1))
        found += [(max(first, across.start) + APART * at, item) for at, item in enumerate(here)]
    return found


def _attempts(canvas: Canvas, across: Scale, attempts: Sequence[Attempt]) -> None:
    if not attempts:
        canvas.text((LEFT + 4, ATTEMPTS - 6), "no attempt was made", "small")
    for x, item in attempt_places(attempts, across):
        tip = f"attempt {item.number}: {item.outcome or 'open'}, {item.episodes} episodes"
        if item.outcome == "certified":
            canvas.path(_square(x, ATTEMPTS, 7), "ok fill", tip)
            canvas.path(f"M{pixel(x - 3.5)} {pixel(ATTEMPTS)}l2.5 3 4.5-6", "tick")
        elif item.outcome == "refuted":
            canvas.path(_square(x, ATTEMPTS, 7), "bad hollow", tip)
            canvas.path(crosses([(x, ATTEMPTS)]), "bad stroke")
        elif item.outcome in ("futile", "exhausted"):
            canvas.path(diamonds([(x, ATTEMPTS)], 8), "open hollow", tip)
        else:
            canvas.path(_square(x, ATTEMPTS, 6), "muted dashed", tip)
        canvas.text((x, ATTEMPTS - 12), str(item.number), "small", "middle")


def _decisions(canvas: Canvas, across: Scale, story: Story) -> None:
    held = [item.epoch for item in story.decisions if item.action == "hold" and item.epoch]
    canvas.path(
        "".join(f"M{pixel(across(epoch))} {pixel(DECISIONS - 4)}v8" for epoch in held),
        "muted stroke",
    )
    for item in story.decisions:
        x = across(item.epoch)
        if item.action == "promote":
            canvas.path(_star(x, DECISIONS), "ok fill", f"promoted in epoch {item.epoch}")
            canvas.text(
                (x, DECISIONS + 22), "promoted", "value", "end" if x > RIGHT - 30 else "middle"
            )
        elif item.action == "stop":
            canvas.path(_square(x, DECISIONS, 5), "ink fill", f"stopped in epoch {item.epoch}")
    apart = across(2) - across(1)
    for at, move in enumerate(story.rollbacks):
        x = across(move.epoch)
        back = "?" if move.to_epoch is None else str(move.to_epoch)
        tip = f"rolled back in epoch {move.epoch} to the policy of epoch {back}"
        canvas.path(_back(x, DECISIONS), "bad stroke", tip)
        if apart > 20 or at == len(story.rollbacks) - 1:
            canvas.text((x, DECISIONS + 22), f"to {back}", "small", "middle")


def _back(x: float, y: float) -> str:
    """An arrow that turns back to the left."""
    return (
        f"M{pixel(x + 5)} {pixel(y - 7)}c4 8 0 13-10 10"
        f"M{pixel(x + 0.5)} {pixel(y - 1)}l-5.5 4 4.5 5"
    )


def _star(x: float, y: float) -> str:
    right, left = "l2.4 6.3 6.6.3-5.2 4.2 1.8 6.5-5.6-3.7", "-5.6 3.7 1.8-6.5-5.2-4.2 6.6-.3z"
    return f"M{pixel(x)} {pixel(y - 9)}{right}{left}"


def _legend(canvas: Canvas) -> None:
    y, x = LEGEND - 4.0, LEFT - 60
    entries = (
        (_circle(x, y, 5), "ok fill", "screen passed"),
        (_circle(x + 118, y, 5), "open hollow", "not passed"),
        (_triangle(x + 214, y, 6), "bad fill", "degraded"),
        (_square(x + 300, y, 6), "ok fill", "attempt certified"),
        (_square(x + 430, y, 6) + crosses([(x + 430, y)], 3), "bad hollow", "refuted"),
        (diamonds([(x + 505, y)], 7), "open hollow", "settled nothing"),
        (_square(x + 622, y, 5.5), "muted dashed", "broken off"),
        (f"M{pixel(x + 714)} {pixel(y - 4)}v8", "muted stroke", "hold"),
        (_star(x + 764, y), "ok fill", "promote"),
        (_square(x + 838, y, 5), "ink fill", "stop"),
        (_back(x + 890, y), "bad stroke", "rollback"),
    )
    below: tuple[tuple[str, str, str, float], ...] = (
        (_square(x, y + 22, 5), "ok fill", "suite passed", 0),
        (_square(x + 118, y + 22, 5), "bad hollow", "suite failed", 118),
        (_lens(x + 214, y + 22, 5), "ink stroke", "search, nothing found", 214),
        (_lens(x + 370, y + 22, 5), "bad hollow", "search found a counterexample", 370),
    )
    for data, style, words, place in below:
        canvas.path(data, style)
        canvas.text((x + place + 14, y + 26), words, "small")
    canvas.path(crosses([(x + 118, y + 22)], 3), "bad stroke")
    canvas.path(crosses([(x + 370, y + 22)], 2.5), "bad stroke")
    places = (0, 118, 214, 300, 430, 505, 622, 714, 764, 838, 890)
    for (data, style, words), place in zip(entries, places, strict=True):
        canvas.path(data, style)
        canvas.text((x + place + 12, y + 4), words, "small")
