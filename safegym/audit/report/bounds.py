"""One claim over the run: observed shares of screens, limits of attempts, the threshold."""

from collections.abc import Sequence

from markupsafe import Markup

from safegym.audit.report.figures import (
    confidence_text,
    counted,
    limit_sign,
    limit_text,
    plain,
    spaced,
    stated,
)
from safegym.audit.report.labels import Labels, Spot
from safegym.audit.report.model import Attempt, Looked, Promised, Shown, Story
from safegym.audit.report.svg import (
    Canvas,
    Point,
    Scale,
    crosses,
    decades,
    diamonds,
    dots,
    pixel,
    span,
    ticks,
)
from safegym.audit.report.timeline import attempt_places

WIDTH, HEIGHT = 460.0, 240.0
LEFT, RIGHT, TOP, END = 52.0, 448.0, 26.0, 186.0
SMALLEST = 1e-6


def bound_plot(name: str, claim: Promised, story: Story) -> Markup:
    """The picture, or "" if neither screen nor attempt judged the claim."""
    screens = [] if claim.is_mean else story.screens
    seen = [(s.epoch, s.claims[claim.id]) for s in screens if claim.id in s.claims]
    tried = [item for item in story.attempts if claim.id in item.evidence]
    if not seen and not tried:
        return Markup("")
    last = max([1, *(epoch for epoch, _ in seen), *(item.epoch for item in tried)])
    across = Scale(0.5, last + 0.5, LEFT + 8, RIGHT - 8)
    up = _vertical(claim, [look for _, look in seen], [a.evidence[claim.id] for a in tried])
    title = f"{claim.id}: shares, limits and threshold"
    canvas = Canvas(name, WIDTH, HEIGHT, title, _describe(claim, len(seen), tried))
    _frame(canvas, up, across, claim, last)
    _shares(canvas, up, across, claim, seen)
    places = attempt_places(tried, across)
    early = sum(x < (LEFT + RIGHT) / 2 for x, _ in places)
    marks = [(across(epoch), _place(up, _share(claim, look))) for epoch, look in seen]
    marks += [(x, _place(up, _share(claim, item.evidence[claim.id]))) for x, item in places]
    labels = Labels(canvas, LEFT, WIDTH, marks)
    _threshold(canvas, labels, up, claim, right=2 * early > len(tried))
    for x, attempt in places:
        _attempt(canvas, up, x, attempt, claim)
    for x, attempt in reversed(places):
        _label(labels, up, x, attempt, claim)
    return canvas.markup()


def rising(claim: Promised) -> bool:
    """Whether the picture shows a failing share (False: the share that holds)."""
    return claim.invariant or claim.side == "upper"


def _share(claim: Promised, seen: Looked | Shown) -> float:
    """Observed share in the claim's own terms; an undecided episode counts against the claim."""
    if claim.is_mean:
        found = seen.average if isinstance(seen, Shown) else None
        low, high = found or (0.0, 1.0)
        return high if rising(claim) else low
    failed = (seen.violations + seen.undecided) / max(seen.episodes, 1)
    return failed if rising(claim) else 1.0 - failed


def _vertical(claim: Promised, seen: Sequence[Looked], tried: Sequence[Shown]) -> Scale:
    values = [_share(claim, item) for item in seen] + [_share(claim, item) for item in tried]
    values += [item.bound for item in tried if item.bound is not None]
    if claim.threshold is not None:
        values.append(claim.threshold)
    if rising(claim):
        positive = [value for value in values if value > 0.0] or [0.1]
        return Scale(max(SMALLEST, min(positive) / 4), 1.0, END - 14, TOP, log=True)
    low, _ = span([*values, 1.0])
    return Scale(max(0.0, low), 1.0, END, TOP + 4)


def _describe(claim: Promised, screens: int, tried: Sequence[Attempt]) -> str:
    parts = [f"{counted(screens, 'screen')}; a screen's share makes no claim"]
    if claim.threshold is not None:
        parts.append(f"threshold {stated(claim.threshold)}")
    for attempt in tried[:10]:
        shown = attempt.evidence[claim.id]
        limit = "" if shown.bound is None else f", limit {_limit(claim, shown)}"
        parts.append(
            f"attempt {attempt.number}: {shown.violations} violated and {shown.undecided} "
            f"undecided of {shown.episodes}{limit}"
        )
    return "; ".join(parts) + "."


def _frame(canvas: Canvas, up: Scale, across: Scale, claim: Promised, last: int) -> None:
    words = "share of episodes that fail" if rising(claim) else "share of episodes that hold"
    words = "mean share of samples" if claim.is_mean else words
    canvas.text((LEFT - 40, TOP - 10), words + (", logarithmic" if up.log else ""), "small")
    for value in decades(up.lo, up.hi) if up.log else ticks(up.lo, up.hi, 4):
        canvas.line((LEFT, up(value)), (RIGHT, up(value)), "grid")
        canvas.text((LEFT - 6, up(value) + 4), plain(value), "small", "end")
    if up.log:
        canvas.text((LEFT - 6, END + 1), "0", "small", "end")
    canvas.line((LEFT, END), (RIGHT, END), "axis")
    for epoch in sorted({1, *(int(v) for v in ticks(1, max(last, 2), 6) if 1 <= v <= last)}):
        canvas.text((across(epoch), END + 16), str(epoch), "small", "middle")
    canvas.text((LEFT - 6, END + 16), "epoch", "small", "end")
    _legend(canvas, END + 38)


def _legend(canvas: Canvas, y: float) -> None:
    canvas.text((LEFT - 40, y + 4), "screen", "small")
    canvas.path(dots([(LEFT + 6, y)]), "ok dots")
    canvas.text((LEFT + 13, y + 4), "passed", "small")
    canvas.path(crosses([(LEFT + 62, y)], 2.6), "bad stroke")
    canvas.text((LEFT + 70, y + 4), "failed", "small")
    canvas.path(diamonds([(LEFT + 114, y)], 3.5), "open hollow")
    canvas.text((LEFT + 122, y + 4), "ended early", "small")
    canvas.path(_whisker(LEFT + 206, y - 7, y + 7), "ink stroke")
    canvas.text((LEFT + 216, y + 4), "attempt: share to limit, n episodes", "small")


def _place(up: Scale, share: float) -> float:
    """Zero has its own lane under a logarithmic axis."""
    return END - 3 if up.log and share <= 0.0 else up(share)


def _shares(
    canvas: Canvas, up: Scale, across: Scale, claim: Promised, seen: Sequence[tuple[int, Looked]]
) -> None:
    places: list[tuple[Point, str]] = [
        ((across(epoch), _place(up, _share(claim, look))), look.result) for epoch, look in seen
    ]
    canvas.path(dots([at for at, result in places if result == "passed"]), "ok dots")
    canvas.path(crosses([at for at, result in places if result == "failed"], 2.6), "bad stroke")
    still = [at for at, result in places if result not in ("passed", "failed")]
    canvas.path(diamonds(still, 3.5), "open hollow")


def _whisker(x: float, y: float, end: float) -> str:
    return f"M{pixel(x)} {pixel(y)}V{pixel(end)}M{pixel(x - 5)} {pixel(end)}h10"


def _attempt(canvas: Canvas, up: Scale, x: float, attempt: Attempt, claim: Promised) -> None:
    shown = attempt.evidence[claim.id]
    style = {"satisfied": "ok", "violated": "bad", "inconclusive": "open"}[shown.status]
    share = _place(up, _share(claim, shown))
    end = share if shown.bound is None else up(shown.bound)
    sure = "" if shown.confidence is None else f" at {confidence_text(shown.confidence)}"
    tip = (
        f"attempt {attempt.number}: {shown.violations} violated, {shown.undecided} undecided of "
        f"{shown.episodes}; limit {_limit(claim, shown)}{sure}"
    )
    if shown.bound is not None:
        canvas.path(_whisker(x, share, end), f"{style} stroke", tip)
    _mark(canvas, (x, share), shown.status, tip)


def _label(labels: Labels, up: Scale, x: float, attempt: Attempt, claim: Promised) -> None:
    """Limit and episodes; of attempts that stand too close for all, the latest are labelled."""
    shown = attempt.evidence[claim.id]
    share = _place(up, _share(claim, shown))
    end = share if shown.bound is None else up(shown.bound)
    n = f"n={spaced(shown.episodes)}"
    words = n if shown.bound is None else f"{_limit(claim, shown)}, {n}"
    labels.put(_spots(x, share, end, rising=rising(claim)), words, "value")


def _spots(x: float, share: float, end: float, *, rising: bool) -> list[Spot]:
    """Where a label may stand, the best first: beyond the whisker, then further, then beside."""
    first = max(min(end, share) - 6 if rising else max(end, share) + 14, TOP + 8)
    away = -14 if rising else 14
    rows = [first + away * step for step in range(4)] + [first - away * step for step in (1, 2)]
    left = x > (LEFT + RIGHT) / 2
    over: Spot = ((x + 8, 0.0), "end") if left else ((x - 8, 0.0), "start")
    aside: Spot = ((x - 10, 0.0), "end") if left else ((x + 10, 0.0), "start")
    kept = [y for y in rows if TOP + 8 <= y <= END - 4]
    return [((at[0], y), side) for at, side in (over, aside) for y in kept]


def _mark(canvas: Canvas, at: Point, status: str, tip: str) -> None:
    """Shape and colour by status: filled square, hollow diamond, crossed square."""
    x, y = at
    square = f"M{pixel(x - 4.5)} {pixel(y - 4.5)}h9v9h-9z"
    if status == "satisfied":
        canvas.path(square, "ok fill", tip)
    elif status == "violated":
        canvas.path(square, "bad hollow", tip)
        canvas.path(crosses([at], 2.5), "bad stroke")
    else:
        canvas.path(diamonds([at], 5.5), "open hollow", tip)


def _limit(claim: Promised, shown: Shown) -> str:
    if shown.bound is None:
        return "none"
    upper = (shown.side or claim.side) == "upper"
    figure = limit_text(shown.bound, up=upper, against=shown.threshold)
    return f"{limit_sign(shown, claim.side)} {figure}"


def _threshold(canvas: Canvas, labels: Labels, up: Scale, claim: Promised, *, right: bool) -> None:
    """The line, labelled at the end where fewer attempts stand."""
    if claim.threshold is None:
        return
    y = up(claim.threshold)
    canvas.line((LEFT, y), (RIGHT, y), "limit")
    sign = claim.comparison.replace("<=", "≤").replace(">=", "≥")
    words, style = f"claimed {sign} {stated(claim.threshold)}", "value limitlabel"
    below = y < TOP + 14
    place = (RIGHT - 4 if right else LEFT + 4, y + 14 if below else y - 5)
    labels.put([(place, "end" if right else "start")], words, style)
