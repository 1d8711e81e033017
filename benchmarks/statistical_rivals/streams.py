"""One stream of outcomes of a fork, recorded and judged, and what each rule concludes from it."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from safegym_scenarios.chain_fork import fork

from safegym.check.monitor import judge
from safegym.check.statistics import EProcess, lower_limit, upper_limit
from safegym.scenario.campaign import Campaign

THRESHOLD = 0.01
LEVEL = 0.05
Outcomes = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Concluded:
    """claims: whether p < .01 was claimed. misses: whether a limit given with it excludes p."""

    claims: bool
    misses: bool
    episodes: int
    zero: bool = False


def outcomes(
    failure: str, lengths: tuple[int, int], copies: int, seed: int, episodes: int
) -> Outcomes:
    """Whether each episode failed, in index order."""
    spec = fork("benchmark/fork-v0", (failure,), lengths)
    claim, policy = spec.claims[0], spec.good()  # type: ignore[misc]  # a fork has one
    with Campaign(
        spec,
        policy,
        seed_of=lambda i: (seed << 32) + i,
        tail=0,
        copies=copies,
        episodes=episodes,
    ) as campaign:
        return np.array([judge(claim, trace).status == "violated" for _, trace in campaign])


def e_process(found: Outcomes, p: float) -> Concluded:
    """Ours, looked at after every episode."""
    process = EProcess(THRESHOLD, LEVEL)
    process.update_each("violated" if failed else "safe" for failed in found.tolist())
    n, k = process.episodes, process.violations
    missed = upper_limit(k, n, level=LEVEL) < p or lower_limit(k, n, level=LEVEL) > p
    return Concluded(process.decision == "below", missed, n)


def fixed_clopper_pearson(found: Outcomes, p: float, n: int) -> Concluded:
    """The one-sided 95 % upper limit, read once at an n that was fixed before."""
    k = int(found[:n].sum())
    return Concluded(n >= needed(k), limit(k, n) < p, n)


def peeked_clopper_pearson(found: Outcomes, p: float) -> Concluded:
    """The same limit, read after every episode until it says what is hoped for."""
    k = 0
    for n, failed in enumerate(found.tolist(), start=1):
        k += failed
        if n >= needed(k):
            return Concluded(True, limit(k, n) < p, n)
    return Concluded(False, limit(k, len(found)) < p, len(found))


@cache
def needed(k: int) -> int:
    """Least n at which k failures give an upper limit below .01."""
    from scipy.stats import binom

    low, high = k, 64
    while binom.cdf(k, high, THRESHOLD) > LEVEL:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if binom.cdf(k, middle, THRESHOLD) > LEVEL else (low, middle)
    return high


def limit(k: int, n: int) -> float:
    """One-sided 95 % upper limit of Clopper and Pearson."""
    from scipy.stats import beta

    return 1.0 if k >= n else float(beta.ppf(1 - LEVEL, k + 1, n - k))
