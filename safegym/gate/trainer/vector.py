"""The vector environment of training, and its state at an epoch boundary."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecNormalize

from safegym.errors import GateError, PolicyError
from safegym.formula.claim import Claim
from safegym.gate.replay import Counterexample, ReplayDesk
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.slots import (
    Slot,
    SlotRecipe,
    Start,
    Suspicions,
    TrainingSlot,
    training_seed,
)
from safegym.gate.trainer.suspicion import Suspected
from safegym.gate.trainer.workers.plan import IN_PROCESS, RolloutWorkers
from safegym.gate.trainer.workers.vec_env import WorkerVecEnv
from safegym.policy.sb3.checkpoint import Checkpoint
from safegym.scenario.spec import ScenarioSpec

__all__ = ["LocalVecEnv", "TrainingEnvs", "make_envs", "training_seed"]


class LocalVecEnv(DummyVecEnv):
    """Slots stepped in turn in this process: stable-baselines3's own, which can also resume."""

    def __init__(self, slots: Sequence[TrainingSlot], suspicions: Suspicions) -> None:
        super().__init__([partial(_same, slot) for slot in slots])
        self._training_slots, self._suspicions = slots, suspicions
        self.slots: tuple[Slot, ...] = tuple(slots)

    def suspects(self) -> list[Suspected]:
        """Which claims to judge each open episode by, for its samples in this rollout."""
        return self._suspicions.of(self._training_slots, [slot.row for slot in self.slots])

    def resume_slots(self, starts: Sequence[Start], actions: Sequence[NDArray[Any]]) -> None:
        """Run every open episode again, one start and one array of actions a slot."""
        for slot, start, taken in zip(self.slots, starts, actions, strict=True):
            self._save_obs(slot.slot, cast(TrainingSlot, slot).resume(start, taken))


@dataclass(frozen=True, slots=True)
class TrainingEnvs:
    """Slots inside a vector environment, perhaps inside a VecNormalize.

    base: steps the slots, in this process or in workers. env: what the algorithm steps.
    normalise: the VecNormalize, None where nothing is normalised.
    """

    slots: tuple[Slot, ...]
    base: LocalVecEnv | WorkerVecEnv
    env: VecEnv
    normalise: VecNormalize | None
    desk: ReplayDesk

    def begin_rollout(self) -> None:
        """Every slot counts rollout steps from 0."""
        for slot in self.slots:
            slot.begin_rollout()

    def capture(self) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        """The open episodes: how each began, its actions, and the digest of what was seen."""
        prefixes = [slot.prefix() for slot in self.slots]
        pairs = list(zip(self.slots, prefixes, strict=True))
        document = {"slots": [_slot_document(slot, prefix.digest) for slot, prefix in pairs]}
        tensors = {
            f"slot.{slot.slot}.actions": torch.from_numpy(prefix.actions.copy())
            for slot, prefix in pairs
        }
        if self.normalise is not None:
            tensors["raw_observations"] = torch.from_numpy(np.array(self.normalise.old_obs))
        return document, tensors

    def resume(self, checkpoint: Checkpoint) -> None:
        """Run every open episode again from its start, and check that it came out the same.

        Raises GateError when an environment is not determined by its seed and actions, PolicyError
        when the checkpoint is malformed.
        """
        documents: Any = checkpoint.extra.get("slots")
        if not isinstance(documents, list) or len(documents) != len(self.slots):
            raise PolicyError("The checkpoint does not hold the state of every environment.")
        starts = [_start(document) for document in documents]
        self.base.resume_slots(
            starts,
            [checkpoint.extra_tensor(f"slot.{slot.slot}.actions").numpy() for slot in self.slots],
        )
        for slot, document in zip(self.slots, documents, strict=True):
            if slot.prefix().digest != document["prefix"]:
                raise GateError(
                    f"Resuming slot {slot.slot}: running its open episode again from seed "
                    f"{slot.start.seed} gave other samples. The scenario is not determined by seed "
                    "and actions on this machine; start a new run."
                )
        if self.normalise is not None:
            self.normalise.old_obs = checkpoint.extra_tensor("raw_observations").numpy().copy()

    def close(self) -> None:
        """Close the environments; workers end. What they raise then can spoil nothing any more."""
        with suppress(Exception):
            self.base.close()


def make_envs(
    spec: ScenarioSpec,
    settings: TrainSettings,
    claims: Sequence[Claim],
    rollout: RolloutWorkers = IN_PROCESS,
) -> TrainingEnvs:
    """Recorded copies of the scenario, cut at its horizon, seeded by (slot, episode number).

    rollout: who steps them, which changes no result.
    """
    desk = ReplayDesk()
    recipe = SlotRecipe(spec, settings, tuple(claims))
    base: LocalVecEnv | WorkerVecEnv
    if rollout.workers == 0:
        made = [recipe.make(slot, desk) for slot in range(settings.n_envs)]
        base = LocalVecEnv(made, recipe.suspicions())
    else:
        base = WorkerVecEnv(recipe, desk, rollout)
    if isinstance(base.observation_space, (spaces.Dict, spaces.Tuple)):
        base.close()
        raise PolicyError(
            f"Scenario {spec.name} has {type(base.observation_space).__name__} observations; "
            "training takes arrays: wrap it in gymnasium.wrappers.FlattenObservation."
        )
    if not (settings.normalise or settings.normalise_reward):
        return TrainingEnvs(base.slots, base, base, None, desk)
    normalise = VecNormalize(
        base,
        norm_obs=settings.normalise,
        norm_reward=settings.normalise_reward,
        gamma=settings.gamma,
    )
    return TrainingEnvs(base.slots, base, normalise, normalise, desk)


def _same(slot: TrainingSlot) -> TrainingSlot:
    return slot


def _slot_document(slot: Slot, prefix_digest: str) -> dict[str, Any]:
    start = slot.start
    return {
        "episode": start.episode,
        "seed": str(start.seed),
        "options": dict(start.options),
        "replay": None if start.replay is None else start.replay.to_json(),
        "stage": start.stage,
        "prefix": prefix_digest,
    }


def _start(document: Mapping[str, Any]) -> Start:
    try:
        replay = document["replay"]
        return Start(
            episode=int(document["episode"]),
            seed=int(document["seed"]),
            options=dict(document["options"]),
            replay=None if replay is None else Counterexample.from_json(replay),
            stage=None if document["stage"] is None else int(document["stage"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise PolicyError(f"A stored environment state is malformed: {error!r}.") from error
