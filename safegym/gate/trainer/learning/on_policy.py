"""On-policy learning: rewards and advantages of the rollout are rewritten before the update."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm

from safegym.errors import GateError
from safegym.gate.penalty import Penaliser
from safegym.gate.trainer import correction
from safegym.gate.trainer.correction import JudgedEpisode
from safegym.gate.trainer.cost.correction import apply_costs
from safegym.gate.trainer.cost.make import cost_learner
from safegym.gate.trainer.events import PenaltyApplied
from safegym.gate.trainer.learning.driven import DrivenAlgorithm
from safegym.gate.trainer.learning.last_seen import last_observations, last_starts
from safegym.gate.trainer.open_episodes import OpenEpisodes
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.vector import TrainingEnvs
from safegym.policy.sb3.checkpoint import Checkpoint, restore_checkpoint


class OnPolicyLearner(DrivenAlgorithm[OnPolicyAlgorithm]):
    """PPO, A2C, TRPO and RecurrentPPO."""

    def __init__(
        self,
        algorithm: OnPolicyAlgorithm,
        settings: TrainSettings,
        envs: TrainingEnvs,
        claims: Sequence[str] = (),
    ) -> None:
        super().__init__(algorithm, settings, envs)
        self._opened = OpenEpisodes(envs.slots, envs.base.suspects)
        self._critic = cost_learner(settings, algorithm.observation_space, claims)

    def go_on(self, checkpoint: Checkpoint) -> tuple[str, ...]:
        """The run's one `_setup_learn`, after a resume: environments stay as they are."""
        algorithm = self._algorithm
        restore_checkpoint(algorithm, checkpoint)
        last: Any = last_observations(checkpoint, algorithm)
        algorithm._last_obs = last
        algorithm._last_episode_starts = last_starts(checkpoint, algorithm)
        if self._critic is not None:
            self._critic.restore(checkpoint.extra_tensors)
        self._set_up_again()
        return ()

    def collect(self) -> None:
        """Fill the rollout buffer."""
        algorithm = self._algorithm
        algorithm.collect_rollouts(
            self._envs.env, self._callback, algorithm.rollout_buffer, self._settings.n_steps
        )

    def correct(
        self, judged: Sequence[JudgedEpisode], penaliser: Penaliser
    ) -> list[PenaltyApplied]:
        """Lower the rewards at settling samples and recompute the advantages.

        With a cost critic: leave the rewards, and join the cost advantages to the advantages.
        """
        due = correction.due_penalties(judged, penaliser, self._opened, self._settings.n_steps)
        buffer = self._algorithm.rollout_buffer
        if self._critic is None:
            return correction.apply(due, buffer, self._probe, self._envs.normalise)
        last: Any = self._algorithm._last_obs
        return apply_costs(
            due,
            buffer,
            self._probe,
            last,
            self._envs.normalise,
            self._critic,
            penaliser.weights,
        )

    def update(self) -> None:
        """One `train` at the run's progress."""
        algorithm = self._algorithm
        algorithm._update_current_progress_remaining(algorithm.num_timesteps, self._settings.steps)
        algorithm.train()
        if self._critic is not None:
            self._critic.fit()

    def open_state(self) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        """Last observations, episode starts, and the cost critic."""
        last, starts = self._algorithm._last_obs, self._algorithm._last_episode_starts
        if not isinstance(last, np.ndarray) or starts is None:
            raise GateError("Training has not begun; there is no state to store.")
        critic = {} if self._critic is None else self._critic.state()
        return {}, {
            **critic,
            "last_observations": torch.from_numpy(last.copy()),
            "last_starts": torch.from_numpy(np.array(starts, dtype=bool)),
        }

    def rolled_back(self, earlier: Checkpoint) -> None:
        """Normalise the last observations as the earlier statistics do; the earlier cost critic."""
        if self._critic is not None:
            self._critic.restore(earlier.extra_tensors)
        normalise = self._envs.normalise
        if normalise is not None:
            last: Any = normalise.normalize_obs(normalise.old_obs)
            self._algorithm._last_obs = last
