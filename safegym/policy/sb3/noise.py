"""Exploration noise as data: kind, mean, deviation, and how fast it comes back to the mean."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.noise import (
    ActionNoise,
    NormalActionNoise,
    OrnsteinUhlenbeckActionNoise,
    VectorizedActionNoise,
)

from safegym.errors import PolicyError


def encode_noise(noise: ActionNoise) -> dict[str, Any]:
    """The noise as JSON; of one for many environments, that of each. Not its present state.

    Raises PolicyError for a class that is not stable-baselines3's.
    """
    if isinstance(noise, VectorizedActionNoise):
        return encode_noise(noise.base_noise)
    if type(noise) is NormalActionNoise:
        return {"kind": "normal", **_moments(noise)}
    if type(noise) is OrnsteinUhlenbeckActionNoise:
        first = noise.initial_noise
        return {
            "kind": "ornstein-uhlenbeck",
            **_moments(noise),
            "theta": float(noise._theta).hex(),
            "dt": float(noise._dt).hex(),
            "initial": None if first is None else _hexed(first),
        }
    raise PolicyError(
        f"Action noise {type(noise).__name__} cannot be stored as data; use NormalActionNoise or "
        "OrnsteinUhlenbeckActionNoise of stable_baselines3.common.noise."
    )


def decode_noise(data: Mapping[str, Any]) -> ActionNoise:
    """The noise of that data, at its start. Raises PolicyError when it is malformed."""
    try:
        shape = tuple(int(length) for length in data["shape"])
        mean, sigma = _numbers(data["mean"], shape), _numbers(data["sigma"], shape)
        dtype = np.dtype(str(data["dtype"]))
        if data["kind"] == "normal":
            return NormalActionNoise(mean, sigma, dtype=dtype)
        if data["kind"] == "ornstein-uhlenbeck":
            first = data["initial"]
            return OrnsteinUhlenbeckActionNoise(
                mean,
                sigma,
                theta=float.fromhex(data["theta"]),
                dt=float.fromhex(data["dt"]),
                initial_noise=None if first is None else _numbers(first, shape),
                dtype=dtype,
            )
    except (KeyError, TypeError, ValueError) as error:
        raise PolicyError(f"A stored action noise is malformed: {error!r}.") from error
    raise PolicyError(f"Unknown kind of stored action noise {data['kind']!r}.")


def _moments(noise: NormalActionNoise | OrnsteinUhlenbeckActionNoise) -> dict[str, Any]:
    return {
        "shape": [int(length) for length in np.shape(noise._mu)],
        "mean": _hexed(noise._mu),
        "sigma": _hexed(np.broadcast_to(noise._sigma, np.shape(noise._mu))),
        "dtype": np.dtype(noise._dtype).name,
    }


def _hexed(array: Any) -> list[str]:
    return [float(number).hex() for number in np.asarray(array, dtype=np.float64).ravel()]


def _numbers(texts: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    return np.array([float.fromhex(text) for text in texts], dtype=np.float64).reshape(shape)
