"""What every learner has: one algorithm, set up once for the whole run."""

from typing import Generic, TypeVar

from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

from safegym.gate.trainer.learning.probe import RolloutProbe
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.vector import TrainingEnvs

Algorithm = TypeVar("Algorithm", bound=BaseAlgorithm)


class DrivenAlgorithm(Generic[Algorithm]):
    """An algorithm whose rollouts and updates are asked for one at a time."""

    def __init__(self, algorithm: Algorithm, settings: TrainSettings, envs: TrainingEnvs) -> None:
        self._algorithm, self._settings, self._envs = algorithm, settings, envs
        self._probe = RolloutProbe(envs)
        self._callback: BaseCallback = self._probe

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm."""
        return self._algorithm

    @property
    def num_timesteps(self) -> int:
        """Environment steps so far, over all environments."""
        return self._algorithm.num_timesteps

    def begin(self) -> None:
        """The run's one `_setup_learn`, at its start: resets the environments."""
        total, self._callback = self._algorithm._setup_learn(self._settings.steps, self._probe)
        self._callback.on_training_start({"total_timesteps": total}, {})

    def _set_up_again(self) -> None:
        """The run's one `_setup_learn`, after a resume: the steps that were taken count."""
        algorithm = self._algorithm
        total, self._callback = algorithm._setup_learn(
            self._settings.steps - algorithm.num_timesteps, self._probe, reset_num_timesteps=False
        )
        self._callback.on_training_start({"total_timesteps": total}, {})
