"""What is watched while a rollout is collected: finite numbers, and how rewards were scaled."""

from typing import Any

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback

from safegym.gate.trainer.vector import TrainingEnvs


class RolloutProbe(BaseCallback):
    """Remembers what recomputing the advantages needs, and how rewards were scaled.

    scales: reward normalisation at each step of the rollout, empty where rewards are not
    normalised. last_values, last_dones: as the buffer was given them. worked_out: the last values
    of an algorithm that does not show them, None for the others. timeouts: (step, slot, last
    observation) of each episode that a time limit ended.
    Raises GateError at the step at which an observation or a reward is not finite.
    """

    def __init__(self, envs: TrainingEnvs) -> None:
        super().__init__(verbose=0)
        self._slots = envs.slots
        normalise = envs.normalise
        self._normalise = normalise if normalise is not None and normalise.norm_reward else None
        self.scales: list[float] = []
        self.worked_out: torch.Tensor | None = None
        self.timeouts: list[tuple[int, int, np.ndarray[Any, Any]]] = []

    @property
    def last_values(self) -> torch.Tensor:
        """Values of the observations after the last step, one an environment."""
        if self.worked_out is not None:
            return self.worked_out
        values: torch.Tensor = self.locals["values"]
        return values

    @property
    def last_dones(self) -> np.ndarray[Any, Any]:
        """Whether the last step ended an episode, one an environment."""
        dones: np.ndarray[Any, Any] = self.locals["dones"]
        return dones

    def _on_rollout_start(self) -> None:
        self.scales = []
        self.timeouts = []

    def _on_step(self) -> bool:
        for what, name in (("The reward", "rewards"), ("The observation", "new_obs")):
            finite = np.isfinite(self.locals[name])
            if not finite.all():
                slot = self._slots[int(np.argwhere(~finite)[0, 0])]
                raise slot.not_finite(f"{what} is not finite at step {slot.row} of the rollout")
        if self._normalise is not None:
            variance = float(self._normalise.ret_rms.var)
            self.scales.append(float(np.sqrt(variance + self._normalise.epsilon)))
        for ended in np.flatnonzero(self.locals["dones"]):
            info = self.locals["infos"][ended]
            if info.get("TimeLimit.truncated", False) and "n_steps" in self.locals:
                self.timeouts.append(
                    (int(self.locals["n_steps"]), int(ended), info["terminal_observation"])
                )
        return True
