"""The outline of an episode for unrolling: how far it goes, and what lies beyond."""

from dataclasses import dataclass

from safegym.errors import TraceError
from safegym.trace.model import EndKind


@dataclass(frozen=True, slots=True)
class Outline:
    """Samples 0..last, the declared horizon (or None), and how the episode ended."""

    last: int
    horizon: int | None
    kind: EndKind

    def __post_init__(self) -> None:
        if self.kind == "horizon" and self.horizon is not None and self.last < self.horizon:
            raise TraceError(
                f"The trace ends as 'horizon' at sample {self.last}, before its declared horizon "
                f"{self.horizon}; an episode that stops early is 'interrupted'."
            )

    @property
    def end(self) -> int:
        """E: the sample at which unbounded future operators stop."""
        return self.last if self.horizon is None else min(self.last, self.horizon)

    @property
    def open(self) -> bool:
        """Whether unbounded future operators could still go on."""
        unfinished = self.horizon is None or self.last < self.horizon
        return self.kind == "interrupted" and unfinished
