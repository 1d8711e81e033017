"""Who reads which memory, so that a result may go where nobody reads any more."""

from safegym.check.monitor.lattice import Values


class Holders:
    """Counts of those who read an array's memory; views of an array count for the array."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def add(self, *arrays: Values) -> None:
        """One reader more of each."""
        for values in arrays:
            key = _memory(values)
            self._counts[key] = self._counts.get(key, 0) + 1

    def remove(self, *arrays: Values) -> None:
        """One reader less of each."""
        for values in arrays:
            self._counts[_memory(values)] -= 1

    def alone(self, values: Values) -> bool:
        """Whether there is one reader, and the memory can be written."""
        return bool(values.flags.writeable) and self._counts.get(_memory(values)) == 1


def _memory(values: Values) -> int:
    """Tells arrays apart that do not share memory."""
    return id(values if values.base is None else values.base)
