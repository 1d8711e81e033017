"""A law to draw inputs from: at times the declared one, else betas that lean to failures."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
SHARPEST = 500.0
"""Largest parameter of a beta: its standard deviation is then about 0.02."""
FLATTEST = 0.5
PRIOR = 2.0
_NEWTON = 30
_TINY = 2.0**-53


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """alpha times uniform on [0, 1]^d plus (1 - alpha) times a product of betas.

    a, b: shape (d,). The weight of a point, uniform density over this one, is at most 1/alpha:
    that is the proven bound. All ones is the declared law itself. Such a proposal is known as
    a defensive mixture.
    """

    a: Floats
    b: Floats
    alpha: float

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Independent points, shape (count, d), strictly inside the cube."""
        leaning = generator.beta(self.a, self.b, (count, len(self.a)))
        plain = generator.random((count, len(self.a)))
        nominal = generator.random(count) < self.alpha
        return np.clip(np.where(nominal[:, None], plain, leaning), _TINY, 1.0 - _TINY)

    def weights(self, points: Floats) -> Floats:
        """Declared density over the proposal's, shape (count,): in (0, 1/alpha]."""
        logs = (
            special.xlogy(self.a - 1.0, points)
            + special.xlog1py(self.b - 1.0, -points)
            - special.betaln(self.a, self.b)
        ).sum(axis=1)
        with np.errstate(over="ignore"):
            found: Floats = 1.0 / (self.alpha + (1.0 - self.alpha) * np.exp(logs))
        return found


def nominal(dimension: int, alpha: float) -> Proposal:
    """The declared law."""
    return Proposal(np.ones(dimension), np.ones(dimension), alpha)


def fitted(points: Floats, weights: Floats, alpha: float, before: Proposal) -> Proposal:
    """The product of betas of largest weighted likelihood: the cross-entropy step.

    points: (n, d), weights: (n,), not all 0. Each coordinate on its own: the weighted means of
    log u and log(1 - u) fix (a, b), by Newton's method; parameters are kept within [0.5, 500]. A
    coordinate that does not settle keeps the `before` ones. Few effective points tell little in
    many coordinates, so the means are drawn towards uniform's, both -1, as if 2 points more had
    been drawn from it.
    This is the cross-entropy method (Rubinstein and Kroese 2004).
    """
    share = weights / weights.sum()
    pull = PRIOR / (PRIOR + 1.0 / float(share @ share))
    log_up = (1.0 - pull) * (share @ np.log(points)) - pull
    log_down = (1.0 - pull) * (share @ np.log1p(-points)) - pull
    pairs = [
        _maximum(float(up), float(down)) or (float(a), float(b))
        for up, down, a, b in zip(log_up, log_down, before.a, before.b, strict=True)
    ]
    a, b = np.array(pairs).T
    return Proposal(np.clip(a, FLATTEST, SHARPEST), np.clip(b, FLATTEST, SHARPEST), alpha)


def _maximum(log_up: float, log_down: float) -> tuple[float, float] | None:
    """(a, b) with psi(a) - psi(a+b) = E log u and psi(b) - psi(a+b) = E log(1-u), or None."""
    up, down = np.exp(log_up), np.exp(log_down)
    room = 1.0 - up - down
    if not room > 1e-12:  # all points nearly alike: as sharp as is allowed
        return SHARPEST * up / (up + down), SHARPEST * down / (up + down)
    a, b = 0.5 + up / (2.0 * room), 0.5 + down / (2.0 * room)
    for _ in range(_NEWTON):
        total = special.digamma(a + b)
        one = special.digamma(a) - total - log_up
        two = special.digamma(b) - total - log_down
        both = special.polygamma(1, a + b)
        aa, bb = special.polygamma(1, a) - both, special.polygamma(1, b) - both
        det = aa * bb - both * both
        step_a, step_b = (bb * one + both * two) / det, (aa * two + both * one) / det
        a, b = max(a / 4.0, a - step_a), max(b / 4.0, b - step_b)
        if abs(step_a) <= 1e-9 * a and abs(step_b) <= 1e-9 * b:
            return float(a), float(b)
    return None
