"""What the obligations of one proof may spend together, and who is told."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safegym.check.neural.search import Listener
from safegym.errors import UnsupportedError


@dataclass(frozen=True, slots=True)
class Budget:
    """timeout: seconds for all obligations. workers: processes of a search. certificates: a new
    folder for them, or None. listener: called a few times a second while a search runs.
    """

    timeout: float
    workers: int = 1
    certificates: Path | None = None
    listener: Listener | None = None
    policy_digest: str = ""
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        check_timeout(self.timeout)

    @property
    def left(self) -> float:
        """Seconds left, 0 where none are."""
        return max(self.timeout - (time.monotonic() - self.started), 0.0)

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def limits(self) -> dict[str, Any]:
        """The limits as a proof reports them."""
        return {"timeout": self.timeout, "workers": self.workers}


def check_timeout(timeout: float) -> None:
    """Raises UnsupportedError unless it is a number of seconds, 0 or above."""
    if not timeout >= 0.0:
        raise UnsupportedError(f"timeout is {timeout} s; it must be 0 or above: timeout=60.0.")
