"""Drawing the seed of a scenario's disturbances at reset, with a caller's override."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from safegym.errors import ScenarioError


def draw_disturbance_seed(generator: np.random.Generator, options: Mapping[str, Any] | None) -> int:
    """Seed of the disturbance stream, below 2**48: drawn, or `options["disturbance_seed"]`.

    Raises ScenarioError unless it is a whole number >= 0.
    """
    drawn = int(generator.integers(2**48))
    if not options or options.get("disturbance_seed") is None:
        return drawn
    asked = options["disturbance_seed"]
    if isinstance(asked, bool) or not isinstance(asked, int | np.integer) or asked < 0:
        raise ScenarioError(
            f"disturbance_seed must be a whole number >= 0, found {asked!r}; "
            'for example reset(options={"disturbance_seed": 7}).'
        )
    return int(asked)
