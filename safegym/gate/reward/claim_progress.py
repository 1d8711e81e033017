"""Potential-based shaping from the robustness of the episode so far."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from safegym.check.monitor import Outcome
from safegym.errors import FormulaError
from safegym.formula.claim import Claim
from safegym.formula.reading import margin_scale
from safegym.formula.terms import Signal
from safegym.gate.reward.watched import Watched, check_claim, claim_issues
from safegym.scenario.reward import Meter, Row, Step, check_numbers, number_issues
from safegym.scenario.reward_potential import cap_issues
from safegym.scenario.reward_terms import PlainTerm
from safegym.scenario.spec import ScenarioSpec


@dataclass(frozen=True, slots=True)
class ClaimProgress(PlainTerm):
    """Pays gamma * phi(after) - phi(before); phi is the middle of what the claim can still come to.

    The samples so far leave the claim's robustness in an interval [lo, hi]; phi is weight times
    the middle of that interval after both limits are clipped to [-cap, cap]. So phi falls as a
    margin is used up, and rises as a goal comes nearer than ever before. phi is 0 where the
    environment has ended the episode; a horizon closes nothing, since the learner goes on from
    there in its values. It looks at the past, so its theorem is that of an MDP whose
    state is the history: no optimal policy changes, but a value network that sees one sample
    cannot learn it exactly. For one that it can see, take `Potential` on a formula of the present.
    cap: above 0, in multiples of scale.
    """

    name: str
    claim: Claim
    weight: float = 1.0
    cap: float = 1.0

    def __post_init__(self) -> None:
        check_claim(self.name, self.claim)
        check_numbers(self.name, {"weight": self.weight, "cap": self.cap})

    @property
    def shaping(self) -> bool:
        """It is a potential difference."""
        return True

    @property
    def signals(self) -> Iterable[Signal]:
        """The signals that the claim reads."""
        return self.claim.signals

    def declared(self) -> list[Any]:
        """Kind, name, the claim's digest, and numbers."""
        numbers = [repr(float(self.weight)), repr(float(self.cap))]
        return ["claim progress", self.name, self.claim.digest, *numbers]

    def issues(self, spec: ScenarioSpec) -> Iterator[str]:
        """A claim without margins, or a cap that leaves nothing."""
        yield from number_issues(self.name, {"weight": self.weight, "cap": self.cap})
        yield from cap_issues(self.name, self.cap)
        found = list(claim_issues(self.name, self.claim, spec))
        yield from found or _margin_issues(self.name, self.claim)

    def meter(self, spec: ScenarioSpec, gamma: float) -> Meter:
        """The term at work."""
        return _Progress(
            Watched(self.claim, spec, closes=False), float(self.weight), float(self.cap), gamma
        )


@dataclass(slots=True)
class _Progress:
    watched: Watched
    weight: float
    cap: float
    gamma: float
    last: float = 0.0

    def begin(self, row: Row) -> None:
        self.last = self._phi(self.watched.begin(row))

    def pay(self, step: Step) -> float:
        before = self.last
        self.last = 0.0 if step.terminated else self._phi(self.watched.update(step.row))
        return self.gamma * self.last - before

    def at_terminal(self) -> float:
        return -self.gamma * self.last

    def _phi(self, outcome: Outcome) -> float:
        if outcome.lo is None or outcome.hi is None:
            raise FormulaError("The claim has no margins.")
        low, high = (
            max(-self.cap, min(self.cap, float(end[0]))) for end in (outcome.lo, outcome.hi)
        )
        return self.weight * 0.5 * (low + high)


def _margin_issues(name: str, claim: Claim) -> Iterator[str]:
    scale = margin_scale(claim.property)
    if not scale.ok:
        yield f"Term {name} has no margin: {scale.reason}"
