"""The slots of one worker: what it does on each command, and what it answers.

Loads neither torch nor stable-baselines3: a worker is a small process.
"""

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safegym.errors import GateError, ScenarioError
from safegym.gate.replay import ReplayDesk
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.slots import SlotRecipe, Start, TrainingSlot
from safegym.gate.trainer.suspicion import Suspected
from safegym.scenario.process import as_ours
from safegym.scenario.staging import Reference, Staging
from safegym.trace.transport import Packed, pack

NO_SLOT = -1
Infos = list[dict[str, Any]]
Begun = tuple[int, Start]
"""A slot, and how its next episode begins."""


class Stepped(NamedTuple):
    """One step of every slot of a worker, in order.

    observations: of the open episodes; where one ended, its last one, or with `reset` the first of
    the next. ended: place in the block and trace of each episode that ended.
    """

    observations: NDArray[Any]
    rewards: NDArray[np.float32]
    dones: NDArray[np.bool_]
    infos: Infos
    ended: list[tuple[int, Packed]]


class Recalled(NamedTuple):
    """An open episode run again: its last observation and the rewards on the way there."""

    observation: Any
    rewards: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class BlockOrder:
    """What a worker is built from; it crosses as bytes. first, count: its slots."""

    reference: Reference
    settings: bytes
    claims: bytes
    first: int
    count: int

    @classmethod
    def of(cls, recipe: SlotRecipe, slots: range) -> "BlockOrder":
        """Raises GateError if scenario or claims cannot cross to another process."""
        try:
            reference = Reference.of(Staging(recipe.spec))
            claims = pickle.dumps(recipe.claims)
        except (ScenarioError, pickle.PicklingError, AttributeError, TypeError) as error:
            raise GateError(
                f"Scenario {recipe.spec.name} cannot go to rollout workers: {error} "
                "Without rollout_workers its environments are stepped in this process."
            ) from error
        return cls(reference, pickle.dumps(recipe.settings), claims, slots.start, len(slots))

    def recipe(self) -> SlotRecipe:
        """The recipe again. Raises ScenarioError if this process finds another scenario."""
        settings: TrainSettings = pickle.loads(self.settings)
        return SlotRecipe(self.reference.resolve().spec, settings, pickle.loads(self.claims))


class Block:
    """The slots of one worker. cell: cell[0] is set to the slot that is in a call."""

    def __init__(self, order: BlockOrder, cell: Any) -> None:
        recipe = order.recipe()
        self._cell = cell
        self._slots: list[TrainingSlot] = []
        self._suspicions = recipe.suspicions()
        self._commands: dict[str, Callable[[Any], Any]] = {
            "step": self._step,
            "begin": self._begin,
            "prefixes": self._prefixes,
            "suspects": self._suspects,
            "resume": self._resume,
            "each": self._each,
        }
        for number in range(order.first, order.first + order.count):
            cell[0] = number
            self._slots.append(recipe.make(number, ReplayDesk()))
        cell[0] = NO_SLOT
        env = self._slots[0]
        self.spaces = (env.observation_space, env.action_space)
        self._dtype = env.observation_space.dtype

    def answer(self, command: str, value: Any) -> bytes:
        """Pickled ("done", what came out), or ("fault", the error)."""
        try:
            found = self._commands[command](value)
            return _pickled("done", found)
        except Exception as error:
            return _pickled("fault", as_ours(error))
        finally:
            self._cell[0] = NO_SLOT

    def close(self) -> None:
        """Close the environments."""
        for slot in self._slots:
            slot.close()

    def _step(self, value: tuple[NDArray[Any], bool]) -> Stepped:
        """Step each slot; with the flag, begin a fresh episode at once where one ended."""
        actions, fresh = value
        count = len(self._slots)
        rewards, dones = np.zeros(count, np.float32), np.zeros(count, np.bool_)
        seen: list[Any] = []
        infos: Infos = []
        ended: list[tuple[int, Packed]] = []
        for place, slot in enumerate(self._slots):
            self._cell[0] = slot.slot
            observation, reward, terminated, truncated, info = slot.step(actions[place])
            rewards[place], dones[place] = reward, terminated or truncated
            info["TimeLimit.truncated"] = truncated and not terminated
            if dones[place]:
                info["terminal_observation"] = observation
                ended.append((place, pack(slot.finished.pop().trace)))
                if fresh:
                    observation, _ = slot.reset()
            seen.append(np.array(observation))
            infos.append(info)
        return Stepped(self._stacked(seen), rewards, dones, infos, ended)

    def _begin(self, begun: Sequence[Begun]) -> list[Any]:
        return [np.array(self._at(number).begin(start)[0]) for number, start in begun]

    def _prefixes(self, _: None) -> list[tuple[str, Any]]:
        """Each open episode so far, or the error that it has."""
        found: list[tuple[str, Any]] = []
        for slot in self._slots:
            try:
                found.append(("done", pack(slot.prefix())))
            except Exception as error:
                found.append(("fault", as_ours(error)))
        return found

    def _suspects(self, rows: Sequence[int]) -> list[Suspected]:
        return self._suspicions.of(self._slots, rows)

    def _resume(self, opened: Sequence[tuple[int, Start, NDArray[Any]]]) -> list[Recalled]:
        recalled: list[Recalled] = []
        for number, start, actions in opened:
            observation = self._at(number).resume(start, actions)
            rewards = self._at(number).recorder.prefix().rewards.astype(np.float32)
            recalled.append(Recalled(np.array(observation), rewards))
        return recalled

    def _each(self, value: tuple[Callable[..., Any], Sequence[int], tuple[Any, ...]]) -> list[Any]:
        """Call a module-level function with each of these slots."""
        function, numbers, arguments = value
        return [function(self._at(number), *arguments) for number in numbers]

    def _at(self, number: int) -> TrainingSlot:
        self._cell[0] = number
        return self._slots[number - self._slots[0].slot]

    def _stacked(self, seen: list[Any]) -> NDArray[Any]:
        return np.stack(seen).astype(self._dtype, copy=False)


def _pickled(kind: str, found: Any) -> bytes:
    """The answer as bytes; infos leave behind what does not pickle."""
    try:
        return pickle.dumps((kind, found), pickle.HIGHEST_PROTOCOL)
    except Exception:
        if not isinstance(found, Stepped):
            raise
    for info in found.infos:
        for key in [key for key, item in info.items() if not _pickles(item)]:
            del info[key]
    return pickle.dumps((kind, found), pickle.HIGHEST_PROTOCOL)


def _pickles(value: Any) -> bool:
    try:
        pickle.dumps(value)
    except Exception:
        return False
    return True
