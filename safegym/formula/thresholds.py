"""What bounds over episodes share: their threshold, and the refusal of a truth value."""

from collections.abc import Sequence
from typing import NoReturn, get_args

from safegym.errors import FormulaError
from safegym.formula.checks import finite
from safegym.formula.nodes import Comparison


def no_truth(text: str) -> NoReturn:
    """Refuses `if bound`, `a < prob(f) < b`, `bound and bound`."""
    raise TypeError(
        f"`{text}` has no truth value in Python. State one bound at a time, each in a claim of its "
        "own: `prob(f) >= 0.9`, `prob(f) < 0.99`."
    )


def share_of_episodes(value: object, what: str, hint: str = "") -> float:
    """Returns a float strictly between 0 and 1. Raises FormulaError or TypeError naming `what`."""
    found = finite(value, what)
    if not 0 < found < 1:
        raise FormulaError(f"{what} must lie strictly between 0 and 1, found {found!r}{hint}.")
    return found


def threshold_of(value: object, comparison: object, what: str) -> float:
    """Returns a threshold strictly in (0, 1). Raises FormulaError or TypeError naming `what`."""
    check_comparison(comparison, what, get_args(Comparison))
    return share_of_episodes(
        value,
        f"The threshold of {what}",
        "; for 'always' or 'never' over all episodes state the bare formula",
    )


def check_comparison(comparison: object, what: str, allowed: Sequence[str]) -> None:
    """Raises FormulaError unless the comparison is one of the allowed."""
    if comparison not in allowed:
        raise FormulaError(f"{what} is compared by {' '.join(allowed)}, found {comparison!r:.20}.")
