"""A neural policy from plain arrays: numpy only, the same bits on every machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.errors import PolicyError
from safegym.policy import network_files as stored
from safegym.policy.base import WIDTH, Array, PolicyCard
from safegym.policy.network_layers import Layer, check_chain
from safegym.policy.stored import DOCUMENT, WEIGHTS, stored_digest

__all__ = ["Layer", "NetworkPolicy", "Normalisation"]


@dataclass(frozen=True, slots=True, eq=False)
class Normalisation:
    """z = clip((x - mean) / scale, -clip, clip) in binary64, then rounded to binary32.

    mean, scale: the shape of one observation. Raises PolicyError unless all are finite and scale
    and clip are above 0 (clip may be infinite).
    """

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    clip: float = 10.0

    def __post_init__(self) -> None:
        for name in ("mean", "scale"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if self.mean.shape != self.scale.shape:
            raise PolicyError(
                f"The normaliser's mean has shape {self.mean.shape}, its scale {self.scale.shape}."
            )
        finite = np.isfinite(self.mean).all() and np.isfinite(self.scale).all()
        if not (finite and (self.scale > 0.0).all() and self.clip > 0.0):
            raise PolicyError(
                "The normaliser's numbers must be finite, its scale and clip above 0."
            )

    def __call__(self, observations: Array) -> NDArray[np.float32]:
        """Normalised observations, shape (B, ...)."""
        scaled = (observations - self.mean) / self.scale
        return np.clip(scaled, -self.clip, self.clip).astype(np.float32)


class NetworkPolicy:
    """A chain of layers with what surrounds it; deterministic, stateless, picklable.

    The observation is cast to its space's float type, normalised where `normalisation` is given,
    cast to binary32, flattened, and goes through `layers`. The last values are the action of a Box,
    clipped to it; with `squash` they are taken to lie in [-1, 1] (a tanh) and are stretched to the
    Box as stable-baselines3 does, low + 0.5 (a + 1) (high - low), and not clipped. Of a Discrete
    action the first greatest value is chosen.

    Every sum is taken in one fixed order, so a row's action is the same bits in any batch and on
    any machine with IEEE arithmetic. Raises PolicyError for what does not fit together.
    """

    def __init__(
        self,
        layers: Sequence[Layer],
        *,
        observation_space: spaces.Box,
        action_space: spaces.Box | spaces.Discrete,
        normalisation: Normalisation | None = None,
        squash: bool = False,
        name: str = "network",
    ) -> None:
        self.layers = tuple(layers)
        self.observation_space, self.action_space = observation_space, action_space
        self.normalisation, self.squash, self.name = normalisation, bool(squash), name
        self._check()
        files = self.files()
        self._card = PolicyCard(
            name=name,
            digest=stored_digest(files[DOCUMENT], files[WEIGHTS], WIDTH),
            kind="network",
            details={"layers": " ".join(str(len(layer.weight)) for layer in self.layers)},
        )

    @property
    def card(self) -> PolicyCard:
        """Name, and the digest over weights, layers, spaces, normaliser and width."""
        return self._card

    def act(self, observations: Array, state: Any, starts: NDArray[np.bool_]) -> tuple[Array, Any]:
        """Actions (B, ...), or choices (B,); `state` is passed through.

        Raises PolicyError when the shape does not fit or a value is not finite.
        """
        values = self.values(observations)
        if isinstance(self.action_space, spaces.Discrete):
            return values.argmax(axis=1), state
        actions = values.reshape(-1, *self.action_space.shape)
        low, high = self.action_space.low, self.action_space.high
        if self.squash:
            return low + (0.5 * (actions + 1.0) * (high - low)), state
        return np.clip(actions, low, high), state

    def values(self, observations: Array) -> NDArray[np.float32]:
        """What the last layer gives, shape (B, m), before clipping, stretching or choosing."""
        rows = self._rows(observations)
        if self.normalisation is not None:
            rows = self.normalisation(rows)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            values = rows.astype(np.float32).reshape(len(rows), self._inputs())
            for layer in self.layers:
                values = layer(values)
        if not np.isfinite(values).all():
            bad = int(np.argwhere(~np.isfinite(values))[0, 0])
            raise PolicyError(
                f"The values of policy {self.name} are not finite at observation row {bad}: "
                "binary32 overflowed."
            )
        return values

    def save(self, path: str | Path) -> str:
        """Write the folder `path` (JSON + safetensors, no pickle); returns the card's digest.

        Raises RunFolderError where it cannot be written.
        """
        stored.write(Path(path), self.files())
        return self._card.digest

    @classmethod
    def load(cls, path: str | Path) -> "NetworkPolicy":
        """The policy of a folder that `save` wrote; no code is run. Raises PolicyError."""
        return _from_files(*stored.read(Path(path)))

    @staticmethod
    def is_stored_at(path: str | Path) -> bool:
        """Whether a folder holds a network policy, by its description alone."""
        return stored.is_network(Path(path))

    def files(self) -> dict[str, bytes]:
        """The files of a saved policy: name -> bytes."""
        arrays: dict[str, Array] = {}
        for number, layer in enumerate(self.layers):
            arrays[f"layer.{number}.weight"] = layer.weight
            arrays[f"layer.{number}.bias"] = layer.bias
        if self.normalisation is not None:
            arrays["normaliser.mean"] = self.normalisation.mean
            arrays["normaliser.scale"] = self.normalisation.scale
            arrays["normaliser.clip"] = np.array([self.normalisation.clip])
        document = {
            "format": stored.FORMAT,
            "name": self.name,
            "observation": stored.space_parts(self.observation_space, "observation", arrays),
            "action": stored.space_parts(self.action_space, "action", arrays),
            "layers": [[layer.activation, layer.slope] for layer in self.layers],
            "normalised": self.normalisation is not None,
            "squash": self.squash,
        }
        return stored.pack(document, arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        files = self.files()
        return _from_files, (files[DOCUMENT], files[WEIGHTS])

    def _inputs(self) -> int:
        return int(np.prod(self.observation_space.shape, dtype=np.int64))

    def _rows(self, observations: Array) -> Array:
        shape = self.observation_space.shape
        rows = np.asarray(observations, dtype=self.observation_space.dtype)
        if rows.ndim == 0 or rows.shape[1:] != shape:
            raise PolicyError(
                f"Policy {self.name} takes observations of shape (B, "
                f"{', '.join(map(str, shape))}), found {rows.shape}."
            )
        if not np.isfinite(rows).all():
            bad = int(np.argwhere(~np.isfinite(rows))[0, 0])
            raise PolicyError(f"Observation row {bad} given to policy {self.name} is not finite.")
        return rows

    def _check(self) -> None:
        stored.check_space(self.observation_space, "observation", (spaces.Box,))
        stored.check_space(self.action_space, "action", (spaces.Box, spaces.Discrete))
        check_chain(self.layers, self._inputs())
        space: Any = self.action_space
        discrete = isinstance(space, spaces.Discrete)
        wanted = int(space.n) if discrete else int(np.prod(space.shape, dtype=np.int64))
        found = len(self.layers[-1].weight)
        if found != wanted:
            raise PolicyError(f"The last layer gives {found} values, the action needs {wanted}.")
        shape = self.observation_space.shape
        if self.normalisation is not None and self.normalisation.mean.shape != shape:
            raise PolicyError(
                f"The normaliser is for observations of shape {self.normalisation.mean.shape}, "
                f"the policy takes {shape}."
            )
        if self.squash:
            self._check_squash()

    def _check_squash(self) -> None:
        space = self.action_space
        if not isinstance(space, spaces.Box) or self.layers[-1].activation != "tanh":
            raise PolicyError(
                "squash=True needs a Box action and a last layer with activation='tanh'."
            )
        if not (np.isfinite(space.low).all() and np.isfinite(space.high).all()):
            raise PolicyError("squash=True needs an action Box with finite limits.")


def _from_files(document: bytes, weights: bytes) -> NetworkPolicy:
    described, arrays = stored.unpack(document, weights)
    try:
        layers = [
            Layer(arrays[f"layer.{number}.weight"], arrays[f"layer.{number}.bias"], kind, slope)
            for number, (kind, slope) in enumerate(described["layers"])
        ]
        normalisation = None
        if described["normalised"]:
            normalisation = Normalisation(
                arrays["normaliser.mean"],
                arrays["normaliser.scale"],
                float(arrays["normaliser.clip"][0]),
            )
        return NetworkPolicy(
            layers,
            observation_space=stored.read_space(described["observation"], "observation", arrays),
            action_space=stored.read_space(described["action"], "action", arrays),
            normalisation=normalisation,
            squash=described["squash"],
            name=str(described["name"]),
        )
    except stored.MALFORMED as error:
        if isinstance(error, PolicyError):
            raise
        raise PolicyError(f"The stored network policy is malformed: {error!r}.") from error
