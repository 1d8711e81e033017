"""Which seeds decide an episode."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from safegym.errors import ScenarioError


def starting_seed(
    seed: int | None, generator: np.random.Generator, options: Mapping[str, Any] | None
) -> tuple[int, int]:
    """(seed of the parameters, seed of start and disturbances).

    The first is the reset's, or drawn from `generator` where it gives none; the second is
    `options["disturbance_seed"]`, or the first. Raises ScenarioError unless that is a whole
    number >= 0.
    """
    base = int(generator.integers(2**48)) if seed is None else int(seed)
    asked = (options or {}).get("disturbance_seed")
    if asked is None:
        return base, base
    if isinstance(asked, bool) or not isinstance(asked, int | np.integer) or asked < 0:
        raise ScenarioError(
            f"disturbance_seed must be a whole number >= 0, found {asked!r}; "
            'for example reset(options={"disturbance_seed": 7}).'
        )
    return base, int(asked)
