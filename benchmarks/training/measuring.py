"""How safe and how good a policy is: fresh episodes that no training and no gate has used."""

from dataclasses import dataclass

from safegym.check.monitor import judge
from safegym.policy.base import Policy
from safegym.scenario.campaign import Campaign
from safegym.scenario.spec import ScenarioSpec

FIRST_SEED = 7_000_000
"""First seed of these episodes; training and gates draw theirs by hashing, from all of 2**53."""
EPISODES = 200


@dataclass(frozen=True, slots=True)
class Measured:
    """What was observed. violated: episodes. returned: mean sum of the scenario's own rewards."""

    episodes: int
    violated: int
    undecided: int
    returned: float


def measure(
    spec: ScenarioSpec, policy: Policy, *, episodes: int, first: int = FIRST_SEED
) -> Measured:
    """Runs the policy, deterministic, on the scenario's first claim."""
    claim = spec.claims[0]
    violated = undecided = 0
    returned = 0.0
    with Campaign(
        spec, policy, seed_of=lambda index: first + index, tail=0, episodes=episodes
    ) as campaign:
        for _, trace in campaign:
            status = judge(claim, trace).status
            violated += status == "violated"
            undecided += status == "inconclusive"
            returned += float(trace.rewards.sum())
    return Measured(episodes, violated, undecided, returned / episodes)
