"""What a report tells: a run's log, read into plain values. No judgement is made here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from safegym.audit.waivers import Waiver
from safegym.formula.claim import Claim, ConditionalBound, MeanBound, QuantileBound
from safegym.verdict import Status

Side = Literal["upper", "lower"]


@dataclass(frozen=True, slots=True)
class Promised:
    """A registered claim and what the gate's plan makes of it.

    statement: text of the claim's statement. claim: read back and checked, None if the log holds
    its text alone. invariant: observed only. threshold: as the claim states it, None for an
    invariant. level: error level before spending. needs: episodes that a first attempt takes.
    """

    id: str
    digest: str
    text: str
    statement: str
    claim: Claim | None
    invariant: bool
    threshold: float | None
    level: float | None
    lifted: bool
    needs: str

    @property
    def side(self) -> Side:
        """Whether the claim bounds what it is about from above ("upper") or below."""
        return "upper" if self.comparison in ("<", "<=") else "lower"

    @property
    def comparison(self) -> str:
        """How the claim compares: "<", "<=", ">" or ">="; a lifted claim says ">=".

        Of a quantile it is how the share of episodes that miss the margin compares with q: "<".
        """
        statement = None if self.claim is None else self.claim.statement
        if isinstance(statement, QuantileBound):
            return "<"
        return str(getattr(statement, "comparison", ">="))

    @property
    def quantity(self) -> str:
        """What the claim bounds, as figures name it."""
        statement = None if self.claim is None else self.claim.statement
        if isinstance(statement, QuantileBound):
            return f"P({self.id} misses its margin)"
        if isinstance(statement, ConditionalBound):
            return f"P({self.id} | its condition)"
        return f"mean({self.id})" if isinstance(statement, MeanBound) else f"P({self.id})"

    @property
    def is_mean(self) -> bool:
        """Whether the claim is about a mean, which no episode keeps or breaks."""
        return self.claim is not None and isinstance(self.claim.statement, MeanBound)


@dataclass(frozen=True, slots=True)
class Shown:
    """An evidence record of an attempt, or of a certification without one."""

    index: int
    claim_id: str
    kind: str
    status: Status
    threshold: float | None
    bound: float | None
    side: Side | None
    confidence: float | None
    level: float | None
    episodes: int
    violations: int
    undecided: int
    attempt: int
    method: str
    validity: str
    assumptions: tuple[str, ...] = ()
    skipped: int = 0
    doubtful: int = 0
    average: tuple[float, float] | None = None
    joint: str = ""
    strata: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Looked:
    """What a screen saw of one claim. result: passed, failed or open."""

    episodes: int
    violations: int
    undecided: int
    allowed: int | None
    result: str
    degraded: bool


@dataclass(slots=True)
class Screen:
    """A screen of one policy; label: name of a scripted baseline, "" for the trained policy."""

    epoch: int
    policy: str
    label: str
    claims: dict[str, Looked] = field(default_factory=dict[str, Looked])
    campaign: "Campaign | None" = None

    @property
    def passed(self) -> bool:
        """Whether every claim passed."""
        return all(item.result == "passed" for item in self.claims.values())

    @property
    def degraded(self) -> bool:
        """Whether some claim was shown to be worse than the plan's multiple of its threshold."""
        return any(item.degraded for item in self.claims.values())

    @property
    def episodes(self) -> int:
        """Episodes that ran."""
        return max((item.episodes for item in self.claims.values()), default=0)


@dataclass(frozen=True, slots=True)
class Judged:
    """One episode's verdict on one claim; lo, hi: its margin, None where margins are refused.

    condition: status of a conditional claim's condition. For a claim about a mean the status says
    whether the episode's share is settled, and there is no margin.
    """

    trace: str
    status: Status
    lo: float | None
    hi: float | None
    condition: str = ""

    @property
    def aside(self) -> bool:
        """Whether its condition left it out of the counts, or may have with nothing broken."""
        open_ = self.condition == "inconclusive" and self.status == "satisfied"
        return self.condition == "violated" or open_

    @property
    def counted(self) -> Status:
        """The status as it counts: undecided where a broken property may have had no condition."""
        return "inconclusive" if self.condition == "inconclusive" else self.status


@dataclass(frozen=True, slots=True)
class Shard:
    """A stored shard: path inside the run, digest, traces in index order, first index."""

    path: str
    digest: str
    traces: tuple[str, ...]
    first_index: int


@dataclass(slots=True)
class Campaign:
    """Episodes of one policy for one purpose, with the verdicts on them, in index order.

    policy: its digest, "" where nothing was recorded.
    """

    name: str
    policy: str = ""
    verdicts: dict[str, list[Judged]] = field(default_factory=dict[str, list[Judged]])
    shards: list[Shard] = field(default_factory=list[Shard])


@dataclass(slots=True)
class Attempt:
    """A certification attempt. outcome "" while it is open; epoch: in which it was decided."""

    number: int
    policy: str
    index: int
    epoch: int = 0
    cap: int = 0
    clean_needed: int = 0
    outcome: str = ""
    reasons: tuple[str, ...] = ()
    episodes: int = 0
    surplus: int = 0
    evidence: dict[str, Shown] = field(default_factory=dict[str, Shown])
    campaign: Campaign = field(default_factory=lambda: Campaign(""))


@dataclass(slots=True)
class Epoch:
    """One epoch of training. violations: claim id -> training episodes; they are no evidence."""

    epoch: int
    steps: int
    episodes: int = 0
    mean_return: float | None = None
    violations: Mapping[str, int] = field(default_factory=dict[str, int])
    penalties: int = 0
    replays: int = 0


@dataclass(frozen=True, slots=True)
class Decision:
    """A gate decision. named: payload digests of the records it rests on."""

    index: int
    epoch: int
    action: str
    policy: str
    reasons: tuple[str, ...]
    named: frozenset[str]


@dataclass(frozen=True, slots=True)
class Move:
    """A rollback: in which epoch, to the policy frozen in which epoch (None: not known)."""

    epoch: int
    to: str
    to_epoch: int | None


@dataclass(frozen=True, slots=True)
class Finding:
    """An answer of the specification check before training."""

    question: str
    claims: tuple[str, ...]
    status: str
    answer: str
    detail: str


@dataclass(frozen=True, slots=True)
class Suite:
    """The regression suite on a policy: of so many starts, how many passed."""

    epoch: int
    starts: int
    held: int
    passed: bool


@dataclass(frozen=True, slots=True)
class Burst:
    """A search for counterexamples to one claim. finds: digests of the violated episodes' traces.

    What is found is real; finding none proves nothing.
    """

    epoch: int
    claim_id: str
    method: str
    budget: int
    episodes: int
    found: bool
    finds: tuple[str, ...]


@dataclass(slots=True)
class Story:
    """A run as its live records tell it."""

    run: str = ""
    scenario: str = ""
    scenario_facts: dict[str, Any] = field(default_factory=dict[str, Any])
    claims: dict[str, Promised] = field(default_factory=dict[str, Promised])
    plan: dict[str, Any] = field(default_factory=dict[str, Any])
    training: dict[str, Any] = field(default_factory=dict[str, Any])
    meaning: str = ""
    spending: str = ""
    epochs: list[Epoch] = field(default_factory=list[Epoch])
    screens: list[Screen] = field(default_factory=list[Screen])
    baselines: list[Screen] = field(default_factory=list[Screen])
    looks: list[Campaign] = field(default_factory=list[Campaign])
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    decisions: list[Decision] = field(default_factory=list[Decision])
    rollbacks: list[Move] = field(default_factory=list[Move])
    promoted: str = ""
    promoted_by: Decision | None = None
    releases: dict[str, Decision | None] = field(default_factory=dict[str, "Decision | None"])
    withdrawn: list[str] = field(default_factory=list[str])
    frozen: dict[str, int] = field(default_factory=dict[str, int])
    proved: dict[str, Shown] = field(default_factory=dict[str, Shown])
    findings: list[Finding] | None = None
    suites: list[Suite] = field(default_factory=list[Suite])
    bursts: list[Burst] = field(default_factory=list[Burst])
    searched: list[Campaign] = field(default_factory=list[Campaign])
    waivers: list[Waiver] = field(default_factory=list[Waiver])
    notes: list[str] = field(default_factory=list[str])
    outcome: str = ""
    closed: bool = False
    last_time: str = ""
    set_aside: list[str] = field(default_factory=list[str])
    superseded: int = 0

    @property
    def only_proved(self) -> bool:
        """Whether it is the log of a proof: evidence of a model, and no episode of any policy."""
        return bool(self.proved) and not (self.attempts or self.screens or self.plan)

    @property
    def waived(self) -> dict[str, Waiver]:
        """The waivers in force, by claim id."""
        return {item.claim_id: item for item in self.waivers if item.state == "in force"}

    @property
    def last_attempt(self) -> Attempt | None:
        """The last attempt, or None."""
        return self.attempts[-1] if self.attempts else None
