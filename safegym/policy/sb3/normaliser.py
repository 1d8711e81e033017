"""VecNormalize's observation statistics, frozen."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import VecNormalize

from safegym.errors import PolicyError


@dataclass(frozen=True, slots=True, eq=False)
class Normaliser:
    """z = clip((x - mean) / sqrt(var + epsilon), -clip, clip), as float32.

    mean, var: float64, the shape of one observation, read-only. Bit-equal to VecNormalize with its
    statistics frozen.
    """

    mean: NDArray[np.float64]
    var: NDArray[np.float64]
    epsilon: float
    clip: float

    def __post_init__(self) -> None:
        for name in ("mean", "var"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if self.mean.shape != self.var.shape:
            raise PolicyError(
                f"The normaliser's mean has shape {self.mean.shape}, its variance {self.var.shape}."
            )
        scale = self.var + self.epsilon
        if not (np.isfinite(self.mean).all() and np.isfinite(scale).all() and (scale > 0).all()):
            raise PolicyError("The normaliser's statistics are not finite and positive.")
        if not self.clip > 0.0:
            raise PolicyError(f"The normaliser clips at {self.clip}; a number > 0 was expected.")

    def __call__(self, observations: NDArray[Any]) -> NDArray[np.float32]:
        """Normalised observations, shape (B, ...)."""
        scaled = (observations - self.mean) / np.sqrt(self.var + self.epsilon)
        return np.clip(scaled, -self.clip, self.clip).astype(np.float32)

    def tensors(self) -> dict[str, torch.Tensor]:
        """The statistics, for storage."""
        return {
            "normaliser.mean": torch.from_numpy(self.mean.copy()),
            "normaliser.var": torch.from_numpy(self.var.copy()),
        }

    def document(self) -> dict[str, float]:
        """The constants, for storage."""
        return {"epsilon": self.epsilon, "clip": self.clip}

    @classmethod
    def of(cls, vec_normalize: VecNormalize | None) -> "Normaliser | None":
        """The statistics as they stand now; None where observations are not normalised."""
        if vec_normalize is None or not vec_normalize.norm_obs:
            return None
        statistics: Any = vec_normalize.obs_rms
        if not isinstance(statistics, RunningMeanStd):
            raise PolicyError("Normalised Dict observations cannot be frozen; flatten them first.")
        return cls(
            mean=np.asarray(statistics.mean, dtype=np.float64),
            var=np.asarray(statistics.var, dtype=np.float64),
            epsilon=float(vec_normalize.epsilon),
            clip=float(vec_normalize.clip_obs),
        )

    @classmethod
    def stored(cls, document: Any, tensors: Mapping[str, torch.Tensor]) -> "Normaliser | None":
        """The normaliser of that document and those tensors. Raises PolicyError if malformed."""
        if document is None:
            return None
        try:
            return cls(
                mean=tensors["normaliser.mean"].numpy(),
                var=tensors["normaliser.var"].numpy(),
                epsilon=float(document["epsilon"]),
                clip=float(document["clip"]),
            )
        except (KeyError, TypeError) as error:
            raise PolicyError(f"The stored normaliser is malformed: {error!r}.") from error
