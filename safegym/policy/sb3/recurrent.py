"""Acting with a memory: the LSTM state of each row, kept by whoever asks for actions.

A row of input is the observation and the row's own state side by side, and a row of output the
action and the new state; so what keeps rows apart without a memory keeps them apart with one.
"""

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.policies import BasePolicy

from safegym.errors import PolicyError

Array = NDArray[Any]
_HARMLESS = frozenset(["bias", "dropout"])
"""Arguments of an LSTM that leave the shape of its state as it is."""


def is_recurrent(policy: BasePolicy) -> bool:
    """Whether an action of the policy depends on what it saw before."""
    return hasattr(policy, "lstm_actor")


class LstmKernel:
    """Packed rows (W, d + s) -> packed rows (W, m + s), in float64, which holds each part exactly.

    d, m: numbers of an observation and of an action. s = 2 * layers * hidden: hidden and cell
    states. State of a batch: float32, shape (B, 2, layers, hidden); an episode begins with zeros.
    Raises PolicyError for an LSTM of another form (lstm_kwargs).
    """

    def __init__(self, policy: BasePolicy, dtype: Any) -> None:
        """dtype: of what the network is given."""
        lstm: Any = policy.lstm_actor
        odd = sorted(set(getattr(policy, "lstm_kwargs", {})) - _HARMLESS)
        if odd:
            raise PolicyError(
                f"The policy's LSTM was made with lstm_kwargs {', '.join(odd)}; a policy is frozen "
                "with bias and dropout only."
            )
        self._policy, self._dtype = policy, np.dtype(dtype)
        self._shape: tuple[int, ...] = tuple(policy.observation_space.shape or ())
        self._action: Any = policy.action_space
        self.memory = (2, int(lstm.num_layers), int(lstm.hidden_size))

    @property
    def size(self) -> int:
        """Numbers of a row's state."""
        return int(np.prod(self.memory))

    def pack(self, inputs: Array, state: Any, starts: NDArray[np.bool_]) -> Array:
        """Network inputs (B, ...) with the rows' states; rows where `starts` begin with zeros.

        Raises PolicyError when the state is of another number of rows.
        """
        count = len(inputs)
        held = np.zeros((count, *self.memory), np.float32) if state is None else np.array(state)
        if held.shape != (count, *self.memory):
            raise PolicyError(
                f"A state of shape {held.shape} came with {count} observations; give the state "
                "that the last call returned, None at first."
            )
        begins = np.asarray(starts, dtype=np.bool_)
        if len(begins) == count:
            held[begins] = 0.0
        flat = inputs.reshape(count, -1).astype(np.float64)
        return np.concatenate([flat, held.reshape(count, -1).astype(np.float64)], axis=1)

    def unpack(self, outputs: Array) -> tuple[Array, Array]:
        """Actions (B, ...) and the new state."""
        count, place = len(outputs), outputs.shape[1] - self.size
        actions = outputs[:, :place].reshape((count, *self._action.shape))
        state = outputs[:, place:].reshape((count, *self.memory)).astype(np.float32)
        return actions.astype(self._acts_in), state

    def __call__(self, rows: Array) -> Array:
        """The deterministic action and the new state of each packed row."""
        count, place = len(rows), rows.shape[1] - self.size
        seen = rows[:, :place].astype(self._dtype).reshape((count, *self._shape))
        held = rows[:, place:].astype(np.float32).reshape((count, *self.memory))
        hidden = torch.from_numpy(np.ascontiguousarray(held.transpose(1, 2, 0, 3)))
        tensor, _ = self._policy.obs_to_tensor(seen)
        predict: Any = self._policy._predict
        with torch.no_grad():
            raw, after = predict(
                tensor,
                lstm_states=(hidden[0], hidden[1]),
                episode_starts=torch.zeros(count),
                deterministic=True,
            )
        state = torch.stack(after).numpy().transpose(2, 0, 1, 3).reshape(count, -1)
        actions = self._acted(raw.numpy()).reshape(count, -1)
        return np.concatenate([actions.astype(np.float64), state.astype(np.float64)], axis=1)

    @property
    def _acts_in(self) -> Any:
        return self._action.dtype if isinstance(self._action, spaces.Box) else np.int64

    def _acted(self, raw: Array) -> Array:
        space, policy = self._action, self._policy
        actions = raw.reshape((-1, *space.shape))
        if not isinstance(space, spaces.Box):
            return actions
        if policy.squash_output:
            return np.asarray(policy.unscale_action(actions))
        return np.clip(actions, space.low, space.high)
