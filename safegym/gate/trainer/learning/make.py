"""The learner of a run."""

from collections.abc import Sequence

from safegym.gate.trainer.algorithms import algorithm
from safegym.gate.trainer.learner import make_learner
from safegym.gate.trainer.learning.base import Learner
from safegym.gate.trainer.learning.on_policy import OnPolicyLearner
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.vector import TrainingEnvs


def learner_for(
    settings: TrainSettings,
    envs: TrainingEnvs,
    claims: Sequence[str] = (),
    *,
    horizon: int = 1,
) -> Learner:
    """The learner that these settings ask for, on these environments; seeds the generators.

    claims: ids of those that an episode can violate, for a cost critic. horizon: most steps of an
    episode, which a replay buffer has to hold.
    Raises GateError when the algorithm does not take the scenario's actions.
    """
    card = algorithm(settings.algo)
    if card.family == "off":
        from safegym.gate.trainer.learning.off_policy import OffPolicyLearner

        return OffPolicyLearner(settings, envs, horizon=horizon)
    if card.recurrent:
        from safegym.gate.trainer.learning.recurrent import RecurrentLearner

        return RecurrentLearner(make_learner(settings, envs.env), settings, envs, claims)
    return OnPolicyLearner(make_learner(settings, envs.env), settings, envs, claims)
