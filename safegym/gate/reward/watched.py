"""A claim's episode property, followed sample by sample, from rows of a scenario's signals."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from safegym.check.monitor import Monitor, Outcome
from safegym.errors import FormulaError, ScenarioError
from safegym.formula.claim import Claim
from safegym.formula.rewrite import to_steps
from safegym.scenario.reward import Row
from safegym.scenario.spec import ScenarioSpec


class Watched:
    """The online monitor of one claim on one environment.

    It tells the offline answer at every step; see `safegym.check.monitor.Monitor`. closes: whether
    the scenario's horizon ends the episode, so that what is still open there is decided.
    """

    def __init__(self, claim: Claim, spec: ScenarioSpec, *, closes: bool) -> None:
        wanted = {signal.name for signal in claim.signals}
        self._places = tuple(
            (signal.name, place)
            for place, signal in enumerate(spec.signals)
            if signal.name in wanted
        )
        horizon = spec.horizon if closes else None
        monitor = Monitor(claim, spec.clock.dt, batch=1, horizon=horizon)
        if not monitor.tight:
            monitor = Monitor(claim, spec.clock.dt, batch=1, horizon=horizon, exact=True)
        self._monitor = monitor

    def begin(self, row: Row) -> Outcome:
        """A new episode: what its sample 0 says."""
        self._monitor.reset()
        return self.update(row)

    def update(self, row: Row) -> Outcome:
        """What the samples so far say, taken as an interrupted episode."""
        return self._monitor.update(self.sample(row)).episode

    def sample(self, row: Row) -> dict[str, Any]:
        """The claim's signals at one sample, as a batch of one."""
        return {
            name: np.asarray(row[place], dtype=np.float64)[None] for name, place in self._places
        }


def check_claim(name: str, claim: object) -> None:
    """Raises ScenarioError for what is no claim."""
    if not isinstance(claim, Claim):
        raise ScenarioError(
            f"Term {name} has the claim {claim!r:.60}; write Claim(id=..., statement=...)."
        )


def claim_issues(name: str, claim: Claim, spec: ScenarioSpec) -> Iterator[str]:
    """A sentence where one episode cannot keep or break the claim on the scenario's clock."""
    try:
        to_steps(claim.property, spec.clock.dt, rounding=claim.rounding)
    except FormulaError as error:
        yield f"Term {name} cannot follow its claim: {error}"
