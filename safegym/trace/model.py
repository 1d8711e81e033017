"""Clock, episode end, and the trace itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

EndKind = Literal["absorbed", "failed", "horizon", "interrupted", "cut"]


@dataclass(frozen=True, slots=True)
class Clock:
    """Sample k stands at start + k * dt seconds. Both are exact."""

    dt: Fraction
    start: Fraction = Fraction(0)

    def time(self, step: int) -> float:
        """Seconds of sample `step`."""
        return float(self.start + step * self.dt)


@dataclass(frozen=True, slots=True)
class EpisodeEnd:
    """How and when (seconds) an episode ended; `reason` in words, machine-readable where declared."""

    kind: EndKind
    time: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at sample `step`: a fault that set in, a shield that stepped in."""

    step: int
    kind: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """One episode: signals at samples 0..T (the terminal observation is sample T).

    signals: name -> float64 (T+1,) or (T+1, d), read-only. actions (T, a) and rewards (T,).
    horizon: declared horizon H in steps, None if undeclared; samples past H are the tail.
    digest: over everything but itself.
    """

    scenario_digest: str
    policy_digest: str
    seed: int
    clock: Clock
    signals: Mapping[str, NDArray[np.float64]]
    actions: NDArray[Any]
    rewards: NDArray[np.float64]
    end: EpisodeEnd
    horizon: int | None = None
    observations: NDArray[Any] | None = None
    parameters: Mapping[str, float] = field(default_factory=dict[str, float])
    disturbance_seed: int = 0
    events: tuple[Event, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    digest: str = ""
