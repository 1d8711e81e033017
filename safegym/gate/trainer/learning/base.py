"""What the training loop asks of a learner."""

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from stable_baselines3.common.base_class import BaseAlgorithm

from safegym.gate.penalty import Penaliser
from safegym.gate.trainer.correction import JudgedEpisode
from safegym.gate.trainer.events import PenaltyApplied
from safegym.policy.sb3.checkpoint import Checkpoint


class Learner(Protocol):
    """A stable-baselines3 algorithm, driven a rollout at a time.

    The order is: `begin` or `go_on` once, then for each rollout `collect`, `correct`, `update`;
    `open_state` and `rolled_back` only between rollouts. Where `correct` has nothing to do, the
    weights are those of the algorithm's own `learn`, bit for bit.
    """

    @property
    def algorithm(self) -> BaseAlgorithm:
        """The algorithm: its weights, optimisers and counters go into checkpoints."""
        ...

    @property
    def num_timesteps(self) -> int:
        """Environment steps so far, over all environments."""
        ...

    def begin(self) -> None:
        """The run's one `_setup_learn`, at its start: resets the environments."""
        ...

    def go_on(self, checkpoint: Checkpoint) -> tuple[str, ...]:
        """The run's one `_setup_learn`, after a resume: environments stay as they are.

        Returns a sentence for each thing that the checkpoint does not hold, after which the run
        goes on, but not bit-exactly. Raises PolicyError when the checkpoint does not fit.
        """
        ...

    def collect(self) -> None:
        """Step the environments `n_steps` times. Raises GateError at a number not finite."""
        ...

    def correct(
        self, judged: Sequence[JudgedEpisode], penaliser: Penaliser
    ) -> list[PenaltyApplied]:
        """Write the rollout's penalties into what is learned from; returns them."""
        ...

    def update(self) -> None:
        """Update the weights as the algorithm does after a rollout."""
        ...

    def open_state(self) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        """What the next rollout begins from, beside the algorithm: for a checkpoint's `extra`.

        The document is stored under "learner". Raises GateError before training has begun.
        """
        ...

    def rolled_back(self, earlier: Checkpoint) -> None:
        """Weights, optimisers and normaliser were put back to those of `earlier`."""
        ...
