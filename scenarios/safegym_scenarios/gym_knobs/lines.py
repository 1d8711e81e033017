"""A line through which values go with a delay of whole steps."""

from collections import deque
from typing import Any


def whole_steps(seconds: float, dt: float) -> int:
    """The delay in control steps that lies nearest to `seconds`."""
    return round(seconds / dt)


class DelayLine:
    """Gives back what was put in `steps` steps before; `first` until then."""

    def __init__(self, steps: int, first: Any) -> None:
        self._waiting: deque[Any] = deque([first] * steps)

    def through(self, value: Any) -> Any:
        """Put in `value`, take out the oldest."""
        if not self._waiting:
            return value
        self._waiting.append(value)
        return self._waiting.popleft()
