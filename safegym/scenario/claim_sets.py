"""Ready claim sets of installed packs, found through the entry points `safegym.claims`."""

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from safegym.errors import ScenarioError
from safegym.formula.claim import Claim

GROUP = "safegym.claims"


def claim_sets() -> dict[str, tuple[Claim, ...]]:
    """Name of the set -> its claims at their default thresholds, sorted by name.

    Raises ScenarioError naming a pack that does not load, or offers no claim sets.
    """
    found: dict[str, tuple[Claim, ...]] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        try:
            makers: Any = point.load()
        except Exception as error:
            raise ScenarioError(
                f"Claim pack {point.name!r} ({point.value}) does not load: {error}"
            ) from error
        if not isinstance(makers, Mapping):
            raise ScenarioError(
                f"Claim pack {point.name!r} ({point.value}) must map names to functions."
            )
        found.update({str(name): tuple(make()) for name, make in makers.items()})
    return dict(sorted(found.items()))
