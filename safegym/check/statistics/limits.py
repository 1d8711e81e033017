"""Anytime limits: the e-process family turned round, so that they agree with its decisions."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.check.statistics.exact import (
    Probability,
    count,
    episode_count,
    exact_probability,
    real_array,
)
from safegym.check.statistics.grid import RATIOS, above_mixture, below_mixture
from safegym.check.statistics.mixture import Mixture
from safegym.check.statistics.search import LARGEST, SMALLEST, least_float
from safegym.errors import EvidenceError

Floats = NDArray[np.float64]

_SLACK = 2.0**-45
_HALVINGS = 80


def upper_limit(
    violations: SupportsIndex,
    episodes: SupportsIndex,
    *,
    level: Probability,
    undecided: SupportsIndex = 0,
) -> float:
    """Upper limit on the failure probability p, valid at every peek with error at most `level`.

    The least binary64 number p0 for which `EProcess(p0, level)` has claimed p < p0 at these
    counts, exactly; 1.0 if there is none. Undecided episodes count as violations. Never 0.
    Raises EvidenceError for counts that do not fit or a level outside (0, 1).
    """
    failed, total = _counts(violations, undecided, episodes)
    goal = 1 / exact_probability(level, "level")
    safe = total - failed

    def claims(threshold: float) -> bool:
        return _fresh(below_mixture, threshold).reaches(failed, safe, goal)

    if safe == 0 or not claims(LARGEST):
        return 1.0
    guess = float(upper_limits([failed], [total], level=level)[0])
    return least_float(claims, min(guess, LARGEST))


def lower_limit(
    violations: SupportsIndex,
    episodes: SupportsIndex,
    *,
    level: Probability,
    undecided: SupportsIndex = 0,
) -> float:
    """Lower limit on the failure probability p, valid at every peek with error at most `level`.

    The greatest binary64 number p0 for which the mirror of `EProcess(p0, level)` claims p > p0 at
    these counts, exactly; 0.0 if there is none. Undecided episodes count as safe.
    Raises EvidenceError as `upper_limit` does.
    """
    failed = count(violations, "violations")
    _, total = _counts(violations, undecided, episodes)
    goal = 1 / exact_probability(level, "level")

    def silent(threshold: float) -> bool:
        return not _fresh(above_mixture, threshold).reaches(failed, total - failed, goal)

    if failed == 0 or silent(SMALLEST):
        return 0.0
    if not silent(LARGEST):
        return LARGEST
    guess = float(lower_limits([failed], [total], level=level)[0])
    return math.nextafter(least_float(silent, max(guess, SMALLEST)), 0.0)


def upper_limits(violations: ArrayLike, episodes: ArrayLike, *, level: Probability) -> Floats:
    """`upper_limit` for arrays (broadcast), from floats, never below the exact one.

    It lies above by less than 1e-9 of it. Undecided episodes must already be counted as violations.
    """
    failed, total, log_goal, shape = _arrays(violations, episodes, level)
    safe = total - failed
    low, high = np.full(failed.shape, -745.0), np.full(failed.shape, 37.0)
    ratios = np.array((0.0, *RATIOS))[:, None]
    weights = np.log(np.array([0.5] + [0.5 / len(RATIOS)] * len(RATIOS)))[:, None]
    on_violation = np.array([-1e30, *np.log(RATIOS)])[:, None] * failed
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        on_safe = np.log1p(-ratios * _expit(middle)) + _log1p_exp(middle)
        enough = log_goal + _SLACK * (64.0 + safe * _log1p_exp(middle) + failed)
        claims = _log_sum(weights + on_violation + on_safe * safe) >= enough
        low, high = np.where(claims, low, middle), np.where(claims, middle, high)
    limit = np.minimum(_expit(high) * (1.0 + 1e-12), 1.0)
    return np.where(safe > 0, limit, 1.0).reshape(shape)


def lower_limits(violations: ArrayLike, episodes: ArrayLike, *, level: Probability) -> Floats:
    """`lower_limit` for arrays (broadcast), from floats, never above the exact one.

    It lies below by less than 1e-9 of it. Undecided episodes must already be counted as safe.
    """
    failed, total, log_goal, shape = _arrays(violations, episodes, level)
    safe = total - failed
    low, high = np.full(failed.shape, -700.0), np.full(failed.shape, 37.0)
    ratios = np.array(RATIOS)[:, None]
    weight = -math.log(len(RATIOS))
    on_safe = np.log(ratios) * safe
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        p, q = _expit(middle), _expit(-middle)
        scale = np.log(p + ratios * q)
        enough = log_goal + _SLACK * (64.0 + 4.0 * total + 4.0 * failed)
        claims = _log_sum(weight + on_safe - scale * total) >= enough
        low, high = np.where(claims, middle, low), np.where(claims, high, middle)
    found = _expit(low) * (1.0 - 1e-12)
    return np.where((failed > 0) & (low > -700.0), found, 0.0).reshape(shape)


def _counts(
    violations: SupportsIndex, undecided: SupportsIndex, episodes: SupportsIndex
) -> tuple[int, int]:
    failed = count(violations, "violations") + count(undecided, "undecided")
    total = episode_count(episodes, "episodes")
    if failed > total:
        raise EvidenceError(f"{failed} violated or undecided episodes of {total}: more than all.")
    return failed, total


def _arrays(
    violations: ArrayLike, episodes: ArrayLike, level: Probability
) -> tuple[Floats, Floats, float, tuple[int, ...]]:
    counts = real_array(violations, "violations"), real_array(episodes, "episodes")
    try:
        failed, total = np.broadcast_arrays(*counts)
    except ValueError as error:
        raise EvidenceError(f"violations and episodes do not broadcast: {error}.") from error
    fits = (failed >= 0) & (failed <= total) & (failed == np.floor(failed))
    if not bool(np.all(fits & (total == np.floor(total)) & np.isfinite(total))):
        raise EvidenceError(
            "violations and episodes must be whole, with 0 <= violations <= episodes."
        )
    exact = exact_probability(level, "level")
    log_goal = math.log(exact.denominator) - math.log(exact.numerator)
    return failed.ravel(), total.ravel(), log_goal, failed.shape


def _fresh(make: Callable[[Fraction], Mixture], threshold: float) -> Mixture:
    """A mixture outside the shared cache, which a search would flush."""
    return make.__wrapped__(Fraction(threshold))  # type: ignore[attr-defined,no-any-return]  # lru_cache keeps it


def _expit(x: Floats) -> Floats:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)


def _log1p_exp(x: Floats) -> Floats:
    """log(1 + exp(x)) = -log(1 - p) for p = expit(x)."""
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def _log_sum(terms: Floats) -> Floats:
    top = terms.max(axis=0)
    total: Floats = top + np.log(np.exp(terms - top).sum(axis=0))
    return total
