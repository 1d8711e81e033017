"""Checkpoint folders: policy, optimisers, counters, generators, and a caller's own state.

Files: policy.json and policy.safetensors (what `load_policy` reads), training.json and
training.safetensors (the rest), MANIFEST.json (digests). No pickle anywhere. Where a caller's
tensors are a replay buffer, they stand in replay.safetensors, which `drop_replay` deletes.
"""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from stable_baselines3.common.base_class import BaseAlgorithm

from safegym.digest import canonical_json
from safegym.errors import PolicyError, SafegymError
from safegym.policy.sb3 import algorithm as algorithms
from safegym.policy.sb3 import generators, optimisers
from safegym.policy.sb3.folder import drop_passing, read_folder, write_folder
from safegym.policy.sb3.policy import SB3Policy, freeze
from safegym.policy.sb3.tensors import from_bytes, to_bytes

TRAINING = "training.json"
STATE = "training.safetensors"
REPLAY = "replay.safetensors"
REPLAY_PREFIX = "replay."
"""Names of a caller's tensors that only the last checkpoint of a run needs."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint read from disk.

    document: {"algorithm": ..., "generators": ..., "extra": the caller's JSON}.
    tensors: weights, optimisers, normaliser, generators, and the caller's under "extra.".
    """

    document: Mapping[str, Any]
    tensors: Mapping[str, torch.Tensor] = field(repr=False)

    @property
    def extra(self) -> Mapping[str, Any]:
        """The JSON that the caller stored."""
        extra: Mapping[str, Any] = self.document["extra"]
        return extra

    @property
    def extra_tensors(self) -> dict[str, torch.Tensor]:
        """Every tensor that the caller stored, by its name."""
        prefix = "extra."
        return {
            name.removeprefix(prefix): tensor
            for name, tensor in self.tensors.items()
            if name.startswith(prefix)
        }

    def extra_tensor(self, name: str) -> torch.Tensor:
        """A tensor that the caller stored. Raises PolicyError when there is none."""
        if f"extra.{name}" not in self.tensors:
            raise PolicyError(f"The checkpoint has no tensor {name!r}.")
        return self.tensors[f"extra.{name}"]


def save_checkpoint(
    algorithm: BaseAlgorithm,
    path: str | Path,
    *,
    name: str | None = None,
    extra: Mapping[str, Any] | None = None,
    extra_tensors: Mapping[str, torch.Tensor] | None = None,
) -> tuple[str, SB3Policy]:
    """Write the folder `path` at once; returns its digest and the policy as frozen in it.

    Raises PolicyError on values that are not finite, RunFolderError when it cannot be written.
    """
    random_document, random_tensors = generators.capture()
    document, tensors = algorithms.capture(algorithm)
    frozen = freeze(algorithm, name=name)
    rest = {key: value for key, value in tensors.items() if not key.startswith("policy.")}
    rest |= random_tensors
    rest |= {f"extra.{key}": value for key, value in (extra_tensors or {}).items()}
    training = {
        "algorithm": document,
        "generators": random_document,
        "extra": dict(extra or {}),
    }
    replay = {key: rest.pop(key) for key in list(rest) if key.startswith(f"extra.{REPLAY_PREFIX}")}
    files = {**frozen.files(), TRAINING: canonical_json(training), STATE: to_bytes(rest)}
    if replay:
        files[REPLAY] = to_bytes(replay)
    return write_folder(Path(path), files, passing=(REPLAY,)), frozen


def drop_replay(path: str | Path) -> None:
    """Delete the replay buffer of a checkpoint; its digest stays. Nothing where it has none.

    A run goes on from its last checkpoint only, so earlier ones are kept without their buffers.
    Raises PolicyError when there is no checkpoint.
    """
    drop_passing(Path(path))


def read_checkpoint(path: str | Path) -> Checkpoint:
    """The checkpoint at `path`, every digest checked. Raises PolicyError when it is not sound."""
    folder = Path(path)
    files = read_folder(folder)
    try:
        document = json.loads(files[TRAINING])
        tensors = {**from_bytes(files["policy.safetensors"]), **from_bytes(files[STATE])}
        tensors |= from_bytes(files[REPLAY]) if REPLAY in files else {}
        whole = isinstance(document, dict) and {"algorithm", "generators", "extra"} <= set(document)
    except (KeyError, ValueError, RecursionError) as error:
        raise PolicyError(f"{folder} is not a training checkpoint: {error!r}.") from error
    if not whole:
        raise PolicyError(f"{folder / TRAINING} lacks a part of a training checkpoint.")
    return Checkpoint(document=document, tensors=tensors)


@contextmanager
def well_formed(what: str) -> Generator[None]:
    """For a block that puts stored values back: one of another form raises PolicyError.

    what: begins the error, such as "The checkpoint runs/a/checkpoints/epoch-00002".
    """
    try:
        yield
    except SafegymError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise PolicyError(
            f"{what} is malformed: {error!r}. Use an earlier checkpoint of the run, or put it back "
            "as the run wrote it."
        ) from error


def restore_checkpoint(algorithm: BaseAlgorithm, checkpoint: Checkpoint) -> None:
    """Put weights, optimisers, counters and normaliser back, but not the generators.

    Raises PolicyError when they are malformed or do not fit.
    """
    with well_formed("The checkpoint"):
        algorithms.restore(algorithm, checkpoint.document["algorithm"], checkpoint.tensors)


def restore_learning(algorithm: BaseAlgorithm, checkpoint: Checkpoint) -> None:
    """Put back what was learned, not the counters: for a roll-back inside a run.

    Raises PolicyError when it is malformed or does not fit.
    """
    with well_formed("The checkpoint"):
        algorithms.restore_learning(algorithm, checkpoint.document["algorithm"], checkpoint.tensors)


def forget_optimisers(algorithm: BaseAlgorithm) -> None:
    """Empty the optimisers' memory of gradients, as if no update had been made yet.

    Their settings (learning rates) stay, and so does what is learned beside the weights, such as
    the entropy coefficient of SAC.
    """
    optimisers.forget(algorithm)


def restore_generators(checkpoint: Checkpoint) -> None:
    """Put the global random generators back: the last step of a resume."""
    generators.restore(checkpoint.document["generators"], checkpoint.tensors)


def load_algorithm(path: str | Path, env: Any = None) -> BaseAlgorithm:
    """The whole algorithm of a checkpoint, on `env` (a VecEnv) or without one, to act only."""
    checkpoint = read_checkpoint(path)
    algorithm = algorithms.rebuild(checkpoint.document["algorithm"], env)
    restore_checkpoint(algorithm, checkpoint)
    return algorithm
