"""A run goes back to what an earlier checkpoint had learned; counters and episodes go on."""

from safegym.gate.trainer.learning.base import Learner
from safegym.gate.trainer.vector import TrainingEnvs
from safegym.policy.sb3.checkpoint import Checkpoint, forget_optimisers, restore_learning


def roll_back(
    learner: Learner, envs: TrainingEnvs, earlier: Checkpoint, *, restart_optimiser: bool
) -> None:
    """Put weights, optimisers and normaliser of the earlier checkpoint back.

    restart_optimiser: empty the optimisers instead of taking its. Returns of open episodes stay.
    """
    normalise = envs.normalise
    returns = None if normalise is None else normalise.returns.copy()
    restore_learning(learner.algorithm, earlier)
    if restart_optimiser:
        forget_optimisers(learner.algorithm)
    if normalise is not None and returns is not None:
        normalise.returns = returns
    learner.rolled_back(earlier)
