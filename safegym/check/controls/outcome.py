"""What the verification of one scenario found."""

from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

from safegym.scenario.verified import Separation, least_violated

SEEDS = 20
"""Episodes of each control policy, with seeds 0, 1, and so on."""
SHARE = 0.95
"""The share of episodes in which the good policy must satisfy every claim: 19 of 20."""


def bar(seeds: int) -> int:
    """In how many of so many episodes the good policy must satisfy all claims."""
    return ceil(SHARE * seeds - 1e-9)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found of a scenario.

    seeds: episodes of each policy. good: in how many of them the good policy satisfied every
    claim. claims: one row each. issues: what is wrong, a sentence each; a scenario is verified if
    there is none. cpu_seconds: of the process that ran it. seconds: by the wall clock.
    """

    name: str
    pack: str = "core"
    digest: str = ""
    seeds: int = SEEDS
    good: int = 0
    claims: tuple[Separation, ...] = ()
    issues: tuple[str, ...] = ()
    cpu_seconds: float = 0.0
    seconds: float = 0.0

    @property
    def verified(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.issues

    @property
    def worst_bad(self) -> int:
        """In how many episodes the least telling bad policy violates its claim."""
        return least_violated(self.claims)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "name": self.name,
            "pack": self.pack,
            "verified": self.verified,
            "digest": self.digest,
            "seeds": self.seeds,
            "good": self.good,
            "claims": [asdict(claim) for claim in self.claims],
            "issues": list(self.issues),
            "cpu_seconds": round(self.cpu_seconds, 3),
            "seconds": round(self.seconds, 3),
        }
