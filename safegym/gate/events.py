"""What a gate tells whoever watches it: progress bars, live tables, tests."""

from collections.abc import Callable
from dataclasses import dataclass, field

from safegym.gate.counterexample import Counterexample
from safegym.gate.tally import Outcome
from safegym.verdict import Evidence


@dataclass(frozen=True, slots=True)
class EpisodeJudged:
    """One more episode of a screen or an attempt has entered the counts."""

    stage: str
    number: int
    cap: int
    violations: int
    undecided: int


@dataclass(frozen=True, slots=True)
class ScreenDone:
    """A screen ended. It makes no claim. label: the baseline that was screened, or "".

    margins: claim id -> lowest and mean margin of its episodes, in multiples of the claim's scale,
    over those that have one.
    """

    epoch: int
    passed: bool
    degraded: bool
    episodes: int
    violations: dict[str, int]
    label: str = ""
    margins: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])


@dataclass(frozen=True, slots=True)
class AttemptStarted:
    """A certification attempt began; `clean` episodes without violation would certify."""

    attempt: int
    policy_digest: str
    cap: int
    clean: int


@dataclass(frozen=True, slots=True)
class AttemptClosed:
    """A certification attempt ended."""

    attempt: int
    outcome: Outcome
    reasons: tuple[str, ...]
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class LogResumed:
    """The log was opened again. lost: what a crash tore off it, in words, or "". set_aside:
    records after the point that the run goes on from; what they tell of is done again.
    """

    lost: str
    set_aside: int


@dataclass(frozen=True, slots=True)
class SuiteDone:
    """The regression suite was run on a policy that passed its screen. It makes no claim.

    starts: how many it holds. failed: those whose claim the policy no longer satisfies.
    """

    epoch: int
    policy_digest: str
    starts: int
    failed: tuple[Counterexample, ...]

    @property
    def passed(self) -> bool:
        """Whether every start was passed."""
        return not self.failed


@dataclass(frozen=True, slots=True)
class BurstDone:
    """A falsification burst on a policy that passed its screen ended. It makes no claim.

    episodes: that the search took. finds: claim id -> counterexamples found.
    """

    epoch: int
    policy_digest: str
    episodes: int
    finds: dict[str, int]


GateEvent = (
    EpisodeJudged | ScreenDone | AttemptStarted | AttemptClosed | LogResumed | SuiteDone | BurstDone
)
Listener = Callable[[GateEvent], None]


def ignore(event: GateEvent) -> None:
    """Listen to nothing."""
