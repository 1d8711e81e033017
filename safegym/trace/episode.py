"""How an episode ended, and what happened in it."""

from dataclasses import dataclass
from typing import Literal, get_args

EndKind = Literal["absorbed", "failed", "horizon", "interrupted", "cut"]
END_KINDS: tuple[EndKind, ...] = get_args(EndKind)


@dataclass(frozen=True, slots=True)
class EpisodeEnd:
    """How and when (seconds) an episode ended; reason: in words, or as the scenario declares."""

    kind: EndKind
    time: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at sample `step`: a fault that set in, a shield that stepped in."""

    step: int
    kind: str
    detail: str = ""
