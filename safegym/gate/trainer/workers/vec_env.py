"""The vector environment whose slots run in workers; to the learner it is a DummyVecEnv."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices

from safegym.errors import GateError
from safegym.gate.replay import ReplayDesk
from safegym.gate.trainer.slots import Slot, SlotRecipe, Start, next_start
from safegym.gate.trainer.suspicion import Suspected
from safegym.gate.trainer.workers.asking import attribute_of, called_on, is_wrapped
from safegym.gate.trainer.workers.block import Begun, Recalled, Stepped
from safegym.gate.trainer.workers.crew import Crew
from safegym.gate.trainer.workers.plan import RolloutWorkers
from safegym.gate.trainer.workers.remote import RemoteSlot
from safegym.trace.model import Trace
from safegym.trace.transport import unpack

Step = tuple[NDArray[Any], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]
"""Observations, rewards, ends of episodes and infos, one a slot."""


class WorkerVecEnv(VecEnv):
    """Steps the slots of a run in workers; gives what a DummyVecEnv of the same slots gives.

    recipe: what decides each slot. desk: hands out replays, always here and in the order of the
    slots. plan: how many workers, and where. Raises GateError for more workers than slots, for a
    scenario that cannot cross to them, and where a worker hangs or keeps dying.
    """

    def __init__(self, recipe: SlotRecipe, desk: ReplayDesk, plan: RolloutWorkers) -> None:
        count = recipe.settings.n_envs
        self._remote = tuple(RemoteSlot(number, self._prefix) for number in range(count))
        self.slots: tuple[Slot, ...] = self._remote
        self._desk, self._seed_of = desk, recipe.seed_of
        self._prefixes: list[tuple[str, Any]] | None = None
        self._actions: NDArray[Any] = np.zeros(0)
        self._fresh = False
        self.crew = Crew(recipe, self._remote, plan)
        observation_space, action_space = self.crew.spaces
        self._seen = np.zeros((count, *observation_space.shape), observation_space.dtype)
        super().__init__(count, observation_space, action_space)

    def reset(self) -> NDArray[Any]:
        """Begin an episode in every slot; seeds and options given to the vector are ignored."""
        self._begin(self._remote)
        self._reset_seeds()
        self._reset_options()
        return self._seen.copy()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Hand out the actions, one a slot."""
        self._actions, self._prefixes = actions, None
        self._fresh = surely_fresh(self._desk)
        self.crew.begin(
            {
                number: ("step", (actions[block.start : block.stop], self._fresh))
                for number, block in enumerate(self.crew.blocks)
            }
        )

    def step_wait(self) -> Step:
        """Wait for every worker; slots whose episode ended begin their next one."""
        parts: list[Stepped] = list(self.crew.answers().values())
        rewards = np.concatenate([part.rewards for part in parts])
        dones = np.concatenate([part.dones for part in parts])
        infos = [info for part in parts for info in part.infos]
        np.concatenate([part.observations for part in parts], out=self._seen)
        for slot, action, reward, seen in zip(
            self._remote, self._actions, rewards, self._seen.copy(), strict=True
        ):
            slot.stepped(action, reward, seen)
        for block, part in zip(self.crew.blocks, parts, strict=True):
            for place, packed in part.ended:
                terms = part.infos[place].get("reward_totals", {})
                self._remote[block.start + place].ended(unpack(packed), terms)
        self._go_on([slot for slot, done in zip(self._remote, dones, strict=True) if done])
        return self._seen.copy(), rewards, dones, infos

    def resume_slots(self, starts: Sequence[Start], actions: Sequence[NDArray[Any]]) -> None:
        """Run every open episode again, one start and one array of actions a slot."""
        opened = list(zip(range(self.num_envs), starts, actions, strict=True))
        self._prefixes = None
        answers = self.crew.all(
            {
                number: ("resume", opened[block.start : block.stop])
                for number, block in enumerate(self.crew.blocks)
            }
        )
        found: list[Recalled] = [each for answer in answers.values() for each in answer]
        for (number, start, taken), recalled in zip(opened, found, strict=True):
            self._remote[number].resumed(start, taken, recalled)
            self._seen[number] = recalled.observation

    def suspects(self) -> list[Suspected]:
        """Which claims to judge each open episode by, for its samples in this rollout."""
        rows = [slot.row for slot in self._remote]
        answers = self.crew.all(
            {
                number: ("suspects", rows[block.start : block.stop])
                for number, block in enumerate(self.crew.blocks)
            }
        )
        return [each for answer in answers.values() for each in answer]

    def close(self) -> None:
        """End the workers."""
        self.crew.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """The attribute of each environment."""
        return self._each(attribute_of, indices, attr_name)

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Refused: a worker that is replaced would not have it."""
        raise GateError(
            f"Environments in rollout workers are not changed from outside ({attr_name}): one that "
            "is replaced would lose it. Leave rollout_workers out, or set it in the scenario."
        )

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """What a method of each environment returns; what it changes is lost with its worker."""
        return self._each(called_on, indices, method_name, method_args, method_kwargs)

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        """Whether each environment is wrapped in that class."""
        return self._each(is_wrapped, indices, wrapper_class)

    def get_images(self) -> Sequence[NDArray[Any] | None]:
        """None of each: workers do not render."""
        return [None] * self.num_envs

    def _go_on(self, over: Sequence[RemoteSlot]) -> None:
        """Begin the next episode of each of these slots; `_fresh` workers have done so."""
        if not self._fresh:
            self._begin(over)
            return
        for slot in over:
            slot.begin(next_start(slot.slot, slot.start.episode + 1, self._desk, self._seed_of))
            slot.began(self._seen[slot.slot].copy())

    def _begin(self, slots: Iterable[RemoteSlot]) -> None:
        """Draw starts in the order of the slots, and begin those episodes in their workers."""
        self._prefixes = None
        begun: list[Begun] = []
        for slot in slots:
            slot.begin(next_start(slot.slot, slot.start.episode + 1, self._desk, self._seed_of))
            begun.append((slot.slot, slot.start))
        by_worker = {
            number: [item for item in begun if item[0] in block]
            for number, block in enumerate(self.crew.blocks)
        }
        answers = self.crew.all(
            {number: ("begin", items) for number, items in by_worker.items() if items}
        )
        for number, observations in answers.items():
            for (place, _), observation in zip(by_worker[number], observations, strict=True):
                self._seen[place] = observation
                self._remote[place].began(self._seen[place].copy())

    def _prefix(self, slot: int) -> Trace:
        """The open episode of a slot; those of all slots are fetched at once."""
        if self._prefixes is None:
            answers = self.crew.all(
                {number: ("prefixes", None) for number in range(len(self.crew.blocks))}
            )
            self._prefixes = [each for answer in answers.values() for each in answer]
        kind, found = self._prefixes[slot]
        if kind == "fault":
            raise found
        return unpack(found)

    def _each(
        self, function: Callable[..., Any], indices: VecEnvIndices, *arguments: Any
    ) -> list[Any]:
        wanted = list(self._get_indices(indices))
        by_worker = {
            number: [slot for slot in wanted if slot in block]
            for number, block in enumerate(self.crew.blocks)
        }
        answers = self.crew.all(
            {
                number: ("each", (function, numbers, arguments))
                for number, numbers in by_worker.items()
                if numbers
            }
        )
        found = {
            slot: value
            for number, values in answers.items()
            for slot, value in zip(by_worker[number], values, strict=True)
        }
        return [found[slot] for slot in wanted]


def surely_fresh(desk: ReplayDesk) -> bool:
    """Whether the next episodes are fresh whoever asks first, so that workers need not ask."""
    return desk.stage is None and (desk.plan is None or not desk.plan.starts)
