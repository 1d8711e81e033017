"""Rows: linear functions that are not positive wherever a clause fails, and what they close.

A row is (coefficients, constant). At a point of the region that violates a clause every literal's
output is at most 0, so each linear lower bound of such an output is at most 0 there, and so is
every cut's `coefficients . x - bound`. A box on which some row, or some combination of rows with
weights that are not negative, is positive therefore holds no violation. All minima here are
rounded outward.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_UNIT = 2.0**-53
_TINY = 1e-300  # above any sum of underflow errors of a row


class Rows(NamedTuple):
    """Coefficients (B, K, n) and constants (B, K) of K rows on each of B boxes."""

    coefficients: Array
    constants: Array


def least(rows: Rows, low: Array, high: Array) -> Array:
    """A lower bound (B, K) of each row on its box [low, high], both (B, n)."""
    a, c = rows
    ends = np.maximum(a, 0.0) @ low[:, :, None] + np.minimum(a, 0.0) @ high[:, :, None]
    return _lowered(ends[:, :, 0] + c, magnitude(rows, low, high), a.shape[2])


def magnitude(rows: Rows, low: Array, high: Array) -> Array:
    """The sum (B, K) of the absolute values that a row can add up on its box."""
    reach = np.maximum(np.abs(low), np.abs(high))
    return (np.abs(rows.coefficients) @ reach[:, :, None])[:, :, 0] + np.abs(rows.constants)


def combine(rows: Rows, weights: Array, low: Array, high: Array) -> Array:
    """A lower bound (B,) of the sum of weights (B, K), none negative, times rows on each box."""
    a, c = rows
    count = a.shape[1]
    mixed = Rows(weights[:, None, :] @ a, np.sum(weights * c, axis=1, keepdims=True))
    total = np.sum(weights * magnitude(rows, low, high), axis=1)
    reach = np.maximum(np.abs(low), np.abs(high)).sum(axis=1)
    return _lowered(least(mixed, low, high)[:, 0], total + _TINY * reach, count)


def lightest_mix(rows: Rows, low: Array, high: Array, rounds: int = 6) -> Array:
    """Weights (B, K) adding up to about 1 whose combination has a high minimum on each box.

    Conditional gradient on the weights: mix in the row that is greatest where the combination is
    least. The weights are a guess; only `combine` says what they are worth.
    """
    a, c = rows
    batch, count, _ = a.shape
    every = np.arange(batch)
    weights = np.zeros((batch, count))
    weights[every, np.argmax(least(rows, low, high), axis=1)] = 1.0
    steps = np.array([0.0, 0.0625, 0.125, 0.25, 0.5, 0.75])
    for _ in range(rounds):
        mixed = (weights[:, None, :] @ a)[:, 0]
        corner = np.where(mixed > 0.0, low, high)
        values = (a @ corner[:, :, None])[:, :, 0] + c
        target = np.zeros_like(weights)
        target[every, np.argmax(values, axis=1)] = 1.0
        tried = (1.0 - steps)[:, None, None] * weights + steps[:, None, None] * target
        slopes = np.einsum("sbk,bkn->sbn", tried, a)
        worth = np.einsum("sbk,bk->sb", tried, c)
        worth += np.minimum(slopes * low, slopes * high).sum(axis=2)
        weights = tried[np.argmax(worth, axis=0), every]
    return weights


def _lowered(value: Array, total: Array, terms: int) -> Array:
    """Value less what rounding a sum of that many products of that total can have added."""
    return value - ((4 * terms + 16) * _UNIT * total + _TINY)
