"""What a distillation tells whoever watches it: a progress bar, a test."""

from collections.abc import Callable
from dataclasses import dataclass

from safegym.gate.distill.joint import Certified
from safegym.gate.events import GateEvent


@dataclass(frozen=True, slots=True)
class DistillationStarted:
    """Rounds begin, or go on after `done` of them."""

    done: int
    rounds: int
    scenarios: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EpisodesWatched:
    """Whoever led this round was watched on one more scenario, and the teacher asked at each step.

    steps: of these episodes.
    """

    number: int
    scenario: str
    episodes: int
    steps: int


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """A round's student. loss: on all lessons so far. violations: scenario -> violated claims, in
    the episodes by which the best student is chosen; no evidence.
    """

    number: int
    rounds: int
    steps: int
    loss: float
    violations: dict[str, int]
    best: bool


@dataclass(frozen=True, slots=True)
class CertificationBegan:
    """A policy is about to be certified on a scenario."""

    whose: str
    scenario: str


@dataclass(frozen=True, slots=True)
class CertificationEnded:
    """How that attempt ended."""

    whose: str
    certified: Certified


Event = (
    DistillationStarted
    | EpisodesWatched
    | RoundEnded
    | CertificationBegan
    | CertificationEnded
    | GateEvent
)
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Listens to nothing."""
