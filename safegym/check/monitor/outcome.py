"""What an online update tells: statuses and robustness intervals of B episodes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.monitor.stream.keys import Keys, margin_of

_NAMES = np.array(["violated", "inconclusive", "satisfied"])


class Outcome:
    """Three-valued status and robustness interval of B episodes, worked out when read.

    must, may: bool (B,), whether the property surely holds, and whether it may. lo, hi: float64
    (B,) in multiples of the atoms' scale, None where margins do not compare. Unpacks as
    (status, lo, hi).
    """

    __slots__ = ("_keys", "_margins")

    def __init__(self, keys: Keys, *, margins: bool) -> None:
        self._keys = keys
        self._margins = margins

    @property
    def must(self) -> NDArray[np.bool_]:
        """Whether the property surely holds, whatever comes, (B,)."""
        found: NDArray[np.bool_] = self._keys[0] >= 0
        return found

    @property
    def may(self) -> NDArray[np.bool_]:
        """Whether the property may still hold, (B,)."""
        found: NDArray[np.bool_] = self._keys[1] >= 0
        return found

    @property
    def lo(self) -> NDArray[np.float64] | None:
        """Least robustness that the property can have, (B,)."""
        return margin_of(self._keys[0]) if self._margins else None

    @property
    def hi(self) -> NDArray[np.float64] | None:
        """Greatest robustness that the property can have, (B,)."""
        return margin_of(self._keys[1]) if self._margins else None

    @property
    def status(self) -> NDArray[np.str_]:
        """Each episode's status: "satisfied", "violated" or "inconclusive", (B,)."""
        return _NAMES[self.must.astype(np.intp) + self.may]

    def __iter__(self) -> Iterator[Any]:
        """Unpacks as (status, lo, hi)."""
        return iter((self.status, self.lo, self.hi))

    def __repr__(self) -> str:
        return f"Outcome(status={self.status}, lo={self.lo}, hi={self.hi})"


class Update:
    """What one update tells of B episodes.

    episode: the property at sample 0, on the samples so far taken as interrupted. delayed: the
    property at sample k - look_ahead, where bounded windows are settled; inconclusive before there
    is one.
    """

    __slots__ = ("_margins", "_told")

    def __init__(self, told: bytes, margins: bool) -> None:
        self._told = told
        self._margins = margins

    @property
    def episode(self) -> Outcome:
        """The property at sample 0."""
        return Outcome(self._keys[:2], margins=self._margins)

    @property
    def delayed(self) -> Outcome:
        """The property at sample k - look_ahead."""
        return Outcome(self._keys[2:], margins=self._margins)

    @property
    def _keys(self) -> Keys:
        """Lower and upper keys of `episode` and of `delayed`, (4, B)."""
        return np.frombuffer(self._told, np.int64).reshape(4, -1)

    def __repr__(self) -> str:
        return f"Update(episode={self.episode}, delayed={self.delayed})"
