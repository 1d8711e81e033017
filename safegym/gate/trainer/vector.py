"""The vector environment of training, and its state at an epoch boundary."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecNormalize

from safegym.errors import GateError, PolicyError
from safegym.formula.claim import Claim, set_digest
from safegym.gate.replay import Counterexample, ReplayDesk
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.slots import Start, TrainingSlot
from safegym.policy.sb3.checkpoint import Checkpoint
from safegym.scenario.seeds import episode_seed
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.wrap import recorded


@dataclass(frozen=True, slots=True)
class TrainingEnvs:
    """Slots inside a DummyVecEnv, perhaps inside a VecNormalize.

    env: what the algorithm steps. normalise: the VecNormalize, None where nothing is normalised.
    """

    slots: tuple[TrainingSlot, ...]
    dummy: DummyVecEnv
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
        for slot, document in zip(self.slots, documents, strict=True):
            actions = checkpoint.extra_tensor(f"slot.{slot.slot}.actions").numpy()
            observation = slot.resume(_start(document), actions)
            if slot.prefix().digest != document["prefix"]:
                raise GateError(
                    f"Resuming slot {slot.slot}: running its open episode again from seed "
                    f"{slot.start.seed} gave other samples. The scenario is not determined by seed "
                    "and actions on this machine; start a new run."
                )
            self.dummy._save_obs(slot.slot, observation)
        if self.normalise is not None:
            self.normalise.old_obs = checkpoint.extra_tensor("raw_observations").numpy().copy()


def make_envs(spec: ScenarioSpec, settings: TrainSettings, claims: Sequence[Claim]) -> TrainingEnvs:
    """Recorded copies of the scenario, cut at its horizon, seeded by (slot, episode number)."""
    desk = ReplayDesk()
    seed_of = partial(
        training_seed,
        settings.seed,
        spec.digest,
        set_digest(claims),
    )
    slots = tuple(
        TrainingSlot(recorded(spec, limit=spec.horizon), slot, seed_of, desk)
        for slot in range(settings.n_envs)
    )
    if isinstance(slots[0].observation_space, (spaces.Dict, spaces.Tuple)):
        raise PolicyError(
            f"Scenario {spec.name} has {type(slots[0].observation_space).__name__} observations; "
            "training takes arrays: wrap it in gymnasium.wrappers.FlattenObservation."
        )
    dummy = DummyVecEnv([partial(_same, slot) for slot in slots])
    if not (settings.normalise or settings.normalise_reward):
        return TrainingEnvs(slots, dummy, dummy, None, desk)
    normalise = VecNormalize(
        dummy,
        norm_obs=settings.normalise,
        norm_reward=settings.normalise_reward,
        gamma=settings.gamma,
    )
    return TrainingEnvs(slots, dummy, normalise, normalise, desk)


def training_seed(
    root: int, scenario_digest: str, claims_digest: str, slot: int, episode: int
) -> int:
    """Seed of training episode `episode` of `slot` (stream "train")."""
    return episode_seed(root, "", scenario_digest, claims_digest, "train", slot, episode)


def _same(slot: TrainingSlot) -> TrainingSlot:
    return slot


def _slot_document(slot: TrainingSlot, prefix_digest: str) -> dict[str, Any]:
    start = slot.start
    return {
        "episode": start.episode,
        "seed": str(start.seed),
        "options": dict(start.options),
        "replay": None if start.replay is None else start.replay.to_json(),
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
        )
    except (KeyError, TypeError, ValueError) as error:
        raise PolicyError(f"A stored environment state is malformed: {error!r}.") from error
