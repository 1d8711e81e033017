"""What a running search says, and the limits it keeps."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from safegym.check.neural.outcome import Shares

EVERY = 0.25  # seconds between two calls of a listener


@dataclass(frozen=True, slots=True)
class Progress:
    """Boxes examined, boxes open, seconds since the start, shares of the region's box so far."""

    boxes: int
    open: int
    seconds: float
    shares: Shares


Listener = Callable[[Progress], None]


@dataclass(slots=True)
class Limits:
    """Limits of one search. timeout in seconds, memory in bytes, boxes examined at most."""

    timeout: float
    boxes: int | None
    memory: int
    started: float = field(default_factory=time.monotonic)
    _told: float = 0.0

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self.started

    def reached(self, boxes: int, held: int) -> str | None:
        """The limit that was reached, in words; held: bytes."""
        if self.seconds >= self.timeout:
            return f"The time limit of {self.timeout:g} s was reached (timeout={self.timeout:g})."
        if self.boxes is not None and boxes >= self.boxes:
            return f"The limit of {self.boxes} boxes was reached (boxes={self.boxes})."
        if held > self.memory:
            size = self.memory / 2**20
            return f"The memory limit of {size:.0f} MiB was reached (memory={self.memory})."
        return None

    def due(self) -> bool:
        """Whether a listener is to be called now."""
        now = time.monotonic()
        if now - self._told < EVERY:
            return False
        self._told = now
        return True
