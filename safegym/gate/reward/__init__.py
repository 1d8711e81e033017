"""The reward toolkit: terms, potential-based shaping, claims as rewards, a curriculum.

A scenario with another reward is another scenario: `dataclasses.replace(spec, reward=Reward(...))`
has the same physics and another digest.
"""

from safegym.gate.reward.breakdown import breakdown
from safegym.gate.reward.claim_progress import ClaimProgress
from safegym.gate.reward.claim_verdict import ClaimVerdict
from safegym.gate.reward.compiled import claim_reward
from safegym.gate.reward.curriculum import Curriculum, Stage
from safegym.gate.reward.discount import refuse_other_discount
from safegym.scenario.reward import Meter, Reward, RewardTerm, Step
from safegym.scenario.reward_potential import Potential
from safegym.scenario.reward_terms import (
    Computed,
    Dense,
    Effort,
    Ending,
    EnvironmentReward,
    Sparse,
)

__all__ = [
    "ClaimProgress",
    "ClaimVerdict",
    "Computed",
    "Curriculum",
    "Dense",
    "Effort",
    "Ending",
    "EnvironmentReward",
    "Meter",
    "Potential",
    "Reward",
    "RewardTerm",
    "Sparse",
    "Stage",
    "Step",
    "breakdown",
    "claim_reward",
    "refuse_other_discount",
]
