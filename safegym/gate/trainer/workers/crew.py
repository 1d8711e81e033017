"""The workers of a run, each with its slots: commands to all of them, and replacements.

Commands go out to all workers at once and their answers are taken in the order of the slots, so
that nothing depends on who was quicker. A worker that dies is replaced: its open episodes are run
again from their seeds and actions, what came out is compared with what the driver saw, and the
command that was under way is given again.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from safegym.errors import GateError
from safegym.gate.trainer.slots import SlotRecipe
from safegym.gate.trainer.workers.block import BlockOrder, Recalled
from safegym.gate.trainer.workers.line import Line, LostWorker, ProcessLine
from safegym.gate.trainer.workers.plan import RolloutWorkers
from safegym.gate.trainer.workers.remote import RemoteSlot

TRIES = 3
"""Workers that may die over the same command."""
_START_SECONDS = 120.0

Command = tuple[str, Any]


class Crew:
    """Runs commands on every worker; `spaces` are those of the environments."""

    def __init__(
        self,
        recipe: SlotRecipe,
        slots: Sequence[RemoteSlot],
        plan: RolloutWorkers,
    ) -> None:
        self.blocks = plan.blocks(len(slots))
        self._slots, self._seconds = slots, plan.seconds
        self._orders = [BlockOrder.of(recipe, block) for block in self.blocks]
        self._hire = _hire(plan)
        self.lines: list[Line] = []
        try:
            self.lines.extend(map(self._hire, self._orders))
            spaces = [self._started(number) for number in range(len(self.lines))]
        except BaseException:
            self.close()
            raise
        self.spaces: tuple[Any, Any] = spaces[0]
        self._pending: Mapping[int, Command] = {}

    def begin(self, commands: Mapping[int, Command]) -> None:
        """Hand out one command to each worker named."""
        self._pending = commands
        for number, command in commands.items():
            self._send(number, command)

    def answers(self) -> dict[int, Any]:
        """Wait for the answers to `begin`, by worker, in order. Raises what a worker raised."""
        return {number: self._answer(number, *self._pending[number]) for number in self._pending}

    def all(self, commands: Mapping[int, Command]) -> dict[int, Any]:
        """Hand out commands and wait for the answers."""
        self.begin(commands)
        return self.answers()

    def close(self) -> None:
        """End every worker."""
        for line in self.lines:
            line.end()
        self.lines.clear()

    def _started(self, number: int) -> Any:
        try:
            return self._wait(number, max(_START_SECONDS, self._seconds), "be made")
        except LostWorker as lost:
            raise GateError(
                f"A rollout worker died while it started ({lost}). Leave rollout_workers out to "
                "see why. If this is a script, its main part must stand under "
                '`if __name__ == "__main__":`.'
            ) from lost

    def _answer(self, number: int, name: str, value: Any) -> Any:
        for _ in range(TRIES - 1):
            try:
                return self._wait(number, self._seconds_for(name, value), f'answer "{name}"')
            except LostWorker:
                with suppress(LostWorker):  # told when its answer is waited for
                    self._replace(number)
                    self._send(number, (name, value))
        try:
            return self._wait(number, self._seconds_for(name, value), f'answer "{name}"')
        except LostWorker as lost:
            raise self._given_up(number, lost) from lost

    def _seconds_for(self, name: str, value: Any) -> float:
        """Episodes that are run again may take that long for each of their steps."""
        steps = max((len(taken) for _, _, taken in value), default=0) if name == "resume" else 0
        return self._seconds * (steps + 1)

    def _wait(self, number: int, seconds: float, what: str) -> Any:
        try:
            kind, found = self.lines[number].receive(seconds)
        except TimeoutError:
            raise self._hangs(number, seconds, what) from None
        if kind == "fault":
            raise found
        return found

    def _send(self, number: int, command: Command) -> None:
        with suppress(LostWorker):  # told by its answer
            self.lines[number].send(*command)

    def _replace(self, number: int) -> None:
        """A fresh worker, with the open episodes of the lost one run again."""
        self.lines[number].end()
        self.lines[number] = self._hire(self._orders[number])
        self._wait(number, max(_START_SECONDS, self._seconds), "be made")
        opened = [self._slots[slot] for slot in self.blocks[number] if self._slots[slot].is_open]
        if not opened:
            return
        again = [(slot.slot, slot.start, slot.taken()) for slot in opened]
        self.lines[number].send("resume", again)
        recalled: list[Recalled] = self._wait(
            number, self._seconds_for("resume", again), "run its open episodes again"
        )
        for slot, each in zip(opened, recalled, strict=True):
            slot.check_same(each)

    def _hangs(self, number: int, seconds: float, what: str) -> GateError:
        where = self._where(number)
        return GateError(
            f"A rollout worker did not {what} within {seconds:g} s: {where}. The last checkpoint "
            "is kept. Run that seed alone to find out why its environment hangs, or give more time."
        )

    def _given_up(self, number: int, lost: LostWorker) -> GateError:
        return GateError(
            f"{TRIES} rollout workers in turn died at the same step ({lost}): "
            f"{self._where(number)}. The last checkpoint is kept. Run that seed alone, without "
            "rollout_workers, to find out why its environment ends its process."
        )

    def _where(self, number: int) -> str:
        busy = self.lines[number].busy_slot
        slots = [self._slots[busy]] if busy >= 0 else [self._slots[s] for s in self.blocks[number]]
        return "; ".join(
            f"slot {slot.slot}, training episode {slot.start.episode} (seed {slot.start.seed})"
            for slot in slots
        )


def _hire(plan: RolloutWorkers) -> Callable[[BlockOrder], Line]:
    if plan.engine == "ray":
        from safegym.gate.trainer.workers.ray_line import hire_on_ray

        return hire_on_ray(plan.workers)
    return ProcessLine
