"""How a budget of episodes is shared between methods and shrinking."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from numbers import Real

from safegym.errors import ScenarioError

BASELINES = ("corners", "random")
GUIDED = ("cma", "annealing", "gradient")
WEIGHTS = {"corners": 0.3, "random": 0.15, "cma": 0.35, "annealing": 0.05, "gradient": 0.15}
"""Share of the searching episodes; those of a method that does not run go to the others."""
SHRINKING = 0.35
"""Share of the whole budget that shrinking and confirming may take."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Episodes: kept back for shrinking and confirming, and by method in the order they run."""

    kept_back: int
    by_method: Mapping[str, int]


def shares(budget: int, methods: Sequence[str], shrinking: float = SHRINKING) -> Shares:
    """Split a budget: the methods' parts and what is kept back add up to it exactly.

    Parts are rounded in favour of the earlier method, so that the baselines are never left out.
    """
    spared = kept_back(budget, shrinking)
    searching = budget - spared
    total = sum(WEIGHTS[name] for name in methods)
    parts: dict[str, int] = {}
    before, weight = 0, 0.0
    for name in methods:
        weight += WEIGHTS[name]
        upto = min(searching, ceil(searching * weight / total - 1e-9))
        parts[name], before = upto - before, upto
    if methods:
        parts[methods[-1]] += searching - before
    return Shares(spared, parts)


def kept_back(budget: int, shrinking: float) -> int:
    """Episodes that shrinking and confirming may take: at least one, to confirm."""
    return min(budget - 1, max(1, floor(shrinking * budget)))


def checked_budget(budget: object) -> int:
    """A budget in episodes. Raises ScenarioError unless it is a whole number >= 1."""
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise ScenarioError(
            f"A search needs a budget of at least 1 episode, found {budget!r}; for example "
            "falsify(scenario, policy, claim, budget=300)."
        )
    return budget


def checked_guided(guided: Sequence[str]) -> tuple[str, ...]:
    """Guided methods to run after the baselines. Raises ScenarioError for an unknown one."""
    if isinstance(guided, str):
        raise ScenarioError(f'guided={guided!r} is text; write a tuple: guided=("{guided}",).')
    for name in guided:
        if name not in GUIDED:
            raise ScenarioError(
                f"There is no guided method {name!r}; choose from {', '.join(GUIDED)}. Corners and "
                "random search always run first."
            )
    return tuple(name for name in GUIDED if name in guided)


def checked_share(share: float) -> float:
    """The share for shrinking. Raises ScenarioError unless it lies in [0, 0.9]."""
    if isinstance(share, bool) or not isinstance(share, Real) or not 0.0 <= share <= 0.9:
        raise ScenarioError(
            f"The share of the budget for shrinking is {share!r}; give a number in [0, 0.9]."
        )
    return float(share)
