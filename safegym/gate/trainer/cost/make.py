"""The cost critic that a run's settings ask for."""

from collections.abc import Sequence
from typing import Any

from gymnasium import spaces

from safegym.gate.trainer.cost.critic import CostLearner
from safegym.gate.trainer.settings import TrainSettings


def cost_learner(
    settings: TrainSettings, space: spaces.Space[Any], claims: Sequence[str]
) -> CostLearner | None:
    """A critic with an output for each claim that has a weight; None where none is asked for."""
    penalty = settings.penalty
    weighed = [
        claim
        for claim in claims
        if penalty.weight_of(claim) > 0.0 or penalty.weight_of(claim, at_end=True) > 0.0
    ]
    if penalty.cost_critic is None or not weighed:
        return None
    return CostLearner(
        penalty.cost_critic,
        space,
        weighed,
        gamma=settings.gamma,
        gae_lambda=settings.gae_lambda,
        batch_size=settings.batch_size,
        seed=settings.seed % (1 << 32),
    )
