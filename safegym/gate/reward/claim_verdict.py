"""A sparse term: paid once, when a claim is kept or broken for good."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from safegym.check.monitor import Outcome, judge
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.gate.reward.watched import Watched, check_claim, claim_issues
from safegym.scenario.reward import Meter, Row, Step, check_numbers, number_issues
from safegym.scenario.reward_terms import PlainMeter, PlainTerm
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import EndKind, EpisodeEnd, Trace


@dataclass(frozen=True, slots=True)
class ClaimVerdict(PlainTerm):
    """Pays `kept` or `broken`, once an episode, at the step where the verdict is settled.

    claim: one that a single episode can keep or break. Settled is what no later sample can change;
    what only the end decides is judged at the end: the environment's own, or the scenario's
    horizon, each as the language says (docs/reference/language.md). Nothing is paid for a verdict
    that sample 0 settled, before any action, nor where the episode is cut off before its horizon.
    A verdict about the past is no function of the present sample: a policy without memory may not
    be able to tell what it will be paid.
    """

    name: str
    claim: Claim
    kept: float = 0.0
    broken: float = -1.0

    def __post_init__(self) -> None:
        check_claim(self.name, self.claim)
        check_numbers(self.name, {"kept": self.kept, "broken": self.broken})

    @property
    def signals(self) -> Iterable[Signal]:
        """The signals that the claim reads."""
        return self.claim.signals

    def declared(self) -> list[Any]:
        """Kind, name, the claim's digest, and numbers."""
        numbers = [repr(float(self.kept)), repr(float(self.broken))]
        return ["claim verdict", self.name, self.claim.digest, *numbers]

    def issues(self, spec: ScenarioSpec) -> Iterator[str]:
        """A claim that one episode neither keeps nor breaks."""
        yield from number_issues(self.name, {"kept": self.kept, "broken": self.broken})
        yield from claim_issues(self.name, self.claim, spec)

    def meter(self, spec: ScenarioSpec, gamma: float) -> Meter:
        """The term at work."""
        return _Verdict(self, spec)


class _Verdict(PlainMeter):
    """Online until the end, then offline on the samples that the claim reads."""

    def __init__(self, term: ClaimVerdict, spec: ScenarioSpec) -> None:
        self._claim, self._spec = term.claim, spec
        self._amounts = {"satisfied": float(term.kept), "violated": float(term.broken)}
        self._watched = Watched(term.claim, spec, closes=True)
        self._samples: list[dict[str, Any]] = []
        self._settled = False

    def begin(self, row: Row) -> None:
        self._samples = [self._watched.sample(row)]
        self._settled = _status(self._watched.begin(row)) != "inconclusive"

    def pay(self, step: Step) -> float:
        if self._settled:
            return 0.0
        self._samples.append(self._watched.sample(step.row))
        status = _status(self._watched.update(step.row))
        if status == "inconclusive" and self._over(step):
            self._settled = True
            status = judge(self._claim, self._trace(step)).status
        self._settled = self._settled or status != "inconclusive"
        return self._amounts.get(status, 0.0)

    def _over(self, step: Step) -> bool:
        return step.terminated or len(self._samples) - 1 >= self._spec.horizon

    def _trace(self, step: Step) -> Trace:
        kind = cast("EndKind", step.ends) if step.terminated else "horizon"
        clock = self._spec.clock
        arrays = {
            name: np.concatenate([sample[name] for sample in self._samples])
            for name in self._samples[0]
        }
        return Trace.from_arrays(
            arrays,
            dt=clock.dt,
            start=clock.start,
            end=EpisodeEnd(kind, clock.time(len(self._samples) - 1), step.reason),
            horizon=self._spec.horizon,
        )


def _status(outcome: Outcome) -> str:
    if not outcome.may[0]:
        return "violated"
    return "satisfied" if outcome.must[0] else "inconclusive"
