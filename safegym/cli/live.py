"""The live view of a training: one picture that is drawn again as things happen."""

import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from safegym.cli.console import err
from safegym.cli.live_panels import picture
from safegym.cli.live_state import LiveState
from safegym.cli.progress import RunProgress
from safegym.cli.run_watch import RunWatch
from safegym.gate.events import EpisodeJudged, GateEvent

if TYPE_CHECKING:
    from safegym.gate.trainer.events import Event

PAUSE = 0.1
"""Seconds between drawings, at least."""


class LiveRun(RunWatch):
    """Shows a training run as a picture on standard error, and leaves the last one there.

    title: what is trained. It is drawn only when something happens, so that drawing never runs
    beside the training.
    """

    def __init__(self, title: str, *, console: Console = err) -> None:
        self.state = LiveState(title)
        self._console = console
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="ellipsis")
        self._drawn = 0.0

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._drawn:
            self._draw()
        self._live.stop()

    def show(self, event: "Event | GateEvent") -> None:
        """Take in an event, and draw unless that was done just now."""
        self.state.hear(event)
        often = isinstance(event, EpisodeJudged) and event.number < event.cap
        if not often or time.monotonic() - self._drawn >= PAUSE:
            self._draw()

    def say(self, *parts: str | tuple[str, str]) -> None:
        """Print a line above the picture."""
        self._live.console.print(Text.assemble(*parts))

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        self._live.update(picture(self.state, self._console.width), refresh=True)


def watcher(title: str, *, live: bool, quiet: bool) -> LiveRun | RunProgress:
    """What shows a training: the picture if asked for, else a bar and a line for each thing.

    quiet: show nothing. Where standard error is no terminal there is nothing to draw on, so that
    lines are shown.
    """
    if live and not quiet:
        if err.is_terminal:
            return LiveRun(title)
        err.print("--live draws on a terminal, and standard error is none: showing lines")
    return RunProgress(quiet=quiet)
