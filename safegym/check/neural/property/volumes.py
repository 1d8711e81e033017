"""How much of a union of regions each part makes up."""

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from safegym.check.neural.problem import Region


def weights_of(regions: Sequence[Region]) -> tuple[float, ...]:
    """Each part's share of the sum of the boxes' volumes, over the sides that have a length.

    Parts that leave different sides free have no common volume and count alike.
    """
    sides = [
        [high - low for low, high in zip(part.low, part.high, strict=True)] for part in regions
    ]
    free = {tuple(side > 0 for side in part) for part in sides}
    if len(free) > 1:
        return tuple(1 / len(regions) for _ in regions)
    volumes = [prod((side for side in part if side), start=Fraction(1)) for part in sides]
    total = sum(volumes, Fraction(0))
    return tuple(float(volume / total) for volume in volumes)
