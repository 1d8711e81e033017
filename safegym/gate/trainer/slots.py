"""One sub-environment of training: seeds by (slot, episode number), replays, and bookkeeping."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, SupportsFloat

import gymnasium as gym
from numpy.typing import NDArray

from safegym.errors import GateError, SafegymError
from safegym.gate.replay import Counterexample, ReplayDesk
from safegym.trace.model import Trace
from safegym.trace.record import Recorder

SeedOf = Callable[[int, int], int]
"""(slot, episode number) -> seed."""


@dataclass(frozen=True, slots=True)
class Start:
    """How an episode began. replay: the banked start, None for a fresh one."""

    episode: int
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    replay: Counterexample | None = None


@dataclass(frozen=True, slots=True)
class FinishedEpisode:
    """An episode that ended during the rollout. last_row: rollout step of its last action."""

    slot: int
    start: Start
    trace: Trace
    last_row: int


class TrainingSlot(gym.Wrapper[Any, Any, Any, Any]):
    """Wraps a recorder; what a vector environment passes to reset is replaced by the plan's seed.

    DummyVecEnv resets a finished sub-environment without a seed, so seeding must happen here.
    The actions of the open episode, for a resume, are those that the recorder holds.
    """

    def __init__(self, recorder: Recorder, slot: int, seed_of: SeedOf, desk: ReplayDesk) -> None:
        super().__init__(recorder)
        self.recorder = recorder
        self.slot = slot
        self.row = 0
        self.start = Start(episode=-1, seed=0)
        self.finished: list[FinishedEpisode] = []
        self._steps = 0
        self._seed_of = seed_of
        self._desk = desk

    def begin_rollout(self) -> None:
        """Count rollout steps from 0 and forget the episodes of the last rollout."""
        self.row = 0
        self.finished = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start the slot's next episode: fresh by its own seed, or a replay."""
        episode = self.start.episode + 1
        replay = self._desk.next()
        if replay is None:
            return self._begin(Start(episode, self._seed_of(self.slot, episode)))
        return self._begin(Start(episode, replay.seed, replay.options, replay))

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step the recorder; an episode that ends is kept for the judging after the rollout."""
        try:
            result = self.env.step(action)
        except SafegymError:
            raise
        except Exception as error:
            raise self._raised(f"Step {self._steps + 1}", error) from error
        self._steps += 1
        if result[2] or result[3]:
            self._close()
        self.row += 1
        return result

    def resume(self, start: Start, actions: NDArray[Any]) -> Any:
        """Run an open episode again from its start; returns the last observation."""
        observation, _ = self._begin(start)
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

    def _begin(self, start: Start) -> tuple[Any, dict[str, Any]]:
        self.start = start
        self._steps = 0
        try:
            return self.env.reset(seed=start.seed, options=dict(start.options) or None)
        except SafegymError:
            raise
        except Exception as error:
            raise self._raised("Reset", error) from error

    def _close(self) -> None:
        trace = self.recorder.trace
        if trace is None:
            raise GateError("The recorder kept no trace of an episode that ended.")
        if len(trace.rewards) < self._steps:
            raise self.not_finite(trace.end.reason)
        self.finished.append(FinishedEpisode(self.slot, self.start, trace, self.row))

    def not_finite(self, what: str) -> GateError:
        """The error for a number that is not finite."""
        return GateError(
            f"{what}{self._where} An environment must give finite numbers; run that seed alone to "
            "find the cause."
        )

    def _raised(self, what: str, error: Exception) -> GateError:
        return GateError(
            f"{what} of the environment raised {type(error).__name__}: {error}{self._where} Run "
            "that seed alone to find the cause."
        )

    @property
    def _where(self) -> str:
        start = self.start
        return (
            f", in training episode {start.episode} of slot {self.slot} (seed {start.seed}). The "
            "last checkpoint is kept."
        )
