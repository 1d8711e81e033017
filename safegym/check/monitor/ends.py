"""Where each episode of a batch ends, where they do not all end alike."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safegym.check.monitor.frame import Frame
from safegym.check.monitor.lattice import Values


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """One row each episode. last: T, int64 (rows,). end: E, where unbounded operators stop."""

    last: NDArray[np.int64]
    end: NDArray[np.int64]

    @property
    def shortest(self) -> int:
        """The least T."""
        return int(self.last.min())

    @property
    def earliest(self) -> int:
        """The least E."""
        return int(self.end.min())

    def first_of(self, frame: Frame) -> Frame:
        """The outline of an episode as short as the shortest."""
        return frame._replace(last=self.shortest, end=self.earliest)

    def past(self, bounds: NDArray[np.int64], first: int, count: int) -> NDArray[np.bool_]:
        """Which of the samples first..first + count - 1 lie past each row's bound."""
        return np.arange(first, first + count) > bounds[:, None]

    def fill(
        self, values: Values, first: int, bounds: NDArray[np.int64], value: bool | float
    ) -> None:
        """Sets each row, whose samples begin at `first`, to `value` past its bound."""
        start = max(int(bounds.min()) + 1 - first, 0)
        late = values[..., start:]
        if late.shape[-1]:
            np.copyto(late, value, where=self.past(bounds, first + start, late.shape[-1]))
