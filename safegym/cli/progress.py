"""Progress bars for screens, attempts and training."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.progress import TaskID
from rich.text import Text

from safegym.cli.console import shown
from safegym.cli.counting_bars import counting_bars
from safegym.cli.run_watch import RunWatch
from safegym.gate.events import (
    AttemptClosed,
    AttemptStarted,
    BurstDone,
    EpisodeJudged,
    GateEvent,
    LogResumed,
    ScreenDone,
    SuiteDone,
)

if TYPE_CHECKING:
    from safegym.gate.trainer.events import EpochEnded, Event


class GateProgress:
    """Shows what a gate tells: a bar a stage, and a line for each thing that ended.

    Everything goes to standard error, so that `--json` output stays clean. quiet: show nothing.
    told_later: the command itself tells how an attempt ended.
    """

    def __init__(self, *, quiet: bool = False, told_later: bool = False) -> None:
        self.told_later = told_later
        self._quiet = quiet
        self.bars = counting_bars(quiet=quiet)
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

    def say(self, *parts: str | tuple[str, str]) -> None:
        """Print a line above the bars; a part is text, or text and its style."""
        if not self._quiet:
            self.bars.console.print(Text.assemble(*parts))

    def gate(self, event: GateEvent) -> None:
        """Listen to a gate."""
        match event:
            case EpisodeJudged():
                self._episode(event)
            case ScreenDone():
                self._end("screen")
                self.say(*_screen_line(event))
            case AttemptStarted():
                self.say(
                    f"attempt {event.attempt}: certifying {event.policy_digest[:19]} on fresh "
                    f"seeds; {event.clean} clean episodes would do, cap {event.cap}"
                )
            case AttemptClosed():
                self._end(f"certify, attempt {event.attempt}")
                if not self.told_later:
                    why = f": {shown('; '.join(event.reasons))}" if event.reasons else ""
                    self.say(f"attempt {event.attempt} ", (event.outcome, "bold"), why)
            case SuiteDone():
                self._suite(event)
            case BurstDone():
                self._burst(event)
            case LogResumed():
                pass  # of a training, where `hear` says it

    def _suite(self, event: SuiteDone) -> None:
        self._end("suite")
        if event.starts:
            kept = event.starts - len(event.failed)
            self.say(f"regression suite: {kept} of {event.starts} starts passed")

    def _burst(self, event: BurstDone) -> None:
        self._end("burst")
        if event.episodes:
            finds = sum(event.finds.values())
            self.say(f"falsification burst: {finds} found in {event.episodes} episodes")

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


class RunProgress(GateProgress, RunWatch):
    """Shows a training run: steps, epochs, and what its gate tells."""

    def show(self, event: "Event | GateEvent") -> None:
        """Show an event as a bar or a line."""
        from safegym.gate.trainer import events

        match event:
            case events.RunStarted():
                self._steps = self.bars.add_task("training", total=event.total, note="")
                self.bars.update(self._steps, completed=event.steps)
            case events.RolloutEnded():
                note = "" if event.mean_return is None else f"return {event.mean_return:.2f}"
                self.bars.update(self._steps, completed=event.steps, note=note)
            case events.EpochEnded():
                self.say(_epoch_line(event))
            case events.StageBegan():
                self.say(f"curriculum: stage {event.stage} of {event.stages} begins")
            case events.GateDecided():
                why = f": {event.reasons[0]}" if event.reasons else ""
                self.say(f"epoch {event.epoch}: ", (event.action, "bold"), why)
            case events.RolledBack():
                self.say(f"epoch {event.epoch}: weights are those of epoch {event.to_epoch} again")
            case (
                EpisodeJudged()
                | ScreenDone()
                | AttemptStarted()
                | AttemptClosed()
                | SuiteDone()
                | BurstDone()
            ):
                self.gate(event)
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


def _screen_line(event: ScreenDone) -> tuple[str | tuple[str, str], ...]:
    failed = {claim: count for claim, count in event.violations.items() if count}
    counts = ", ".join(f"{claim} {count}" for claim, count in failed.items()) or "no violation"
    if event.label:
        return (f"baseline {event.label}: observed {event.episodes} episodes: {counts}",)
    verdict = ("passed", "green") if event.passed else ("not passed", "yellow")
    if event.degraded:
        verdict = ("degraded", "red")
    return f"epoch {event.epoch}: screen ", verdict, f", {event.episodes} episodes: {counts}"
