"""Pass rates in rows: `pass_rate`, with `pass_rate_passed` of `pass_rate_total` rollouts."""

from collections.abc import Mapping
from typing import Any

from safegym.errors import BlendError
from safegym.nemo.blend.places import Place
from safegym.nemo.rows.forms import fields_of, with_fields

PASS_RATE, PASSED, TOTAL = "pass_rate", "pass_rate_passed", "pass_rate_total"


def rate_of(row: Mapping[str, Any], place: Place, number: int) -> float | None:
    """The pass rate of a row in [0, 1], None without one. Raises BlendError for anything else."""
    found = fields_of(row).get(PASS_RATE)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= 1:
        raise BlendError(
            f"{place.text} line {number}: pass_rate is a share in [0, 1], found {found!r:.40}."
        )
    return abs(float(found))


def rated(row: Mapping[str, Any], passed: int, total: int) -> dict[str, Any]:
    """The row with its pass rate: observed, `passed` of `total` rollouts."""
    rate = {PASS_RATE: passed / total, PASSED: passed, TOTAL: total}
    return with_fields(row, {**fields_of(row), **rate})


class UnratedRows:
    """Counts rows without a pass rate, and refuses them unless they are wanted."""

    def __init__(self, place: Place, line_that_works: str) -> None:
        self.count = 0
        self._place, self._works = place, line_that_works
        self._first: list[int] = []

    def see(self, number: int) -> None:
        """Hear of one."""
        self.count += 1
        if len(self._first) < 5:
            self._first.append(number)

    def refuse(self) -> None:
        """Raises BlendError if there was one."""
        if self.count:
            lines = ", ".join(map(str, self._first)) + (", ..." if self.count > 5 else "")
            raise BlendError(
                f"{self._place.text}: {self.count} rows have no pass_rate (lines {lines}); make "
                f"them with `safegym blend passrate`, or {self._works}."
            )
