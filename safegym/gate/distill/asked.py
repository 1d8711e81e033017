"""What a distillation is asked for, checked before anything runs."""

from typing import Any

from safegym.errors import UnsupportedError
from safegym.gate.distill.observed import CHOOSING

MOST = CHOOSING
"""Rounds above it would watch the starts by which the best student is chosen."""
LARGEST_SEED = 2**53 - 1
"""What canonical JSON holds exactly."""


def check_counts(**counts: Any) -> None:
    """Raises UnsupportedError for what is no whole number from 1 to `MOST`."""
    for what, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST:
            raise UnsupportedError(
                f"distil_teachers({what}={count!r}): give a whole number from 1 to {MOST}."
            )


def check_share(beta: Any) -> None:
    """Raises UnsupportedError for what is no number in [0, 1]."""
    real = isinstance(beta, int | float) and not isinstance(beta, bool)
    if not real or not 0.0 <= beta <= 1.0:
        raise UnsupportedError(
            f"distil_teachers(beta={beta!r}): give the teacher's share of a round's steps, in "
            "[0, 1]; 0 lets the student lead from the second round on."
        )


def check_seed(seed: Any) -> None:
    """Raises UnsupportedError for what is no whole number from 0 to `LARGEST_SEED`."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED:
        raise UnsupportedError(
            f"distil_teachers(seed={seed!r}): give a whole number from 0 to {LARGEST_SEED}."
        )
