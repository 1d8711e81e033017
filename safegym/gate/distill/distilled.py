"""What distillation gives: the tree, and how it compares with the policy it stands for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safegym.policy.tree import TreePolicy

NOTE = (
    "Observed on held-out episodes, which prove nothing. A proof about the tree holds for the tree "
    "alone: deploy the tree."
)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How near the tree's actions come to the policy's, on observations of held-out episodes.

    observations: how many, half of them from each one's own episodes. same: share of equal choices
    (discrete), or of actions of which every entry is within 5 % of the range of what the policy
    did. mean, largest: absolute difference of an entry, in that range; 0 for a discrete policy.
    """

    observations: int
    same: float
    mean: float = 0.0
    largest: float = 0.0


@dataclass(frozen=True, slots=True)
class Showing:
    """How one policy did on the held-out episodes.

    episodes: how many. returned: mean sum of rewards, None where there are none. violations: claim
    id -> episodes in which it was violated. margins: claim id -> least robustness over the
    episodes, in multiples of scale; None where margins do not compare or are open.
    """

    episodes: int
    returned: float | None
    violations: Mapping[str, int]
    margins: Mapping[str, float | None]

    @property
    def violated(self) -> int:
        """Violations of all claims together."""
        return sum(self.violations.values())

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "episodes": self.episodes,
            "return": self.returned,
            "violations": dict(self.violations),
            "margins": dict(self.margins),
        }


@dataclass(frozen=True, slots=True)
class Distilled:
    """A tree, and what was observed of it beside the policy that it was distilled from.

    tree: a policy like any other: run it, certify it, prove it with z3. policy, of_tree: how the
    policy and the tree did on the same held-out starts. rounds: (leaves, violations, return) of
    each round's tree on the episodes by which the best was chosen. weighting: how rows counted.
    """

    tree: TreePolicy
    agreement: Agreement
    policy: Showing
    of_tree: Showing
    policy_digest: str
    rounds: tuple[tuple[int, int, float | None], ...]
    weighting: str

    @property
    def returns(self) -> tuple[float | None, float | None]:
        """Mean return of the policy and of the tree."""
        return self.policy.returned, self.of_tree.returned

    @property
    def margins(self) -> Mapping[str, tuple[float | None, float | None]]:
        """Claim id -> least margin of the policy and of the tree."""
        return {
            name: (margin, self.of_tree.margins[name])
            for name, margin in self.policy.margins.items()
        }

    def to_json(self) -> dict[str, Any]:
        """Everything but the tree itself, of which the digest."""
        return {
            "tree": self.tree.card.digest,
            "policy": self.policy_digest,
            "leaves": self.tree.leaves,
            "depth": self.tree.depth,
            "agreement": {
                "observations": self.agreement.observations,
                "same": self.agreement.same,
                "mean": self.agreement.mean,
                "largest": self.agreement.largest,
            },
            "held_out": {"policy": self.policy.to_json(), "tree": self.of_tree.to_json()},
            "rounds": [list(each) for each in self.rounds],
            "weighting": self.weighting,
            "note": NOTE,
        }

    def __str__(self) -> str:
        lines = [
            f"{self.tree.card.name}: {self.tree.leaves} leaves, depth {self.tree.depth}; "
            f"{self.agreement.same:.1%} of {self.agreement.observations} actions agree",
            f"{'':28}{'policy':>12}{'tree':>12}",
        ]
        returned = (self.policy.returned, self.of_tree.returned)
        if None not in returned:
            lines.append(_row("mean return", *(_number(each) for each in returned)))
        for name, margins in self.margins.items():
            lines.append(_row(f"{name} margin", *(_number(each) for each in margins)))
            counts = self.policy.violations[name], self.of_tree.violations[name]
            lines.append(_row(f"{name} violations", *map(str, counts)))
        return "\n".join([*lines, NOTE])


def _row(what: str, left: str, right: str) -> str:
    return f"{what:28}{left:>12}{right:>12}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
