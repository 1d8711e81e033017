"""stable-baselines3's replay buffers that know their episodes and mix failing rows into samples.

They hold raw rewards, as stable-baselines3's do: reward normalisation happens when a sample is
drawn, so a reward that is lowered later is normalised like any other, also inside an n-step return.
With no failing row `sample` is stable-baselines3's own and draws the same random numbers.
"""

import copy
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.buffers import NStepReplayBuffer, ReplayBuffer
from stable_baselines3.common.type_aliases import ReplayBufferSamples
from stable_baselines3.common.vec_env import VecNormalize

from safegym.gate.trainer.learning.failing_rows import FailingRows, mixed_in
from safegym.gate.trainer.learning.ring_rows import RingRows


class FailingReplayBuffer(ReplayBuffer):
    """A replay buffer whose samples hold a bounded share of rows that led to a violation.

    failing_share: share of failing rows in a sample, in [0, 1); see `mixed_in`. rows: where each
    step of an ended episode stands. failing: what is marked.
    """

    def __init__(self, *args: Any, failing_share: float = 0.0, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.failing_share = failing_share
        self.rows = RingRows(self.buffer_size, self.n_envs)
        self.failing = FailingRows(self.n_envs)

    def add(
        self,
        obs: NDArray[Any],
        next_obs: NDArray[Any],
        action: NDArray[Any],
        reward: NDArray[Any],
        done: NDArray[Any],
        infos: list[dict[str, Any]],
    ) -> None:
        """Write one row: a transition of each environment."""
        super().add(obs, next_obs, action, reward, done, infos)
        self.rows.add(np.asarray(done, dtype=bool))

    def lower(self, row: int, slot: int, size: float) -> None:
        """Add `size` (<= 0, in units of reward) to the raw reward of a row that stands."""
        self.rewards[row % self.buffer_size, slot] += np.float32(size)

    def mark_failing(self, slot: int, first: int, last: int) -> None:
        """Rows first..last of a slot led to a violation; those overwritten are passed over."""
        self.failing.mark(slot, first, last, self.rows.oldest)

    def sample(self, batch_size: int, env: VecNormalize | None = None) -> ReplayBufferSamples:
        """A sample of all rows, with a bounded share of failing ones; draws from numpy's stream."""
        marked = self.failing.standing(self.rows.oldest)
        extra = mixed_in(batch_size, self.failing_share, len(marked), self.size() * self.n_envs)
        if extra == 0:
            return super().sample(batch_size, env)
        evenly = super().sample(batch_size - extra, env)
        chosen = marked[np.random.randint(0, len(marked), size=extra)]
        rows, slots = self.failing.places(chosen)
        return _joined([evenly, *self._of_places(rows % self.buffer_size, slots, env)])

    def _of_places(
        self, positions: NDArray[np.int64], slots: NDArray[np.int64], env: VecNormalize | None
    ) -> list[ReplayBufferSamples]:
        """The transitions at these places, in any order."""
        flat = self._seen_as(self.buffer_size * self.n_envs, slice(None))
        return [flat._get_samples(positions * self.n_envs + slots, env)]

    def _seen_as(self, size: int, columns: slice) -> ReplayBuffer:
        """The same memory as a buffer of one environment, whose rows are `size` long."""
        view = copy.copy(self)
        view.n_envs = 1
        view.buffer_size = size
        for name in (
            "observations",
            "next_observations",
            "actions",
            "rewards",
            "dones",
            "timeouts",
        ):
            array = getattr(self, name)[:, columns]
            setattr(view, name, array.reshape(size, 1, *array.shape[2:]))
        return view


class FailingNStepReplayBuffer(FailingReplayBuffer, NStepReplayBuffer):
    """The same with n-step returns, which are computed when a sample is drawn."""

    def _of_places(
        self, positions: NDArray[np.int64], slots: NDArray[np.int64], env: VecNormalize | None
    ) -> list[ReplayBufferSamples]:
        """Slot by slot, since the rows that follow one must be of its own slot."""
        return [
            self._seen_as(self.buffer_size, slice(slot, slot + 1))._get_samples(
                positions[slots == slot], env
            )
            for slot in np.unique(slots).tolist()
        ]


def make_buffer(
    *,
    size: int,
    observation_space: spaces.Space[Any],
    action_space: spaces.Space[Any],
    n_envs: int,
    failing_share: float,
    n_steps: int = 1,
    gamma: float = 0.99,
) -> FailingReplayBuffer:
    """An empty buffer of `size` transitions in all. n_steps: of the returns; 1 for plain ones."""
    common: dict[str, Any] = {
        "device": "cpu",
        "n_envs": n_envs,
        "optimize_memory_usage": False,
        "failing_share": failing_share,
    }
    if n_steps == 1:
        return FailingReplayBuffer(size, observation_space, action_space, **common)
    return FailingNStepReplayBuffer(
        size, observation_space, action_space, n_steps=n_steps, gamma=gamma, **common
    )


def _joined(parts: list[ReplayBufferSamples]) -> ReplayBufferSamples:
    """One sample of several; what is None in them stays None."""
    fields: list[torch.Tensor | None] = [
        None if any(item is None for item in column) else torch.cat(column)
        for column in zip(*parts, strict=True)
    ]
    return ReplayBufferSamples(*fields)  # type: ignore[arg-type]
