"""The PPO of a run: built from the settings, and put back from a checkpoint."""

from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnv

from safegym.errors import GateError
from safegym.gate.trainer.settings import Linear, Schedule, TrainSettings
from safegym.gate.trainer.vector import TrainingEnvs
from safegym.policy.sb3.checkpoint import Checkpoint, restore_checkpoint

ACTIVATIONS: dict[str, type[torch.nn.Module]] = {
    "tanh": torch.nn.Tanh,
    "relu": torch.nn.ReLU,
    "elu": torch.nn.ELU,
}


def make_learner(settings: TrainSettings, env: VecEnv) -> PPO:
    """stable-baselines3's PPO with these settings, on the CPU. Seeds the global generators."""
    policy_kwargs: dict[str, Any] = {
        "net_arch": list(settings.net_arch),
        "activation_fn": ACTIVATIONS[settings.activation],
        "log_std_init": settings.log_std_init,
    }
    return PPO(
        "MlpPolicy",
        env,
        learning_rate=_schedule(settings.learning_rate),
        n_steps=settings.n_steps,
        batch_size=settings.batch_size,
        n_epochs=settings.n_epochs,
        gamma=settings.gamma,
        gae_lambda=settings.gae_lambda,
        clip_range=_schedule(settings.clip_range),
        ent_coef=settings.ent_coef,
        vf_coef=settings.vf_coef,
        max_grad_norm=settings.max_grad_norm,
        target_kl=settings.target_kl,
        policy_kwargs=policy_kwargs,
        seed=settings.seed % (1 << 32),
        device="cpu",
        verbose=0,
    )


class RolloutProbe(BaseCallback):
    """Remembers what recomputing the advantages needs, and how rewards were scaled.

    scales: reward normalisation at each step of the rollout, empty where rewards are not
    normalised. last_values, last_dones: as the buffer was given them.
    Raises GateError at the step at which an observation or a reward is not finite.
    """

    def __init__(self, envs: TrainingEnvs) -> None:
        super().__init__(verbose=0)
        self._slots = envs.slots
        normalise = envs.normalise
        self._normalise = normalise if normalise is not None and normalise.norm_reward else None
        self.scales: list[float] = []

    @property
    def last_values(self) -> torch.Tensor:
        """Values of the observations after the last step, one an environment."""
        values: torch.Tensor = self.locals["values"]
        return values

    @property
    def last_dones(self) -> np.ndarray[Any, Any]:
        """Whether the last step ended an episode, one an environment."""
        dones: np.ndarray[Any, Any] = self.locals["dones"]
        return dones

    def _on_rollout_start(self) -> None:
        self.scales = []

    def _on_step(self) -> bool:
        for what, name in (("The reward", "rewards"), ("The observation", "new_obs")):
            finite = np.isfinite(self.locals[name])
            if not finite.all():
                slot = self._slots[int(np.argwhere(~finite)[0, 0])]
                raise slot.not_finite(f"{what} is not finite at step {slot.row} of the rollout")
        if self._normalise is not None:
            variance = float(self._normalise.ret_rms.var)
            self.scales.append(float(np.sqrt(variance + self._normalise.epsilon)))
        return True


def begin(learner: PPO, settings: TrainSettings, probe: RolloutProbe) -> BaseCallback:
    """The run's one `_setup_learn`, at its start: resets the environments."""
    total, callback = learner._setup_learn(settings.steps, probe)
    callback.on_training_start({"total_timesteps": total}, {})
    return callback


def go_on(
    learner: PPO,
    settings: TrainSettings,
    probe: RolloutProbe,
    checkpoint: Checkpoint,
) -> BaseCallback:
    """The run's one `_setup_learn`, after a resume: environments stay as they are."""
    restore_checkpoint(learner, checkpoint)
    learner._last_obs = checkpoint.extra_tensor("last_observations").numpy().copy()
    learner._last_episode_starts = checkpoint.extra_tensor("last_starts").numpy().copy()
    total, callback = learner._setup_learn(
        settings.steps - learner.num_timesteps, probe, reset_num_timesteps=False
    )
    callback.on_training_start({"total_timesteps": total}, {})
    return callback


def open_state(learner: PPO) -> dict[str, torch.Tensor]:
    """What the next rollout begins from, for a checkpoint."""
    if not isinstance(learner._last_obs, np.ndarray) or learner._last_episode_starts is None:
        raise GateError("Training has not begun; there is no state to store.")
    return {
        "last_observations": torch.from_numpy(learner._last_obs.copy()),
        "last_starts": torch.from_numpy(np.array(learner._last_episode_starts, dtype=bool)),
    }


def check_weights(learner: PPO, *, kept: str) -> None:
    """Raises GateError when an update left a weight that is not finite. kept: what is safe."""
    for name, parameter in learner.policy.named_parameters():
        if not bool(torch.isfinite(parameter).all()):
            raise GateError(
                f"Update {learner._n_updates} left weights that are not finite ({name}). {kept} "
                "Lower learning_rate or max_grad_norm, or look for huge rewards."
            )


def _schedule(value: Schedule) -> Any:
    if isinstance(value, Linear):
        return LinearSchedule(value.start, value.end, value.fraction)
    return float(value)
