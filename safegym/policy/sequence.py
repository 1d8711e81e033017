"""A policy that sees nothing: a list of actions given in advance."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.digest import digest_bytes, digest_json
from safegym.errors import PolicyError
from safegym.policy.base import WIDTH, Array, PolicyCard


class ActionSequence:
    """Open loop: step k of every episode takes `actions[k]`, and the last one from then on.

    actions: shape (T, ...), T >= 1, one action a step. The digest covers their bytes and type.
    Raises PolicyError without an action or with one that is not finite.
    """

    def __init__(self, actions: Array, *, name: str = "sequence") -> None:
        taken = np.array(actions)
        if taken.ndim == 0 or len(taken) == 0 or taken.dtype.kind not in "fiub":
            raise PolicyError(
                f"An action sequence has shape (T, ...) with T >= 1 numbers, found {taken.dtype} "
                f"of shape {taken.shape}."
            )
        if not np.isfinite(taken).all():
            raise PolicyError("An action of the sequence is not finite.")
        taken.flags.writeable = False
        self.actions = taken
        named = {"kind": "sequence", "shape": list(taken.shape), "type": taken.dtype.str}
        digest = digest_json({**named, "width": WIDTH, "bytes": digest_bytes(taken.tobytes())})
        self._card = PolicyCard(name=name, digest=digest, kind="sequence")

    @property
    def card(self) -> PolicyCard:
        """Name, and the digest over the actions."""
        return self._card

    def act(self, observations: Array, state: Any, starts: NDArray[np.bool_]) -> tuple[Array, Any]:
        """The actions due, (B, ...); state (B,): how many steps each row has taken."""
        taken = np.zeros(len(starts), np.int64) if state is None else state
        step = np.where(starts, 0, taken)
        return self.actions[np.minimum(step, len(self.actions) - 1)], step + 1

    def whole(self, steps: int) -> Array:
        """The actions of an episode of so many steps, (steps, ...)."""
        return self.actions[np.minimum(np.arange(steps), len(self.actions) - 1)]
