"""What everything that shows a training has in common."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from safegym.gate.events import GateEvent, LogResumed

if TYPE_CHECKING:
    from safegym.gate.trainer.events import Event


class RunWatch(ABC):
    """Hears a training. began: whether it has begun.

    What a reader must not miss is said in words, whatever else is shown: what a resumed run does
    not do bit for bit, and what was found torn or set aside in its log.
    """

    began = False

    @abstractmethod
    def say(self, *parts: str | tuple[str, str]) -> None:
        """Print a line; a part is text, or text and its style."""

    @abstractmethod
    def show(self, event: "Event | GateEvent") -> None:
        """Show what an event tells."""

    def hear(self, event: "Event | GateEvent") -> None:
        """Listen to a training run."""
        from safegym.gate.trainer.events import RunStarted

        self.show(event)
        if isinstance(event, RunStarted):
            self.began = True
            for line in event.differences:
                self.say(("not bit-exact: ", "yellow"), line)
        if isinstance(event, LogResumed):
            self.say_resumed(event)

    def say_resumed(self, event: LogResumed) -> None:
        """Say what a resumption found in the log."""
        if event.lost:
            self.say(("recovered: ", "yellow"), event.lost)
        if event.set_aside:
            self.say(
                f"records of the log set aside: {event.set_aside}, written after the point that "
                "the run goes on from; what they tell of is done again"
            )
