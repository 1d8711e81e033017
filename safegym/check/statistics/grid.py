"""The fixed grid of alternatives against the boundary p = p0, and the two mixtures made from it."""

from fractions import Fraction
from functools import lru_cache

from safegym.check.statistics.mixture import Mixture

RATIOS: tuple[float, ...] = (
    0.03125,
    0.04241525340837145,
    0.057569719094283704,
    0.07813869516904971,
    0.10605672181103147,
    0.14394952740083378,
    0.19538098184709357,
    0.26518828339906864,
    0.35993690372168063,
    0.48853807943614974,
    0.6630869260455485,
    0.9,
)
"""q/p0 at 12 log-spaced points from 1/32 to 0.9: (1/32) * 28.8**(j/11), nearest binary64 numbers.

The numbers themselves are the definition; each stands for its exact binary64 value.
"""

EXACT_RATIOS: tuple[Fraction, ...] = tuple(Fraction(ratio) for ratio in RATIOS)


@lru_cache(maxsize=256)
def below_mixture(threshold: Fraction) -> Mixture:
    """Evidence for p < p0: half the weight on q = 0, the rest even on q = ratio * p0.

    Factors q/p0 on a violation, (1-q)/(1-p0) on a safe episode; their mean is 1 at p = p0 and
    falls as p rises, so the null is every p >= p0. E rises with p0, falls with violations.
    """
    few = Fraction(1, 2 * len(EXACT_RATIOS))
    ratios = (Fraction(0), *EXACT_RATIOS)
    return Mixture(
        weights=(Fraction(1, 2), *(few for _ in EXACT_RATIOS)),
        on_violation=ratios,
        on_safe=tuple((1 - ratio * threshold) / (1 - threshold) for ratio in ratios),
    )


@lru_cache(maxsize=256)
def above_mixture(threshold: Fraction) -> Mixture:
    """Evidence for p > p0 (the mirror): even weights on q with odds(q) = odds(p0) / ratio.

    The 12 points lie in (p0, 1): from the odds of p0 over 0.9 up to 32 times the odds of p0. The
    mean of each factor is 1 at p = p0 and rises with p, so the null is every p <= p0. E falls as
    p0 rises. There is no mass on q = 1: it would only serve policies that always fail.
    """
    scales = tuple(threshold + ratio * (1 - threshold) for ratio in EXACT_RATIOS)
    return Mixture(
        weights=tuple(Fraction(1, len(EXACT_RATIOS)) for _ in EXACT_RATIOS),
        on_violation=tuple(1 / scale for scale in scales),
        on_safe=tuple(ratio / scale for ratio, scale in zip(EXACT_RATIOS, scales, strict=True)),
    )
