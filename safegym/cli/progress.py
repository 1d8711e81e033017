"""Progress bars for screens, attempts and training."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

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

if TYPE_CHECKING:
    from safegym.gate.trainer.events import EpochEnded, Event


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
        self._steps = TaskID(0)

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


class RunProgress(GateProgress):
    """Shows a training run: steps, epochs, and what its gate tells."""

    def hear(self, event: "Event | GateEvent") -> None:
        """Listen to a training run."""
        from safegym.gate.trainer import events

        match event:
            case EpisodeJudged() | ScreenDone() | AttemptStarted() | AttemptClosed():
                self.gate(event)
            case events.RunStarted():
                self._steps = self.bars.add_task("training", total=event.total, note="")
                self.bars.update(self._steps, completed=event.steps)
                for line in event.differences:
                    self.say(f"[yellow]not bit-exact:[/] {line}")
            case events.RolloutEnded():
                note = "" if event.mean_return is None else f"return {event.mean_return:.2f}"
                self.bars.update(self._steps, completed=event.steps, note=note)
            case events.EpochEnded():
                self.say(_epoch_line(event))
            case events.GateDecided():
                self.say(f"epoch {event.epoch}: [bold]{event.action}[/]: {event.reasons[0]}")
            case events.RolledBack():
                self.say(f"epoch {event.epoch}: weights are those of epoch {event.to_epoch} again")
            case _:
                pass


def _epoch_line(event: "EpochEnded") -> str:
    hurt = ", ".join(f"{claim} {count}" for claim, count in event.violations.items() if count)
    bank = f", {event.replays} replayed, {event.banked} banked" if event.banked else ""
    mean = "" if event.mean_return is None else f"return {event.mean_return:.2f}, "
    return (
        f"epoch {event.epoch}: {event.episodes} training episodes, {mean}"
        f"violated: {hurt or 'none'}; {event.penalties} penalties{bank}"
    )


def _screen_line(event: ScreenDone) -> str:
    failed = {claim: count for claim, count in event.violations.items() if count}
    counts = ", ".join(f"{claim} {count}" for claim, count in failed.items()) or "no violation"
    verdict = "[green]passed[/]" if event.passed else "[yellow]not passed[/]"
    if event.degraded:
        verdict = "[red]degraded[/]"
    return f"epoch {event.epoch}: screen {verdict}, {event.episodes} episodes: {counts}"
