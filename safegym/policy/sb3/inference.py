"""Inference whose rows depend neither on their neighbours nor on their position.

Matrix products round differently at different batch sizes, so actions are computed at one fixed
width, padded with zeros. Where a machine's kernels still mix rows, each row is computed alone.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.policies import BasePolicy

from safegym.policy.base import WIDTH

Array = NDArray[Any]
Kernel = Callable[[Array], Array]
"""Network inputs (W, ...) -> actions (W, ...)."""


@contextmanager
def single_thread() -> Generator[None]:
    """One torch thread inside the block; how a sum is split over threads changes its bits."""
    before = torch.get_num_threads()
    if before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def deterministic_kernel(policy: BasePolicy) -> Kernel:
    """The policy's deterministic action at one batch, clipped or unscaled as SB3's predict does."""
    space: Any = policy.action_space
    shape = tuple(space.shape)
    is_box = isinstance(space, spaces.Box)

    def kernel(rows: Array) -> Array:
        tensor, _ = policy.obs_to_tensor(rows)
        with torch.no_grad():
            raw = policy._predict(tensor, deterministic=True)
        actions = raw.cpu().numpy().reshape((-1, *shape))
        if not is_box:
            return actions
        if policy.squash_output:
            return np.asarray(policy.unscale_action(actions))
        return np.clip(actions, space.low, space.high)

    return kernel


def evaluate(kernel: Kernel, inputs: Array, width: int) -> Array:
    """Actions for any number of rows, at batches of exactly `width`, padded with zeros."""
    chunks: list[Array] = []
    for start in range(0, len(inputs), width):
        rows = inputs[start : start + width]
        if len(rows) < width:
            padded = np.zeros((width, *inputs.shape[1:]), dtype=inputs.dtype)
            padded[: len(rows)] = rows
            chunks.append(kernel(padded)[: len(rows)])
        else:
            chunks.append(kernel(np.ascontiguousarray(rows)))
    return chunks[0] if len(chunks) == 1 else np.concatenate(chunks)


def rows_are_independent(kernel: Kernel, inputs: Array, width: int = WIDTH) -> bool:
    """Whether on this machine a row's action is the same bits at any place, among any rows.

    inputs: at least `width` rows. Tried: reversed, rotated, and alone at the front and at the end.
    """
    batch = np.ascontiguousarray(inputs[:width])
    whole = kernel(batch)
    if not np.array_equal(kernel(np.ascontiguousarray(batch[::-1])), whole[::-1]):
        return False
    for shift in (1, 3, 8, 17):
        rolled = kernel(np.ascontiguousarray(np.roll(batch, shift, axis=0)))
        if not np.array_equal(rolled, np.roll(whole, shift, axis=0)):
            return False
    for row in range(0, width, max(1, width // 8)):
        for place in (0, width - 1):
            alone = np.zeros_like(batch)
            alone[place] = batch[row]
            if not np.array_equal(kernel(alone)[place], whole[row]):
                return False
    return True


def trial_inputs(space: Any, dtype: Any, rows: int) -> Array:
    """Fixed inputs for the self-test: standard normal, or valid indices of a discrete space."""
    generator = np.random.default_rng(20_250_101)
    shape = (rows, *space.shape)
    if isinstance(space, spaces.Discrete):
        return generator.integers(space.start, space.start + space.n, size=shape).astype(dtype)
    if isinstance(space, spaces.MultiDiscrete):
        return (space.start + generator.integers(0, space.nvec, size=shape)).astype(dtype)
    if isinstance(space, spaces.MultiBinary):
        return generator.integers(0, 2, size=shape).astype(dtype)
    if np.issubdtype(dtype, np.integer):
        return generator.integers(0, 100, size=shape).astype(dtype)
    return generator.standard_normal(size=shape).astype(dtype)
