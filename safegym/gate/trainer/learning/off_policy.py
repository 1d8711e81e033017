"""Off-policy learning: rows in the replay buffer are relabelled once their episode is judged."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.noise import (
    ActionNoise,
    OrnsteinUhlenbeckActionNoise,
    VectorizedActionNoise,
)
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.type_aliases import TrainFreq, TrainFrequencyUnit

from safegym.errors import GateError, PolicyError
from safegym.gate.penalty import Penaliser, Violation
from safegym.gate.trainer.correction import JudgedEpisode
from safegym.gate.trainer.events import PenaltyApplied
from safegym.gate.trainer.learner import make_learner
from safegym.gate.trainer.learning.driven import DrivenAlgorithm
from safegym.gate.trainer.learning.last_seen import last_observations
from safegym.gate.trainer.learning.off_policy_buffers import FailingReplayBuffer, make_buffer
from safegym.gate.trainer.learning.off_policy_state import (
    action_draws,
    capture_buffer,
    holds_buffer,
    refuse_large_buffer,
    restore_action_draws,
    restore_buffer,
)
from safegym.gate.trainer.learning.ring_rows import refuse_short_ring
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.slots import FinishedEpisode
from safegym.gate.trainer.vector import TrainingEnvs
from safegym.policy.sb3.checkpoint import Checkpoint, restore_checkpoint

FAILING_SHARE = 0.0
FAILING_STEPS = 25
_REPLAY = "replay_buffer"


class OffPolicyLearner(DrivenAlgorithm[OffPolicyAlgorithm]):
    """SAC, TD3, DDPG, DQN, TQC and QR-DQN, learning from a buffer that mixes in failing rows.

    A finished episode that violates a claim has the reward of the action before its settling sample
    lowered, and the `failing_steps` rows that end there are marked failing. Where `failing_share`
    is given, that share of each sample is then drawn from marked rows (see `mixed_in`). Until an
    episode fails, every draw and every update is the plain algorithm's.
    """

    def __init__(self, settings: TrainSettings, envs: TrainingEnvs, *, horizon: int = 1) -> None:
        super().__init__(_make_algorithm(settings, envs), settings, envs)
        self._failing_steps = int(settings.options.get("failing_steps", FAILING_STEPS))
        self._buffer: FailingReplayBuffer = _own_buffer(self._algorithm)
        refuse_short_ring(
            self._algorithm.buffer_size,
            self._algorithm.n_envs,
            horizon=horizon,
            rollout=settings.n_steps,
        )
        if settings.save_replay:
            refuse_large_buffer(self._buffer, settings.steps)
        self._every = TrainFreq(settings.n_steps, TrainFrequencyUnit.STEP)
        self._collected = 0
        self._updates_from = 0
        self._met = False

    def go_on(self, checkpoint: Checkpoint) -> tuple[str, ...]:
        """The run's one `_setup_learn`, after a resume: environments stay as they are.

        Without a stored replay buffer the run goes on statistically: the buffer fills again, with
        actions of the learned policy once `learning_starts` is over, for as many steps as the run's
        first updates waited for.
        """
        algorithm = self._algorithm
        restore_checkpoint(algorithm, checkpoint)
        document = _learner_document(checkpoint)
        restore_action_draws(algorithm.action_space, document)
        last: Any = last_observations(checkpoint, algorithm)
        algorithm._last_obs = last
        algorithm._last_episode_starts = np.ones((self._envs.env.num_envs,), dtype=bool)
        self._set_up_again()
        _restore_noise(algorithm.action_noise, checkpoint)
        self._updates_from = int(document.get("updates_from", 0))
        return self._refill(document, checkpoint)

    def collect(self) -> None:
        """Step the environments `n_steps` times and store the transitions."""
        algorithm = self._algorithm
        if not self._met:
            self._meet_environments()
        self._buffer.rows.forget_ended()
        rollout = algorithm.collect_rollouts(
            self._envs.env,
            self._callback,
            self._every,
            self._buffer,
            algorithm.action_noise,
            algorithm.learning_starts,
        )
        self._collected = rollout.episode_timesteps

    def correct(
        self, judged: Sequence[JudgedEpisode], penaliser: Penaliser
    ) -> list[PenaltyApplied]:
        """Relabel the violating episodes that ended in the rollout and mark their rows failing."""
        return [
            applied
            for item in judged
            for violation in item.violations
            if violation.cost > 0.0
            for applied in self._relabelled(item.finished, violation)
        ]

    def update(self) -> None:
        """The gradient steps that are due after a rollout; none before `learning_starts`."""
        algorithm = self._algorithm
        if algorithm.num_timesteps <= max(algorithm.learning_starts, self._updates_from):
            return
        steps = algorithm.gradient_steps if algorithm.gradient_steps >= 0 else self._collected
        if steps > 0:
            algorithm.train(gradient_steps=steps, batch_size=algorithm.batch_size)

    def open_state(self) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        """Last observations, the state of exploration, and with save_replay the replay buffer."""
        last = self._algorithm._last_obs
        if not isinstance(last, np.ndarray):
            raise GateError("Training has not begun; there is no state to store.")
        document: dict[str, Any] = action_draws(self._algorithm.action_space)
        document["updates_from"] = self._updates_from
        tensors = {"last_observations": torch.from_numpy(last.copy())}
        tensors |= _noise_state(self._algorithm.action_noise)
        if self._settings.save_replay:
            document[_REPLAY], rows = capture_buffer(self._buffer)
            tensors |= rows
        return document, tensors

    def rolled_back(self, earlier: Checkpoint) -> None:
        """Normalise the last observations as the earlier statistics do.

        The replay buffer stays: what other policies did is still a transition of the environment.
        """
        normalise = self._envs.normalise
        if normalise is not None:
            last: Any = normalise.normalize_obs(normalise.old_obs)
            self._algorithm._last_obs = last

    def _relabelled(self, finished: FinishedEpisode, violation: Violation) -> list[PenaltyApplied]:
        slot, episode, rows = finished.slot, finished.start.episode, self._buffer.rows
        taken = len(finished.trace.rewards)
        if rows.length(slot, episode) != taken:
            raise GateError(
                f"Episode {episode} of slot {slot} has {rows.length(slot, episode)} steps in the "
                f"replay buffer and {taken} in its trace; its rows cannot be told apart."
            )
        row = rows.row(slot, episode, violation.step - 1)
        if row is None:
            return []
        first = max(row + 1 - self._failing_steps, row + 1 - violation.step)
        self._buffer.mark_failing(slot, first, row)
        if violation.size == 0.0:  # its weight has adapted to 0
            return []
        self._buffer.lower(row, slot, violation.size)
        return [_applied(finished, violation, row)]

    def _meet_environments(self) -> None:
        """Once they stand as they shall: number their open episodes, take raw observations."""
        self._met = True
        slots, normalise = self._envs.slots, self._envs.normalise
        if normalise is not None:
            self._algorithm._last_original_obs = normalise.get_original_obs()
        self._buffer.rows.begin(
            [slot.start.episode for slot in slots], [len(slot.prefix().rewards) for slot in slots]
        )

    def _refill(self, document: dict[str, Any], checkpoint: Checkpoint) -> tuple[str, ...]:
        algorithm = self._algorithm
        stored = _REPLAY in document
        if stored and holds_buffer(checkpoint):
            restore_buffer(self._buffer, checkpoint, document[_REPLAY])
            return ()
        if algorithm.num_timesteps == 0:
            return ()
        wait = max(algorithm.learning_starts, algorithm.batch_size)
        self._updates_from = algorithm.num_timesteps + wait
        why = "was deleted from the checkpoint" if stored else "was not stored (save_replay=False)"
        return (
            f"The replay buffer {why}: it fills again from empty, and updates go on after {wait} "
            "more steps. The run is continued statistically, not bit for bit.",
        )


def _make_algorithm(settings: TrainSettings, envs: TrainingEnvs) -> OffPolicyAlgorithm:
    """The plain algorithm with a buffer of ours, set before its set-up would make its own."""
    algorithm: OffPolicyAlgorithm = make_learner(settings, envs.env, _init_setup_model=False)
    algorithm.replay_buffer = make_buffer(
        size=algorithm.buffer_size,
        observation_space=algorithm.observation_space,
        action_space=algorithm.action_space,
        n_envs=algorithm.n_envs,
        failing_share=float(settings.options.get("failing_share", FAILING_SHARE)),
        n_steps=algorithm.n_steps,
        gamma=algorithm.gamma,
    )
    algorithm._setup_model()
    return algorithm


def _own_buffer(algorithm: OffPolicyAlgorithm) -> FailingReplayBuffer:
    buffer = algorithm.replay_buffer
    if not isinstance(buffer, FailingReplayBuffer):
        raise GateError(
            f"{type(algorithm).__name__} made a {type(buffer).__name__} of its own; an algorithm "
            "that is trained under a gate must learn from the replay buffer that it is given."
        )
    return buffer


def _learner_document(checkpoint: Checkpoint) -> dict[str, Any]:
    document: Any = checkpoint.extra.get("learner")
    if not isinstance(document, dict):
        raise PolicyError("The checkpoint does not hold the state of an off-policy learner.")
    return dict(document)


def _applied(finished: FinishedEpisode, violation: Violation, row: int) -> PenaltyApplied:
    return PenaltyApplied(
        claim_id=violation.claim_id,
        trace_digest=finished.trace.digest,
        slot=finished.slot,
        episode=finished.start.episode,
        step=violation.step,
        row=row,
        margin=violation.margin,
        size=violation.size,
        in_buffer=violation.size,
        cost=violation.cost,
    )


def _processes(noise: ActionNoise | None) -> list[OrnsteinUhlenbeckActionNoise]:
    """The noises with a memory, one an environment."""
    every = noise.noises if isinstance(noise, VectorizedActionNoise) else [noise]
    return [item for item in every if isinstance(item, OrnsteinUhlenbeckActionNoise)]


def _noise_state(noise: ActionNoise | None) -> dict[str, torch.Tensor]:
    found = _processes(noise)
    if not found:
        return {}
    return {"noise": torch.from_numpy(np.stack([np.array(item.noise_prev) for item in found]))}


def _restore_noise(noise: ActionNoise | None, checkpoint: Checkpoint) -> None:
    found = _processes(noise)
    if not found:
        return
    stored = checkpoint.extra_tensor("noise").numpy()
    for item, previous in zip(found, stored, strict=True):
        item.noise_prev = previous.copy()
