"""A stable-baselines3 policy, frozen: the `Policy` that evidence is gathered on."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.policies import BasePolicy

from safegym.digest import canonical_json, digest_json
from safegym.errors import PolicyError
from safegym.policy.base import WIDTH, PolicyCard
from safegym.policy.sb3.architecture import build, describe
from safegym.policy.sb3.as_written import lost_in_copy
from safegym.policy.sb3.folder import read_folder, write_folder
from safegym.policy.sb3.inference import (
    Kernel,
    deterministic_kernel,
    evaluate,
    rows_are_independent,
    single_thread,
    trial_inputs,
)
from safegym.policy.sb3.names import algorithm_name
from safegym.policy.sb3.normaliser import Normaliser
from safegym.policy.sb3.recurrent import LstmKernel, is_recurrent
from safegym.policy.sb3.spaces import Space, same_space
from safegym.policy.sb3.tensors import (
    check_finite,
    detached,
    digest_tensors,
    from_bytes,
    to_bytes,
)
from safegym.policy.stored import DOCUMENT, WEIGHTS, policy_digest

Array = NDArray[Any]
PREFIX = "policy."


class SB3Policy:
    """A frozen policy in deterministic mode, with frozen observation statistics.

    Holds its own copy of the weights; later training does not change it. Picklable, for worker
    processes of safegym's own. Made by `freeze` and `load_policy`.
    """

    def __init__(
        self,
        architecture: Mapping[str, Any],
        weights: Mapping[str, torch.Tensor],
        *,
        name: str,
        algorithm: str,
        normaliser: Normaliser | None = None,
        width: int | None = None,
    ) -> None:
        """Build the network and test it.

        width: 64, or 1 (each row alone); None tests whether this machine's kernels keep rows
        independent at width 64 and takes 1 if they do not. Raises PolicyError.
        """
        check_finite(weights, what=f"Policy {name} cannot be frozen")
        self._architecture = dict(architecture)
        self._normaliser = normaliser
        self._name, self._algorithm = name, algorithm
        self._policy: BasePolicy = build(architecture, weights)
        self._weights = detached(self._policy.state_dict())
        self._check_spaces_are_arrays()
        self._lstm = self._memory_of()
        self._kernel: Kernel = self._lstm or deterministic_kernel(self._policy)
        self._width = self._tested_width() if width is None else width
        self._card = self._make_card()

    @property
    def card(self) -> PolicyCard:
        """What the policy is; `digest` covers weights, architecture, normaliser, mode and width."""
        return self._card

    @property
    def observation_space(self) -> Space:
        """The space of one observation, before normalising."""
        return self._policy.observation_space

    @property
    def action_space(self) -> Space:
        """The space of one action."""
        return self._policy.action_space

    @property
    def policy_class(self) -> type[BasePolicy]:
        """The class of its network: ActorCriticPolicy, SACPolicy, ..."""
        return type(self._policy)

    @property
    def weights(self) -> dict[str, torch.Tensor]:
        """A copy of the weights, by name."""
        return detached(self._weights)

    @property
    def normaliser(self) -> Normaliser | None:
        """The frozen observation statistics, None where observations are not normalised."""
        return self._normaliser

    @property
    def recurrent(self) -> bool:
        """Whether an action depends on what was seen before: the policy has an LSTM."""
        return self._lstm is not None

    def act(self, observations: Array, state: Any, starts: NDArray[np.bool_]) -> tuple[Array, Any]:
        """Deterministic actions (B, ...) for observations (B, ...), and the new state.

        A recurrent policy's state is each row's LSTM state, zeros where an episode starts; any
        other policy passes `state` through. Raises PolicyError when the shape does not fit or a
        value is not finite.
        """
        inputs = self._network_inputs(observations)
        if len(inputs) == 0:
            space: Any = self.action_space
            return np.zeros((0, *space.shape), dtype=space.dtype), state
        with single_thread():
            if self._lstm is None:
                return evaluate(self._kernel, inputs, self._width), state
            packed = self._lstm.pack(inputs, state, starts)
            return self._lstm.unpack(evaluate(self._kernel, packed, self._width))

    def check_fit(self, observation_space: Space, action_space: Space) -> None:
        """Raises PolicyError unless both spaces are exactly the policy's own."""
        for what, asked, own in (
            ("observations", observation_space, self.observation_space),
            ("actions", action_space, self.action_space),
        ):
            if not same_space(asked, own):
                raise PolicyError(
                    f"Policy {self._name} has {what} in {own}, the environment has {asked}; "
                    "use the environment it was trained on, or train a policy for this one."
                )

    def save(self, path: str | Path) -> str:
        """Write the folder `path` (JSON + safetensors, no pickle); returns its digest."""
        return write_folder(Path(path), self.files())

    def files(self) -> dict[str, bytes]:
        """The files of a saved policy: name -> bytes."""
        return {DOCUMENT: canonical_json(self._document()), WEIGHTS: to_bytes(self._stored())}

    def __reduce__(self) -> tuple[Any, ...]:
        files = self.files()
        return _from_files, (files[DOCUMENT], files[WEIGHTS], self._width)

    @property
    def architecture(self) -> Mapping[str, Any]:
        """The policy's class and the parameters of its constructor, as JSON."""
        return dict(self._architecture)

    def _document(self) -> dict[str, Any]:
        return {
            "name": self._name,
            "algorithm": self._algorithm,
            "architecture": self._architecture,
            "normaliser": None if self._normaliser is None else self._normaliser.document(),
        }

    def _stored(self) -> dict[str, torch.Tensor]:
        stored = {PREFIX + name: tensor for name, tensor in self._weights.items()}
        return stored if self._normaliser is None else {**stored, **self._normaliser.tensors()}

    def _make_card(self) -> PolicyCard:
        weights = digest_tensors(self._stored())
        architecture = digest_json(self._architecture)
        digest = policy_digest(self._document(), weights, self._width)
        details = {
            "algorithm": self._algorithm,
            "architecture": architecture,
            "weights": weights,
            "inference": "fixed width, zero-padded" if self._width > 1 else "each row alone",
        }
        if self._lstm is not None:
            _, layers, hidden = self._lstm.memory
            details["memory"] = f"LSTM, {layers} x {hidden}"
        return PolicyCard(
            name=self._name, digest=digest, kind="sb3", width=self._width, details=details
        )

    def _network_inputs(self, observations: Array) -> Array:
        space: Any = self.observation_space
        rows = np.asarray(observations, dtype=space.dtype)
        if rows.ndim == 0 or rows.shape[1:] != space.shape:
            raise PolicyError(
                f"Policy {self._name} takes observations of shape (B, "
                f"{', '.join(map(str, space.shape))}), found {rows.shape}."
            )
        if rows.dtype.kind == "f" and not np.isfinite(rows).all():
            bad = int(np.argwhere(~np.isfinite(rows))[0, 0])
            raise PolicyError(f"Observation row {bad} given to policy {self._name} is not finite.")
        return rows if self._normaliser is None else self._normaliser(rows)

    def _check_spaces_are_arrays(self) -> None:
        if isinstance(self._policy.observation_space, spaces.Dict):
            raise PolicyError(
                f"Policy {self._name} takes Dict observations, which evidence inference does not "
                "batch; wrap the environment in gymnasium.wrappers.FlattenObservation."
            )
        shape = self._policy.observation_space.shape
        if self._normaliser is not None and self._normaliser.mean.shape != shape:
            raise PolicyError(
                f"The normaliser of policy {self._name} is for observations of shape "
                f"{self._normaliser.mean.shape}, the policy takes {shape}."
            )

    def _memory_of(self) -> LstmKernel | None:
        return LstmKernel(self._policy, self._input_dtype) if is_recurrent(self._policy) else None

    @property
    def _input_dtype(self) -> Any:
        space: Any = self._policy.observation_space
        return space.dtype if self._normaliser is None else np.dtype(np.float32)

    def _tested_width(self) -> int:
        space: Any = self._policy.observation_space
        inputs = trial_inputs(space, self._input_dtype, WIDTH)
        if self._lstm is not None:
            inputs = self._lstm.pack(inputs, self._trial_state(), np.zeros(WIDTH, np.bool_))
        with single_thread():
            return WIDTH if rows_are_independent(self._kernel, inputs) else 1

    def _trial_state(self) -> Array | None:
        """Fixed states for the self-test, in (-1, 1)."""
        if self._lstm is None:
            return None
        shape = (WIDTH, *self._lstm.memory)
        drawn = np.random.default_rng(20_250_102).uniform(-1.0, 1.0, shape)
        return drawn.astype(np.float32)


def freeze(
    algorithm: BaseAlgorithm, *, name: str | None = None, normaliser: Normaliser | None = None
) -> SB3Policy:
    """The algorithm's policy as it stands now, copied; its VecNormalize statistics with it.

    Raises PolicyError when a weight is not finite, a class is not on the allow-list, or the network
    does what its classes do not say (a hook, a replaced method, an exchanged module).
    """
    algorithm_kind = algorithm_name(algorithm)
    if normaliser is None:
        normaliser = Normaliser.of(algorithm.get_vec_normalize_env())
    frozen = SB3Policy(
        describe(algorithm.policy),
        algorithm.policy.state_dict(),
        name=name or algorithm_kind,
        algorithm=algorithm_kind,
        normaliser=normaliser,
    )
    lost = lost_in_copy(algorithm, frozen._policy)
    if lost is not None:
        raise PolicyError(f"Policy {frozen._name} cannot be frozen: {lost}")
    return frozen


def load_policy(path: str | Path) -> SB3Policy:
    """The policy of a checkpoint folder or of a folder that `save` wrote; loading runs no code.

    Raises PolicyError when a digest, a class name or a value is wrong.
    """
    files = read_folder(Path(path), [DOCUMENT, WEIGHTS])
    return _from_files(files[DOCUMENT], files[WEIGHTS], None)


def _from_files(document: bytes, weights: bytes, width: int | None) -> SB3Policy:
    try:
        data = json.loads(document)
        architecture, normaliser = data["architecture"], data["normaliser"]
        name, algorithm = str(data["name"]), str(data["algorithm"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise PolicyError(f"The policy's {DOCUMENT} is malformed: {error!r}.") from error
    tensors = from_bytes(weights)
    return SB3Policy(
        architecture,
        {k.removeprefix(PREFIX): t for k, t in tensors.items() if k.startswith(PREFIX)},
        name=name,
        algorithm=algorithm,
        normaliser=Normaliser.stored(normaliser, tensors),
        width=width,
    )
