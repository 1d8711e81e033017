"""A replay buffer as tensors in a checkpoint, and back, bit for bit."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.errors import GateError, PolicyError
from safegym.gate.trainer.learning.off_policy_buffers import FailingReplayBuffer
from safegym.policy.sb3.checkpoint import REPLAY_PREFIX, Checkpoint
from safegym.policy.sb3.folder import MAX_FILE_BYTES

ARRAYS = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")
_HEADER = 1 << 16
_FAILING = f"{REPLAY_PREFIX}failing"


def capture_buffer(
    buffer: FailingReplayBuffer,
) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """What was written so far: the count of rows as JSON, the rows and the marks as tensors."""
    filled = buffer.size()
    tensors = {
        f"{REPLAY_PREFIX}{name}": torch.from_numpy(_plain(getattr(buffer, name)[:filled]))
        for name in ARRAYS
    }
    tensors[_FAILING] = torch.from_numpy(buffer.failing.ids.copy())
    return {"added": buffer.rows.added}, tensors


def restore_buffer(buffer: FailingReplayBuffer, checkpoint: Checkpoint, document: Any) -> None:
    """Fill an empty buffer of the same size with what `capture_buffer` stored.

    Raises PolicyError where the stored rows do not fit.
    """
    added = _count(document)
    filled = min(added, buffer.buffer_size)
    for name in ARRAYS:
        array: NDArray[Any] = getattr(buffer, name)
        stored = checkpoint.extra_tensor(f"{REPLAY_PREFIX}{name}").numpy()
        wanted = (filled, *array.shape[1:])
        if stored.shape != wanted:
            raise PolicyError(
                f"The stored replay buffer has {name} of shape {stored.shape}, the run's needs "
                f"{wanted}; resume with the run's own settings and scenario."
            )
        array[:filled] = stored
    buffer.pos = added % buffer.buffer_size
    buffer.full = added >= buffer.buffer_size
    buffer.rows.added = added
    buffer.failing.ids = np.unique(checkpoint.extra_tensor(_FAILING).numpy().astype(np.int64))


def holds_buffer(checkpoint: Checkpoint) -> bool:
    """Whether the tensors that `capture_buffer` gave are still there."""
    return f"extra.{_FAILING}" in checkpoint.tensors


def refuse_large_buffer(buffer: FailingReplayBuffer, steps: int) -> None:
    """Raises GateError where the buffer that a run of `steps` fills is too large for a file."""
    row = sum(getattr(buffer, name)[:1].nbytes for name in ARRAYS) + 8 * buffer.n_envs
    most = (MAX_FILE_BYTES - _HEADER) // row
    rows = min(buffer.buffer_size, -(-steps // buffer.n_envs))
    if rows > most:
        raise GateError(
            f"save_replay=True would store a replay buffer of {rows * row / 2**30:.1f} GiB, and a "
            f"file of a checkpoint holds {MAX_FILE_BYTES / 2**30:.0f} GiB; "
            f"buffer_size={most * buffer.n_envs} is the most, or leave save_replay out."
        )


def action_draws(space: spaces.Space[Any]) -> dict[str, Any]:
    """The generator of an action space, which warm-up and epsilon-greedy actions are drawn from."""
    state: Any = space.np_random.bit_generator.state
    words = {key: str(value) for key, value in state["state"].items()}
    document = {
        "kind": state["bit_generator"],
        "words": words,
        "has_uint32": int(state["has_uint32"]),
        "uinteger": str(state["uinteger"]),
    }
    return {"action_draws": document}


def restore_action_draws(space: spaces.Space[Any], document: Mapping[str, Any]) -> None:
    """Put the generator of an action space back. Raises PolicyError when it is malformed."""
    try:
        stored = document["action_draws"]
        space.np_random.bit_generator.state = {
            "bit_generator": stored["kind"],
            "state": {key: int(value) for key, value in stored["words"].items()},
            "has_uint32": int(stored["has_uint32"]),
            "uinteger": int(stored["uinteger"]),
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PolicyError(f"The stored generator of actions is malformed: {error!r}.") from error


def _count(document: Any) -> int:
    try:
        added = int(document["added"])
    except (KeyError, TypeError, ValueError) as error:
        raise PolicyError(f"The stored replay buffer is malformed: {error!r}.") from error
    if added < 0:
        raise PolicyError(f"The stored replay buffer says that {added} rows were written.")
    return added


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array)
