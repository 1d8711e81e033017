"""Gusts: a bounded, smoothed random push from a stream of its own."""

from math import cos, pi, sin, sqrt

import numpy as np

from safegym.scenario.disturbance import Disturbance

HOLD = 5
SMOOTHING = 0.35
BLOCK = 64
LARGEST = 0.28
"""N: with this forward and left at once, a push stays within the largest that a seed draws."""
DISTURBANCES: tuple[Disturbance, ...] = (
    Disturbance(
        "gust_forward",
        "N",
        -LARGEST,
        LARGEST,
        10,
        0.0,
        "push along the corridor; gusts if not given",
    ),
    Disturbance(
        "gust_left", "N", -LARGEST, LARGEST, 10, 0.0, "push across the corridor; gusts if not given"
    ),
)


class Gusts:
    """Horizontal push in newtons, new every 0.1 s.

    Every 0.5 s a target is drawn uniformly from the disc of radius `peak`; the push follows it
    with a time constant of about 0.25 s. Each push is a convex mean of targets, so it never
    exceeds `peak`. Fully determined by `seed`, whatever the peak.
    """

    def __init__(self, seed: int, peak: float) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))
        self._peak = peak
        self._targets: list[list[float]] = []
        self._step = 0
        self._x = self._y = 0.0

    def reseed(self, seed: int) -> None:
        """Draw the targets still to come anew; the present one stays (for cloned episodes)."""
        self._generator = np.random.Generator(np.random.PCG64(seed))
        del self._targets[-(-self._step // HOLD) :]

    def next(self) -> tuple[float, float]:
        """The push (forward, left) over the next 0.1 s."""
        index, beat = divmod(self._step, HOLD)
        if index >= len(self._targets):
            self._targets.extend(self._generator.random((BLOCK, 2)).tolist())
        if beat == 0:
            share, turn = self._targets[index]
            size = self._peak * sqrt(share)
            self._target_x, self._target_y = (
                size * cos(2.0 * pi * turn),
                size * sin(2.0 * pi * turn),
            )
        self._step += 1
        self._x += SMOOTHING * (self._target_x - self._x)
        self._y += SMOOTHING * (self._target_y - self._y)
        return self._x, self._y
