"""A tensor of an ONNX model while it is read: constant, or entries of a graph's node."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.importing.surround import Float
from safegym.errors import UnsupportedError

MAX_ENTRIES = 4096
"""Most entries of a tensor that work is done on: they become rows and columns of matrices."""
Constant = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """`index` has the tensor's shape, and says which entry of the node each one is."""

    node: int
    index: NDArray[np.int64]
    precision: Float

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        return self.index.shape

    def moved(self, change: Callable[[Any], Any]) -> "Tensor":
        """With its entries in other places; no work is done."""
        return Tensor(self.node, np.asarray(change(self.index)), self.precision)

    def placed(self, builder: GraphBuilder) -> int:
        """A node with exactly this tensor's entries, in order."""
        bounded(self.shape, "The model")
        entries = self.index.reshape(-1)
        if np.array_equal(entries, np.arange(builder.nodes[self.node].size)):
            return self.node
        return builder.select(self.node, entries.tolist())


Value = Tensor | Constant


def whole(node: int, shape: Sequence[int], precision: Float) -> Tensor:
    """A node as a tensor of that shape."""
    count = int(np.prod(shape, dtype=np.int64))
    return Tensor(node, np.arange(count).reshape(tuple(shape)), precision)


def bounded(shape: Sequence[int], where: str) -> tuple[int, ...]:
    """The shape itself. Raises UnsupportedError where it holds more entries than are read."""
    count = float(np.prod(shape, dtype=np.float64))
    if count > MAX_ENTRIES:
        raise UnsupportedError(
            f"{where} has a tensor of {count:.0f} entries; {MAX_ENTRIES} are read."
        )
    return tuple(shape)


def joined(builder: GraphBuilder, values: Sequence[Value], axis: int) -> Value:
    """Tensors one after the other along an axis."""
    if all(not isinstance(value, Tensor) for value in values):
        return np.concatenate([np.asarray(value) for value in values], axis=axis)
    for value in values:
        bounded(value.shape, "The model")
    precision: Float = next(value.precision for value in values if isinstance(value, Tensor))
    anchor = next(value.node for value in values if isinstance(value, Tensor))
    nodes = [
        value.placed(builder)
        if isinstance(value, Tensor)
        else constant(builder, value.reshape(-1), anchor)
        for value in values
    ]
    offset, parts = 0, list[NDArray[np.int64]]()
    for value in values:
        count = int(np.prod(value.shape, dtype=np.int64))
        parts.append(np.arange(offset, offset + count).reshape(value.shape))
        offset += count
    return Tensor(builder.stack(nodes), np.concatenate(parts, axis=axis), precision)


def constant(builder: GraphBuilder, values: NDArray[Any], anchor: int) -> int:
    """A node that is these values at every input; anchor: any earlier node."""
    return builder.linear([(anchor, np.zeros((values.size, builder.nodes[anchor].size)))], values)
