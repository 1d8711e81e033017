"""Progress of a distillation: a bar of rounds, a line for each, and the certifications'."""

from typing import TYPE_CHECKING

from rich.progress import TaskID

from safegym.cli.progress import GateProgress

if TYPE_CHECKING:
    from safegym.gate.distill.events import Event, RoundEnded


class DistilProgress(GateProgress):
    """Shows what a distillation tells. rounds: how many have ended."""

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self.rounds = 0
        self._task: TaskID | None = None

    def hear(self, event: "Event") -> None:
        """Listen to a distillation."""
        from safegym.gate.distill import events

        match event:
            case events.DistillationStarted():
                self.rounds = event.done
                self._task = self.bars.add_task("rounds", total=event.rounds, note="")
                self.bars.update(self._task, completed=event.done)
                if event.done:
                    self.say(f"going on after round {event.done} of {event.rounds}")
            case events.EpisodesWatched():
                self._note(f"{event.scenario}: {event.steps} steps labelled")
            case events.RoundEnded():
                self._ended(event)
            case events.CertificationBegan():
                self.say(f"certifying the {event.whose} on {event.scenario}")
            case events.CertificationEnded():
                pass
            case _:
                self.gate(event)

    def _note(self, note: str) -> None:
        if self._task is not None:
            self.bars.update(self._task, note=note)

    def _ended(self, event: "RoundEnded") -> None:
        self.rounds = event.number
        hurt = ", ".join(f"{name} {count}" for name, count in event.violations.items() if count)
        kept = ("best so far", "green") if event.best else ("not better", "dim")
        self.say(
            f"round {event.number}: {event.steps} steps, loss {event.loss:.3g}, "
            f"violated: {hurt or 'none'}; ",
            kept,
        )
        if self._task is not None:
            self.bars.update(self._task, completed=event.number, note="")
            if event.number == event.rounds:
                self.bars.remove_task(self._task)
                self._task = None
