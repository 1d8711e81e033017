"""Progress bars for screens, attempts and training."""

from types import TracebackType
from typing import Self

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from safegym.cli.console import err
from safegym.gate.events import (
    AttemptClosed,
    AttemptStarted,
    EpisodeJudged,
    GateEvent,
    ScreenDone,
)


class GateProgress:
    """Shows what a gate tells: a bar a stage, and a line for each thing that ended.

    Everything goes to standard error, so that `--json` output stays clean. quiet: show nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self.bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            console=err,
            disable=quiet,
            transient=True,
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self.bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bars.stop()

    def say(self, line: str) -> None:
        """Print a line above the bars."""
        if not self._quiet:
            self.bars.console.print(line)

    def gate(self, event: GateEvent) -> None:
        """Listen to a gate."""
        match event:
            case EpisodeJudged():
                self._episode(event)
            case ScreenDone():
                self._end("screen")
                self.say(_screen_line(event))
            case AttemptStarted():
                self.say(
                    f"attempt {event.attempt}: certifying {event.policy_digest[:19]} on fresh "
                    f"seeds; {event.clean} clean episodes would do, cap {event.cap}"
                )
            case AttemptClosed():
                self._end(f"certify, attempt {event.attempt}")
                why = f": {'; '.join(event.reasons)}" if event.reasons else ""
                self.say(f"attempt {event.attempt} [bold]{event.outcome}[/]{why}")

    def _episode(self, event: EpisodeJudged) -> None:
        task = self._tasks.get(event.stage)
        if task is None:
            task = self.bars.add_task(event.stage, total=event.cap, note="")
            self._tasks[event.stage] = task
        undecided = f", {event.undecided} undecided" if event.undecided else ""
        self.bars.update(
            task,
            completed=event.number,
            note=f"worst claim: {event.violations} violated{undecided}",
        )

    def _end(self, stage: str) -> None:
        task = self._tasks.pop(stage, None)
        if task is not None:
            self.bars.remove_task(task)


def _screen_line(event: ScreenDone) -> str:
    failed = {claim: count for claim, count in event.violations.items() if count}
    counts = ", ".join(f"{claim} {count}" for claim, count in failed.items()) or "no violation"
    verdict = "[green]passed[/]" if event.passed else "[yellow]not passed[/]"
    if event.degraded:
        verdict = "[red]degraded[/]"
    return f"epoch {event.epoch}: screen {verdict}, {event.episodes} episodes: {counts}"
