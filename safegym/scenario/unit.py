"""What a unit of work is: a stretch of episodes, with everything that decides them."""

from dataclasses import dataclass, replace
from typing import Any

from safegym.digest import digest_json
from safegym.errors import ScenarioError
from safegym.scenario.seeds import Stream, episode_seed

SHARED = ("scenario", "policy", "claims", "root", "stream", "attempt", "tail")
"""What units have in common whose results may be put together."""


@dataclass(frozen=True, slots=True)
class WorkUnit:
    """Episodes `first` .. `stop` - 1 of one stream of one attempt.

    scenario, policy, claims: digests. root: the plan's seed. tail: samples past the horizon. The
    seeds follow from all of these and the index (`seeds.episode_seed`).
    """

    scenario: str
    policy: str
    claims: str
    root: int
    stream: Stream
    attempt: int
    tail: int
    first: int
    stop: int

    def __post_init__(self) -> None:
        if not 0 <= self.first < self.stop:
            raise ScenarioError(
                f"A work unit needs 0 <= first < stop, found first={self.first}, stop={self.stop}."
            )
        if self.tail < 0:
            raise ScenarioError(f"tail must be >= 0 samples, found {self.tail}.")
        self.seed_of(self.first)  # refuses an unknown stream or a negative attempt

    @property
    def digest(self) -> str:
        """Digest over all of it."""
        return digest_json(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Plain values; numbers that JSON could round are text."""
        return {
            **{name: getattr(self, name) for name in SHARED if name != "root"},
            "root": str(self.root),
            "first": self.first,
            "stop": self.stop,
        }

    def seed_of(self, index: int) -> int:
        """The seed of an episode."""
        return episode_seed(
            self.root,
            self.policy,
            self.scenario,
            self.claims,
            self.stream,
            self.attempt,
            index,
        )

    def split(self, size: int) -> tuple["WorkUnit", ...]:
        """Units of at most `size` episodes that make up this one."""
        if size < 1:
            raise ScenarioError(f"A work unit is split into 1 episode or more, found size={size}.")
        starts = range(self.first, self.stop, size)
        return tuple(replace(self, first=i, stop=min(i + size, self.stop)) for i in starts)
