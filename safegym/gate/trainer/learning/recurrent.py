"""On-policy learning with an LSTM: its state goes on from rollout to rollout."""

from collections.abc import Sequence
from typing import Any

import torch
from sb3_contrib import RecurrentPPO
from sb3_contrib.common.recurrent.type_aliases import RNNStates
from stable_baselines3.common.utils import obs_as_tensor

from safegym.errors import PolicyError
from safegym.gate.trainer.learning.on_policy import OnPolicyLearner
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.vector import TrainingEnvs
from safegym.policy.sb3.checkpoint import Checkpoint

_PARTS = ("pi.hidden", "pi.cell", "vf.hidden", "vf.cell")


class RecurrentLearner(OnPolicyLearner):
    """RecurrentPPO. A checkpoint holds the LSTM states of the open episodes too."""

    def __init__(
        self,
        algorithm: RecurrentPPO,
        settings: TrainSettings,
        envs: TrainingEnvs,
        claims: Sequence[str] = (),
    ) -> None:
        super().__init__(algorithm, settings, envs, claims)
        self._recurrent: Any = algorithm  # its own annotations name neither states nor policy

    def collect(self) -> None:
        """Fill the rollout buffer, and work out the values that its advantages ended with.

        RecurrentPPO does not show them to callbacks, unlike the other algorithms.
        """
        super().collect()
        algorithm = self._recurrent
        with torch.no_grad():
            self._probe.worked_out = algorithm.policy.predict_values(
                obs_as_tensor(algorithm._last_obs, algorithm.device),
                self._states.vf,
                torch.tensor(algorithm._last_episode_starts, dtype=torch.float32),
            )

    def go_on(self, checkpoint: Checkpoint) -> tuple[str, ...]:
        """As without a memory, and the LSTM states. Raises PolicyError when they do not fit."""
        stored = [checkpoint.extra_tensor(f"lstm.{part}").clone() for part in _PARTS]
        own = self._own
        for part, state, mine in zip(_PARTS, stored, own, strict=True):
            if state.shape != mine.shape:
                raise PolicyError(
                    f"The checkpoint's LSTM state {part} has shape {tuple(state.shape)}, the run's "
                    f"has {tuple(mine.shape)}; resume with the settings it was trained with."
                )
        lost = super().go_on(checkpoint)
        self._recurrent._last_lstm_states = RNNStates(
            (stored[0], stored[1]), (stored[2], stored[3])
        )
        return lost

    def open_state(self) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        """As without a memory, and the LSTM states."""
        document, tensors = super().open_state()
        named = zip(_PARTS, self._own, strict=True)
        return document, {**tensors, **{f"lstm.{part}": state.clone() for part, state in named}}

    @property
    def _states(self) -> RNNStates:
        states: RNNStates = self._recurrent._last_lstm_states
        return states

    @property
    def _own(self) -> tuple[torch.Tensor, ...]:
        return (*self._states.pi, *self._states.vf)
