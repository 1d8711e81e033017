"""What the environments showed last, as a checkpoint holds it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm

from safegym.errors import PolicyError
from safegym.policy.sb3.checkpoint import Checkpoint


def last_observations(checkpoint: Checkpoint, algorithm: BaseAlgorithm) -> NDArray[Any]:
    """The observations after the last step, shape (n_envs, *observation shape).

    Raises PolicyError when they are missing, of another shape or not finite.
    """
    wanted = (algorithm.n_envs, *(algorithm.observation_space.shape or ()))
    found = _of_shape(checkpoint, "last_observations", wanted)
    if not np.isfinite(found).all():
        raise PolicyError(
            "The checkpoint's last observations are not finite; use an earlier checkpoint of the "
            "run."
        )
    return found


def last_starts(checkpoint: Checkpoint, algorithm: BaseAlgorithm) -> NDArray[Any]:
    """Whether each of them began an episode, shape (n_envs,). Raises PolicyError likewise."""
    return _of_shape(checkpoint, "last_starts", (algorithm.n_envs,))


def _of_shape(checkpoint: Checkpoint, name: str, wanted: tuple[int, ...]) -> NDArray[Any]:
    found: NDArray[Any] = checkpoint.extra_tensor(name).numpy().copy()
    if found.shape != wanted:
        raise PolicyError(
            f"The checkpoint's {name.replace('_', ' ')} have shape {found.shape}, the run's have "
            f"{wanted}; resume with the settings it was trained with."
        )
    return found
