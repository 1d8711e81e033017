"""Layers of a network policy, and their work in binary32 in one fixed order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.errors import PolicyError

Single = NDArray[np.float32]
Activation = Literal["identity", "relu", "leaky_relu", "tanh", "sigmoid"]
ACTIVATIONS: tuple[str, ...] = get_args(Activation)
MAX_WIDTH = 1 << 16
"""Widest layer that is taken."""
_PRODUCTS = 1 << 21
"""Most products that are held at once: 8 MiB."""


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """activation(weight @ x + bias), in binary32.

    weight (m, n), bias (m,); both copied and read-only. slope: of leaky_relu below 0, rounded to
    binary32. Raises PolicyError for shapes that do not fit and values that are not finite.
    """

    weight: Single
    bias: Single
    activation: Activation = "identity"
    slope: float = 0.01

    def __post_init__(self) -> None:
        weight, bias = _frozen(self.weight, "weight"), _frozen(self.bias, "bias")
        if weight.ndim != 2 or bias.shape != weight.shape[:1] or 0 in weight.shape:
            raise PolicyError(
                f"A layer's weight has shape {weight.shape} and its bias {bias.shape}; "
                "(m, n) and (m,) are needed."
            )
        if max(weight.shape) > MAX_WIDTH:
            raise PolicyError(f"A layer is {max(weight.shape)} wide; {MAX_WIDTH} is the most.")
        if self.activation not in ACTIVATIONS:
            raise PolicyError(
                f"Activation {self.activation!r} is not known; use {', '.join(ACTIVATIONS)}."
            )
        slope = float(np.float32(self.slope))
        if not np.isfinite(slope):
            raise PolicyError(f"A layer's slope is {self.slope}; a finite number was expected.")
        for name, value in (("weight", weight), ("bias", bias), ("slope", slope)):
            object.__setattr__(self, name, value)

    def __call__(self, rows: Single) -> Single:
        """The layer's values (B, m) at rows (B, n). No row's bits depend on another row."""
        sums = affine(rows, self.weight, self.bias)
        return activate(sums, self.activation, self.slope)


def check_chain(layers: Sequence[Layer], inputs: int) -> None:
    """Raises PolicyError unless each layer takes what the one before it gives."""
    if not layers:
        raise PolicyError("A network policy needs at least one layer.")
    width = inputs
    for number, layer in enumerate(layers):
        if layer.weight.shape[1] != width:
            raise PolicyError(
                f"Layer {number} takes {layer.weight.shape[1]} numbers, but it is given {width}."
            )
        width = len(layer.weight)


def affine(rows: Single, weight: Single, bias: Single) -> Single:
    """Rows @ weight.T + bias, each sum halved again and again in one order, on any machine."""
    step = max(1, _PRODUCTS // weight.size)
    parts = [_sums(rows[at : at + step], weight) for at in range(0, len(rows), step)]
    sums = parts[0] if len(parts) == 1 else np.concatenate([_none(weight), *parts])
    total: Single = sums + bias
    return total


def activate(values: Single, activation: Activation, slope: float) -> Single:
    """Tanh and sigmoid are worked out in binary64 and rounded once."""
    if activation == "relu":
        return np.maximum(values, np.float32(0.0))
    if activation == "leaky_relu":
        return np.where(values > 0, values, values * np.float32(slope))
    if activation == "tanh":
        return np.tanh(values.astype(np.float64)).astype(np.float32)
    if activation == "sigmoid":
        below = 1.0 + np.exp(-np.maximum(values.astype(np.float64), -700.0))
        return (1.0 / below).astype(np.float32)
    return values


def _sums(rows: Single, weight: Single) -> Single:
    products = rows[:, None, :] * weight[None]
    while products.shape[2] > 1:
        half = products.shape[2] // 2
        added = products[:, :, :half] + products[:, :, half : 2 * half]
        if products.shape[2] % 2:
            added[:, :, 0] += products[:, :, -1]
        products = added
    return products[:, :, 0]


def _none(weight: Single) -> Single:
    return np.zeros((0, len(weight)), np.float32)


def _frozen(values: ArrayLike, what: str) -> Any:
    array = np.array(values, dtype=np.float32)
    if not np.isfinite(array).all():
        raise PolicyError(
            f"A layer's {what} has values that are not finite in binary32; use an earlier "
            "checkpoint."
        )
    array.flags.writeable = False
    return array
