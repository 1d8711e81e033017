"""Which claims an open episode may have violated in its newest steps, told without judging it."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any

import numpy as np

from safegym.check.monitor.readings import Readings
from safegym.formula.claim import Claim
from safegym.gate.penalty import Penaliser, PenaltySettings
from safegym.gate.trainer.signs import Samples, Sign
from safegym.scenario.spec import ScenarioSpec

Row = tuple[Any, ...]
"""What a scenario's reader returns for one sample, in the layout's order."""
Newest = tuple[int, Sequence[Row]]
"""Steps of an open episode so far, and its newest samples; none where the reader gives none."""

Suspected = frozenset[str] | None
"""Claims to judge an open episode by; None where its samples are not all finite numbers."""
_NONE: frozenset[str] = frozenset()


class Suspicion:
    """Looks at the newest samples of open episodes; which claims to judge them by.

    A claim that is left out has no penalised violation that settles there. Those without a weight
    are left out, and those that only the end can violate.
    """

    def __init__(
        self, spec: ScenarioSpec, claims: Sequence[Claim], settings: PenaltySettings
    ) -> None:
        penaliser = Penaliser(claims, spec.clock, spec.horizon, settings)
        self._names = tuple(spec.layout)
        self._scalars = not any(spec.layout.values())
        self._signs = {
            claim.id: Sign.of(claim, spec)
            for claim in penaliser.claims
            if not settings.idle
            and not penaliser.waits(claim.id)
            and max(settings.weight_of(claim.id), settings.weight_of(claim.id, at_end=True)) > 0.0
        }

    def suspects(self, newest: Sequence[Newest]) -> list[Suspected]:
        """The claims to judge each episode by.

        An episode whose samples are not there, though it has steps, is judged by all claims.
        """
        rows = [row for _, own in newest for row in own]
        samples = self._samples(rows) if rows else {}
        if samples is None:
            return [None] * len(newest)
        readings, ends = Readings(samples), list(accumulate(len(own) for _, own in newest))
        found = [frozenset(self._signs) if last and not own else _NONE for last, own in newest]
        latest = max((last for last, _ in newest), default=0)
        for name, sign in self._signs.items():
            if rows and sign.first <= latest:
                for place in sign.places(readings, len(rows)):
                    owner = bisect_right(ends, place)
                    step = newest[owner][0] + 1 - (ends[owner] - place)
                    if sign.first <= step <= sign.last:
                        found[owner] |= {name}
        return list(found)

    def _samples(self, rows: Sequence[Row]) -> Samples | None:
        """All samples by signal; None if a number among them is not finite, or is none."""
        try:
            if self._scalars:
                numbers = chain.from_iterable(rows)
                flat = np.fromiter(numbers, np.float64, len(rows) * len(self._names))
                columns = list(flat.reshape(len(rows), len(self._names)).T)
                finite = bool(np.isfinite(flat).all())
            else:
                columns = [np.array(c, dtype=np.float64) for c in zip(*rows, strict=True)]
                finite = all(np.isfinite(column).all() for column in columns)
        except (TypeError, ValueError):
            return None
        if not finite:
            return None
        return dict(zip(self._names, columns, strict=True))
