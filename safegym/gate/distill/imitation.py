"""The loss of a student against its teachers' guidance, on the student's own states.

Continuous actions: mean squared error, in half ranges of each action. Discrete ones: the
divergence KL(teacher || student), which for a teacher without probabilities is the cross-entropy
of its choice.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from safegym.gate.distill.guidance import Guidance

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""What the network gives (B, m), and targets (B, m) -> the mean loss."""


def targets_of(guided: Guidance, space: spaces.Space[Any]) -> torch.Tensor:
    """What the student is to give: actions (B, m), or log probabilities (B, k), as float32."""
    if isinstance(space, spaces.Discrete):
        if guided.graded is not None:
            return torch.from_numpy(guided.graded.astype(np.float32))
        chosen = torch.from_numpy(guided.actions.reshape(-1).astype(np.int64) - int(space.start))
        return torch.log(torch.nn.functional.one_hot(chosen, int(space.n)).float())
    flat = guided.actions.reshape(len(guided), -1)
    return torch.from_numpy(flat.astype(np.float32))


def loss_of(space: spaces.Space[Any]) -> Loss:
    """The loss for actions in this space."""
    if isinstance(space, spaces.Discrete):
        return divergence
    box: Any = space
    return SquaredError(torch.from_numpy(box.low).float(), torch.from_numpy(box.high).float())


def divergence(given: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """KL(wanted || softmax(given)), mean over rows; wanted: log probabilities, -inf for none."""
    own = torch.log_softmax(given, dim=1)
    chance = wanted.exp()
    terms = torch.where(chance > 0.0, chance * (wanted - own), torch.zeros_like(own))
    return terms.sum(dim=1).mean()


class SquaredError:
    """Mean squared error in half ranges; low, high: limits of the actions, (m,).

    The network's output is clipped to the limits when it acts, so that going past a limit at which
    the teacher stands is no error.
    """

    def __init__(self, low: torch.Tensor, high: torch.Tensor) -> None:
        self._low, self._high = low, high
        self._scale = torch.clamp((high - low) / 2.0, min=torch.finfo(low.dtype).tiny)

    def __call__(self, given: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        """See `Loss`."""
        past = (wanted >= self._high) & (given > self._high)
        past = past | ((wanted <= self._low) & (given < self._low))
        off = torch.where(past, torch.zeros_like(given), (given - wanted) / self._scale)
        return off.square().mean()
