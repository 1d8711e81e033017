"""What stands around a network in deployment, step by step as it is done there."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.importing.imported import SpaceLimits
from safegym.errors import UnsupportedError

Float = Literal["float32", "float64"]
UNIT = 2.0**-24
"""Half the distance from 1 to the next binary32 number."""


@dataclass(frozen=True, slots=True, eq=False)
class Normaliser:
    """clip((x - mean) / divisor, -clip, clip) in binary64, then rounded to binary32; (n,) each."""

    mean: NDArray[np.float64]
    divisor: NDArray[np.float64]
    clip: float


def observed(builder: GraphBuilder, observation: SpaceLimits, normaliser: Normaliser | None) -> int:
    """The network's input: the observation in its space's float type, normalised, in binary32."""
    node = builder.input()
    if observation.dtype == "float32" or normaliser is None:
        node = builder.apply("cast", node, precision="float32")
    if normaliser is None:
        return node
    size = observation.low.size
    node = builder.linear([(node, np.eye(size))], -normaliser.mean, precision="float64")
    node = builder.divide(node, normaliser.divisor, precision="float64")
    node = builder.clip(node, -normaliser.clip, normaliser.clip)
    return builder.apply("cast", node, precision="float32")


def unscaled(builder: GraphBuilder, node: int, low: NDArray[Any], high: NDArray[Any]) -> int:
    """The action low + 0.5 (a + 1) (high - low), as numpy works it out for a in binary32.

    low, high (m,) in the action space's own type: with binary64 limits the last two steps are
    binary64. high - low is a constant of that type.
    """
    size = low.size
    with np.errstate(over="ignore"):
        span = np.asarray(high - low, np.float64)
    if not np.isfinite(span).all():
        raise UnsupportedError(
            "The action space is so wide that high - low overflows; use narrower limits."
        )
    precision: Float = "float32" if low.dtype == np.float32 else "float64"
    half = np.eye(size) * 0.5
    node = builder.linear([(node, half)], np.full(size, 0.5), precision="float32")
    width = np.diag(span)
    return builder.linear([(node, width)], np.asarray(low, np.float64), precision=precision)


def clipped(builder: GraphBuilder, node: int, action: SpaceLimits) -> int:
    """The action clipped to its Box; nothing where it has no limits."""
    if np.isinf(action.low).all() and np.isinf(action.high).all():
        return node
    return builder.clip(node, action.low, action.high)


def chosen_by_probability(builder: GraphBuilder, node: int) -> int:
    """Logits whose order stands for the order of the softmax worked out from them in binary32.

    Softmax keeps the order of real numbers, but not of rounded ones: two logits closer than
    some units in the last place may get equal probabilities, or change places. So each logit is
    loosened by what logsumexp, subtraction, exp (4 units in the last place) and division can
    do to it: (8 + log n) 2^-23 covers two values near the greatest one, and no other is chosen.
    The identity in real numbers.
    """
    size = builder.nodes[node].size
    return loosened(builder, node, (8.0 + np.log(size)) * 2.0 * UNIT)


def loosened(builder: GraphBuilder, node: int, amount: float) -> int:
    """The same values, to which the deployed program may add up to `amount` either way.

    Written as (v + c) - c in binary32 with c so great that its rounding is at least that.
    """
    size = builder.nodes[node].size
    great = 2.0 ** np.ceil(np.log2(2.0 * amount / UNIT))
    constant = builder.linear([(node, np.zeros((size, size)))], np.full(size, great))
    parts = [(node, np.eye(size)), (constant, np.eye(size))]
    return builder.linear(parts, np.full(size, -great), precision="float32")


def loosely_rounded(builder: GraphBuilder, node: int) -> int:
    """The same values, each times (1 + d) with |d| up to at least 5 units of binary32.

    Written as 5 v - 4 v in binary32; the identity in real numbers.
    """
    whole = np.eye(builder.nodes[node].size)
    return builder.linear([(node, 5.0 * whole), (node, -4.0 * whole)], precision="float32")
