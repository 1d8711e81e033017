"""What a training run tells those who listen: the audit log, the progress bar, a test."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from safegym.gate.replay import Counterexample
from safegym.trace.model import Trace


@dataclass(frozen=True, slots=True)
class RunStarted:
    """Training begins, or goes on after `resumed_from`.

    differences: versions that differ from those of the run's first part; then the run goes on, but
    not bit-exactly.
    """

    steps: int
    total: int
    resumed_from: Path | None = None
    differences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RolloutEnded:
    """A rollout was collected and trained on. returns and lengths: means of its episodes."""

    epoch: int
    steps: int
    total: int
    episodes: int
    mean_return: float | None
    mean_length: float | None
    violations: int


@dataclass(frozen=True, slots=True)
class ViolationFound:
    """A training episode violated a claim: `trace` is whole, `step` is where it settled."""

    claim_id: str
    trace: Trace
    step: int
    margin: float | None
    slot: int
    episode: int


@dataclass(frozen=True, slots=True)
class PenaltyApplied:
    """A reward of the rollout buffer was lowered.

    trace_digest: of the whole trace, or of the prefix where the episode is still open. step: the
    settling sample. size: in units of reward, < 0. in_buffer: what was added to the buffer, after
    reward normalisation. row: step of the rollout, for an off-policy run row of the replay buffer,
    counted from its first. cost: -size at multiplier 1. With a cost critic
    rewards stay as they are: in_buffer is 0, and in_costs what was added to the claim's costs.
    """

    claim_id: str
    trace_digest: str
    slot: int
    episode: int
    step: int
    row: int
    margin: float | None
    size: float
    in_buffer: float
    cost: float = 0.0
    in_costs: float = 0.0


@dataclass(frozen=True, slots=True)
class WeightsAdapted:
    """What violations cost from the next rollout on, after a rollout of an adapting penalty.

    weights: claim id -> weight, in units of reward. rates: claim id -> estimated violation rate of
    training episodes, once known; they steer the weights, and are no evidence.
    """

    epoch: int
    steps: int
    weights: dict[str, float]
    rates: dict[str, float]


@dataclass(frozen=True, slots=True)
class StageBegan:
    """Training episodes that begin from now on are of this stage of the curriculum.

    stage: from 0. stages: how many there are before the scenario as it stands, which is stage
    number `stages`. horizon: steps that an episode is cut at.
    """

    epoch: int
    steps: int
    stage: int
    stages: int
    horizon: int


@dataclass(frozen=True, slots=True)
class Banked:
    """A failing start entered the replay bank."""

    start: Counterexample


@dataclass(frozen=True, slots=True)
class Replayed:
    """An episode from a banked start ended. Its seed is burnt for certification."""

    start: Counterexample
    trace_digest: str
    slot: int
    episode: int
    status: str
    margin: float | None
    retired: bool


@dataclass(frozen=True, slots=True)
class CheckpointWritten:
    """A checkpoint stands on disk. digest: of its manifest. policy_digest: of what it froze."""

    epoch: int
    path: Path
    digest: str
    policy_digest: str


@dataclass(frozen=True, slots=True)
class CheckpointDeleted:
    """A checkpoint that is neither the last nor among those the gate keeps was deleted."""

    epoch: int
    path: Path


@dataclass(frozen=True, slots=True)
class EpochEnded:
    """What an epoch did. seconds: wall time of collecting (simulator, recorder, inference), of
    judging and penalising, of updating the weights, and of writing the checkpoint.

    violations: claim id -> training episodes that violated it; no evidence, since the policy
    explored and changed. penalty: sum of the penalties, in units of reward. starts: episodes that
    each slot has begun since the run began, whose seeds may not certify. weights: claim id -> what
    a violation costs now, in units of reward. rates: claim id -> violation rate of training
    episodes as `safegym.gate.weighting` estimates it, once known. inexact: why the run does not
    equal one that was never interrupted, in the epoch in which it was resumed. stage: of the
    curriculum, from 0, in which the next training episodes begin (as many as it has stages for the
    scenario as it stands); None without one. Episodes that began in a stage are judged by its
    thresholds. terms: what each term of a declared reward paid an episode on average, in units of
    reward.
    """

    epoch: int
    steps: int
    total: int
    checkpoint: Path
    policy_digest: str
    episodes: int
    mean_return: float | None
    mean_length: float | None
    violations: dict[str, int]
    penalties: int
    penalty: float
    replays: int
    banked: int
    collect_seconds: float
    verify_seconds: float
    train_seconds: float
    checkpoint_seconds: float
    starts: tuple[int, ...] = ()
    weights: dict[str, float] = field(default_factory=dict[str, float])
    rates: dict[str, float] = field(default_factory=dict[str, float])
    inexact: tuple[str, ...] = ()
    stage: int | None = None
    terms: dict[str, float] = field(default_factory=dict[str, float])


EpochReport = EpochEnded
"""What a gate is given; listeners hear the same."""


@dataclass(frozen=True, slots=True)
class GateDecided:
    """The gate's decision after an epoch. policy_digest: promoted or rolled back to."""

    epoch: int
    action: str
    reasons: tuple[str, ...]
    policy_digest: str
    gate_seconds: float


@dataclass(frozen=True, slots=True)
class RolledBack:
    """Weights, optimisers and normaliser went back to an earlier checkpoint."""

    epoch: int
    to_epoch: int
    policy_digest: str


@dataclass(frozen=True, slots=True)
class RunEnded:
    """Training ended: finished, promoted, stopped or interrupted."""

    status: str
    epoch: int
    steps: int
    reasons: tuple[str, ...]


Event = (
    RunStarted
    | RolloutEnded
    | ViolationFound
    | PenaltyApplied
    | WeightsAdapted
    | StageBegan
    | Banked
    | Replayed
    | CheckpointWritten
    | CheckpointDeleted
    | EpochEnded
    | GateDecided
    | RolledBack
    | RunEnded
)
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Listens to nothing."""
