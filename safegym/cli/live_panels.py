"""How a live view looks: narrow terminals drop columns, never the claims or the gate's decision."""

from collections.abc import Iterator
from datetime import timedelta

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from safegym.check.statistics.intervals import interval
from safegym.cli.console import MARKS, shown
from safegym.cli.live_state import ClaimSeen, LiveState, Mark
from safegym.cli.sparks import spark
from safegym.gate.mirror.scalars import CONFIDENCE

WIDE, MIDDLE = 100, 72
"""Columns from which on everything, and most of it, is drawn."""
BLOCKS = ((120, 16), (80, 8), (MIDDLE, 6))
"""Blocks of a claim's series, by the columns that there are at least."""
ACTIONS = {
    "promote": ("★", "bold green"),
    "rollback": ("↩", "bold red"),
    "stop": ("■", "bold yellow"),
}
SCREENS = {"passed": ("○", "green"), "degraded": ("▼", "red"), "failed": ("·", "yellow")}
LEGEND = "○ passed · not passed ▼ degraded - no screen ↩ rollback ★ promoted ■ stop"


def picture(state: LiveState, width: int) -> RenderableType:
    """The whole view for a terminal of that many columns."""
    below = Table.grid(padding=(0, 1))
    below.add_column(style="dim", no_wrap=True)
    below.add_column(overflow="fold")
    for label, content in _rows(state, width):
        below.add_row(label, content)
    claims: list[RenderableType] = [_claims(state, width), Text()] if state.claims else []
    return Group(
        Rule(Text(shown(state.title), "bold"), align="left", style="dim"),
        _steps(state, width),
        Text(),
        *claims,
        below,
    )


def _rows(state: LiveState, width: int) -> Iterator[tuple[str, RenderableType]]:
    if state.returns:
        drawn = spark(state.returns, max(8, min(60, width - 30)))
        yield "return", Text.assemble((drawn, "cyan"), f" {state.returns[-1]:,.2f}")
    if state.marks:
        yield "gate", _line(state.marks[-max(4, (width - 12) // 2) :])
        if width >= MIDDLE:
            yield "", Text(LEGEND, "dim")
    if state.told:
        yield "", _short(state.told, width)
    yield from _now(state, width)
    yield "bank", Text(_bank(state))
    if state.suite or state.burst:
        told = (("suite", state.suite), ("falsification", state.burst))
        yield "checks", Text(" · ".join(f"{name}: {text}" for name, text in told if text))
    spent = sum(state.seconds.values())
    if width >= MIDDLE and spent > 0:
        shares = [f"{part} {value / spent:.0%}" for part, value in state.seconds.items()]
        yield "time", Text(" · ".join(shares), "dim")


def _steps(state: LiveState, width: int) -> RenderableType:
    row = Table.grid(padding=(0, 1))
    bar = ProgressBar(
        total=max(1, state.total), completed=state.steps, width=max(8, min(40, width - 58))
    )
    unit = " steps" if width >= MIDDLE else ""
    facts = [_clock(state.elapsed)]
    if width >= MIDDLE and state.speed:
        facts.append(f"{state.speed:,.0f}/s")
    if state.left and not state.ended:
        facts.append(f"{_clock(state.left)} left")
    counted = Text(f"{state.steps:,} of {state.total:,}{unit}")
    row.add_row(bar, counted, Text(" · ".join(facts), "dim"))
    return row


def _claims(state: LiveState, width: int) -> Table:
    small = width < MIDDLE
    table = Table(box=None, padding=(0, 1 if small else 2, 0, 0), header_style="dim")
    table.add_column("claim", overflow="fold")
    table.add_column("train" if small else "in training", no_wrap=True)
    table.add_column("screen" if small else "last screen", no_wrap=True)
    if width >= WIDE:
        table.add_column(f"{CONFIDENCE:.0%} interval", no_wrap=True)
    if width >= MIDDLE:
        table.add_column("lowest margin", justify="right", no_wrap=True)
    if width >= WIDE:
        table.add_column("weight", justify="right", no_wrap=True)
    table.add_column("cert" if small else "certification", no_wrap=True)
    most = max((rate for seen in state.claims.values() for rate in seen.rates), default=0.0)
    for claim, seen in state.claims.items():
        cells: list[RenderableType] = [shown(claim), _rate(seen, width, most), _screen(seen)]
        if width >= WIDE:
            cells.append(_interval(seen))
        if width >= MIDDLE:
            cells.append(_margin(seen))
        if width >= WIDE:
            cells.append("" if seen.weight is None else f"{seen.weight:.3g}")
        table.add_row(*cells, _certified(seen, short=small))
    return table


def _rate(seen: ClaimSeen, width: int, most: float) -> Text:
    """The last share and all of them, drawn on one scale for all claims."""
    if not seen.rates:
        return Text("")
    blocks = next((blocks for least, blocks in BLOCKS if width >= least), 0)
    drawn = spark(seen.rates, blocks, low=0.0, high=most)
    share = f"{seen.rates[-1]:>4.0%}"
    return Text.assemble(share, " ", (drawn, "yellow" if seen.rates[-1] > 0.0 else "green"))


def _screen(seen: ClaimSeen) -> Text:
    if seen.screened is None:
        base = seen.baseline
        return Text("" if base is None else f"baseline {base[0]}/{base[1]}", "dim")
    count, episodes = seen.screened
    return Text(f"{count} of {episodes}", "red" if count else "green")


def _interval(seen: ClaimSeen) -> Text:
    if seen.screened is None:
        return Text("")
    count, episodes = seen.screened
    low, high = interval(count, episodes, confidence=CONFIDENCE, method="beta-mixture")
    return Text(f"{100 * low:.1f} to {100 * high:.1f} %", "dim")


def _margin(seen: ClaimSeen) -> Text:
    if seen.margin is None:
        return Text("")
    return Text(f"{seen.margin:+.2f}", "red" if seen.margin < 0 else "green")


def _certified(seen: ClaimSeen, *, short: bool) -> Text:
    item = seen.evidence
    if item is None:
        return Text("")
    if item.kind == "observed" and item.status == "satisfied":
        return Text("○" if short else f"○ held in all {item.episodes}", "cyan")
    mark = MARKS[item.status]
    return mark[:1] if short else mark


def _line(marks: list[Mark]) -> Text:
    line = Text()
    for mark in marks:
        line.append_text(_mark(mark))
    return line


def _short(text: str, width: int) -> Text:
    told = Text(shown(text))
    told.truncate(2 * width, overflow="ellipsis")
    return told


def _mark(mark: Mark) -> Text:
    if mark.action in ACTIONS:
        return Text.assemble(ACTIONS[mark.action], " ")
    if mark.screen in SCREENS:
        return Text.assemble(SCREENS[mark.screen], " ")
    return Text("- " if mark.action else "  ", "dim")


def _now(state: LiveState, width: int) -> Iterator[tuple[str, RenderableType]]:
    stage = state.stage
    if stage is None:
        yield "now", Text(shown(state.now))
        return
    undecided = f", {stage.undecided} undecided" if stage.undecided else ""
    found = f"{stage.number} of {stage.cap}; worst claim {stage.violations} violated{undecided}"
    if width >= MIDDLE:
        row = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=stage.cap, completed=stage.number, width=min(30, width - 64))
        row.add_row(Text(shown(stage.stage)), bar, Text(found))
        yield "now", row
    else:
        yield "now", Text(f"{shown(stage.stage)}: {found}")
    if state.attempt is not None:
        yield "", Text(f"{state.attempt.clean} clean episodes would certify", "dim")


def _bank(state: LiveState) -> str:
    return f"{state.banked} starts · {state.replays} replayed · {state.penalties} penalties"


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
