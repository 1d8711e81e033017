"""One sub-environment of training: seeds by (slot, episode number), replays, and bookkeeping."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, SupportsFloat

import gymnasium as gym
from numpy.typing import NDArray

from safegym.errors import GateError, SafegymError, TraceError
from safegym.formula.claim import Claim, set_digest
from safegym.gate.replay import Counterexample, ReplayDesk
from safegym.gate.trainer.ending import Ending
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.suspicion import Newest, Suspected, Suspicion
from safegym.scenario.seeds import episode_seed
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.wrap import recorded
from safegym.trace.model import Trace
from safegym.trace.record import FAILURES, Recorder

SeedOf = Callable[[int, int], int]
"""(slot, episode number) -> seed."""


@dataclass(frozen=True, slots=True)
class Start:
    """How an episode began. replay: the banked start, None for a fresh one.

    stage: of the run's curriculum, None for the scenario as it stands.
    """

    episode: int
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    replay: Counterexample | None = None
    stage: int | None = None


@dataclass(frozen=True, slots=True)
class FinishedEpisode:
    """An episode that ended during the rollout. last_row: rollout step of its last action.

    terms: what each term of a declared reward paid in it, in units of reward.
    """

    slot: int
    start: Start
    trace: Trace
    last_row: int
    terms: Mapping[str, float] = field(default_factory=dict[str, float])


class Slot(Protocol):
    """What the loop and the learners see of a sub-environment, wherever it runs.

    slot: its number, from 0. start: of the open episode. row: steps since the rollout began.
    finished: episodes that ended in this rollout, in order.
    """

    slot: int
    row: int
    start: Start
    finished: list[FinishedEpisode]

    def begin_rollout(self) -> None:
        """Count rollout steps from 0 and forget the episodes of the last rollout."""
        ...

    def prefix(self) -> Trace:
        """The open episode so far. Raises GateError where a number in it is not finite."""
        ...

    def not_finite(self, what: str) -> GateError:
        """The error for a number that is not finite."""
        ...


@dataclass(frozen=True, slots=True)
class SlotStage:
    """A stage of the curriculum in a slot. limit: steps of an episode. ending: what ends it."""

    limit: int | None
    ending: Ending | None


class TrainingSlot(gym.Wrapper[Any, Any, Any, Any]):
    """Wraps a recorder; what a vector environment passes to reset is replaced by the plan's seed.

    DummyVecEnv resets a finished sub-environment without a seed, so seeding must happen here.
    The actions of the open episode, for a resume, are those that the recorder holds.
    """

    def __init__(
        self,
        recorder: Recorder,
        slot: int,
        seed_of: SeedOf,
        desk: ReplayDesk,
        ending: Ending | None = None,
        stages: Sequence[SlotStage] = (),
    ) -> None:
        super().__init__(recorder)
        self.recorder = recorder
        self.slot = slot
        self.row = 0
        self.start = Start(episode=-1, seed=0)
        self.finished: list[FinishedEpisode] = []
        self._steps = 0
        self._seed_of = seed_of
        self._desk = desk
        self._ending = ending
        self._plain = SlotStage(recorder.limit, ending)
        self._stages = tuple(stages)

    def begin_rollout(self) -> None:
        """Count rollout steps from 0 and forget the episodes of the last rollout."""
        self.row = 0
        self.finished = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start the slot's next episode: fresh by its own seed, or a replay."""
        return self.begin(next_start(self.slot, self.start.episode + 1, self._desk, self._seed_of))

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step the recorder; an episode that ends is kept for the judging after the rollout."""
        try:
            result = self.env.step(action)
        except TraceError as error:
            raise GateError(f"{str(error).rstrip('.')}{self._here}") from error
        except SafegymError:
            raise
        except FAILURES as error:
            raise self._raised(f"Step {self._steps + 1}", error) from error
        self._steps += 1
        if self._ending is not None and not result[2]:
            result = self._ending.after(self.recorder, result)
        if result[2] or result[3]:
            self._close(result[4])
        self.row += 1
        return result

    def resume(self, start: Start, actions: NDArray[Any]) -> Any:
        """Run an open episode again from its start; returns the last observation."""
        observation, _ = self.begin(start)
        for number, action in enumerate(actions):
            observation, _, terminated, truncated, _ = self.step(action)
            if terminated or truncated:
                raise GateError(
                    f"Resuming slot {self.slot}: the open episode ended at step {number + 1} of "
                    f"{len(actions)}, so the environment is not determined by seed and actions."
                )
        self.begin_rollout()
        return observation

    def prefix(self) -> Trace:
        """The open episode so far. Raises GateError where a number in it is not finite."""
        prefix = self.recorder.prefix()
        if len(prefix.rewards) < self._steps:
            raise self.not_finite(prefix.end.reason)
        return prefix

    def newest(self, count: int) -> Newest:
        """The open episode's steps so far, and the samples after its last `count` steps."""
        count = min(count, self._steps)
        return self._steps, self.recorder.newest(count) if count else []

    def begin(self, start: Start) -> tuple[Any, dict[str, Any]]:
        """Begin an episode as told, whatever the desk would hand out."""
        self.start = start
        self._steps = 0
        stage = self._plain if start.stage is None else self._stages[start.stage]
        self.recorder.limit, self._ending = stage.limit, stage.ending
        try:
            first = self.env.reset(seed=start.seed, options=dict(start.options) or None)
        except SafegymError:
            raise
        except FAILURES as error:
            raise self._raised("Reset", error) from error
        if self._ending is not None:
            self._ending.begin(self.recorder)
        return first

    def _close(self, info: Mapping[str, Any]) -> None:
        trace = self.recorder.trace
        if trace is None:
            raise GateError("The recorder kept no trace of an episode that ended.")
        if len(trace.rewards) < self._steps:
            raise self.not_finite(trace.end.reason)
        self.finished.append(
            FinishedEpisode(self.slot, self.start, trace, self.row, info.get("reward_totals", {}))
        )

    def not_finite(self, what: str) -> GateError:
        """The error for a number that is not finite."""
        return not_finite(what, self.slot, self.start)

    def _raised(self, what: str, error: BaseException) -> GateError:
        return GateError(
            f"{what} of the environment raised {type(error).__name__}: {error}{self._here}"
        )

    @property
    def _here(self) -> str:
        return f"{where(self.slot, self.start)} Run that seed alone to find the cause."


@dataclass(frozen=True, slots=True)
class SlotRecipe:
    """What decides every sub-environment of a run, in this process or in another."""

    spec: ScenarioSpec
    settings: TrainSettings
    claims: tuple[Claim, ...]

    @property
    def seed_of(self) -> SeedOf:
        """(slot, episode number) -> seed of a fresh episode."""
        return partial(training_seed, self.settings.seed, self.spec.digest, set_digest(self.claims))

    def make(self, slot: int, desk: ReplayDesk) -> TrainingSlot:
        """A recorded copy of the scenario, cut at its horizon."""
        recorder = recorded(self.spec, limit=self.spec.horizon)
        penalty = self.settings.penalty
        ending = Ending(self.spec, self.claims, penalty) if penalty.ends else None
        return TrainingSlot(recorder, slot, self.seed_of, desk, ending, self._stages())

    def suspicions(self) -> "Suspicions":
        """What tells which claims open episodes of these slots are to be judged by."""
        curriculum = self.settings.curriculum
        sets = [self.claims] if curriculum is None else curriculum.claim_sets(self.claims)
        return Suspicions([Suspicion(self.spec, c, self.settings.penalty) for c in sets])

    def _stages(self) -> list[SlotStage]:
        """The curriculum's stages before the scenario as it stands."""
        curriculum, penalty = self.settings.curriculum, self.settings.penalty
        if curriculum is None:
            return []
        sets, limits = curriculum.claim_sets(self.claims), curriculum.limits(self.spec.horizon)
        return [
            SlotStage(limit, Ending(self.spec, judged, penalty) if penalty.ends else None)
            for judged, limit in zip(sets[:-1], limits[:-1], strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Suspicions:
    """A `Suspicion` of each stage of the curriculum; the last is of the scenario as it stands."""

    stages: Sequence[Suspicion]

    def of(self, slots: Sequence[TrainingSlot], rows: Sequence[int]) -> list[Suspected]:
        """What to judge each slot's open episode by, for its samples in the last `rows` steps."""
        if len(self.stages) == 1:
            newest = [slot.newest(row) for slot, row in zip(slots, rows, strict=True)]
            return self.stages[0].suspects(newest)
        found: dict[int, Suspected] = {}
        for stage in {slot.start.stage for slot in slots}:
            pairs = [pair for pair in zip(slots, rows, strict=True) if pair[0].start.stage == stage]
            told = self.stages[-1 if stage is None else stage].suspects(
                [slot.newest(row) for slot, row in pairs]
            )
            found.update((slot.slot, each) for (slot, _), each in zip(pairs, told, strict=True))
        return [found[slot.slot] for slot in slots]


def training_seed(
    root: int, scenario_digest: str, claims_digest: str, slot: int, episode: int
) -> int:
    """Seed of training episode `episode` of `slot` (stream "train")."""
    return episode_seed(root, "", scenario_digest, claims_digest, "train", slot, episode)


def next_start(slot: int, episode: int, desk: ReplayDesk, seed_of: SeedOf) -> Start:
    """How a slot's episode number `episode` begins: fresh by its own seed, or as a replay."""
    replay = desk.next()
    if replay is None:
        return Start(episode, seed_of(slot, episode), stage=desk.stage)
    return Start(episode, replay.seed, replay.options, replay, desk.stage)


def where(slot: int, start: Start) -> str:
    """Which episode an error is about, and what is safe; goes on after the error's first words."""
    return (
        f", in training episode {start.episode} of slot {slot} (seed {start.seed}). The last "
        "checkpoint is kept."
    )


def not_finite(what: str, slot: int, start: Start) -> GateError:
    """The error for a number that is not finite."""
    return GateError(
        f"{what}{where(slot, start)} An environment must give finite numbers; run that seed alone "
        "to find the cause."
    )
