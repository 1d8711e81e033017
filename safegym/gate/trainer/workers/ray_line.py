"""The line to a worker that lives on Ray: an actor on any node, with a block of slots."""

import pickle
from collections.abc import Callable
from typing import Any

from safegym.gate.trainer.workers.block import NO_SLOT, Block, BlockOrder
from safegym.gate.trainer.workers.line import Answer, LostWorker
from safegym.scenario.process import as_ours
from safegym.scenario.ray_actor import ActorLost, RayActor

_READY = "ready"


class RayLine:
    """A worker on a Ray cluster. Its first answer is "ready"."""

    def __init__(self, order: BlockOrder, processors: int) -> None:
        self._actor = RayActor(_block_of, (order,), processors=processors)
        self._actor.send(_READY, None)

    def send(self, command: str, value: Any) -> None:
        """Hand out a command. Raises LostWorker."""
        try:
            self._actor.send(command, value)
        except ActorLost as lost:
            raise LostWorker(str(lost)) from lost

    def receive(self, seconds: float) -> Answer:
        """Wait for the answer. Raises LostWorker, or TimeoutError after that many seconds."""
        try:
            answer: Answer = pickle.loads(self._actor.receive(seconds))
        except ActorLost as lost:
            raise LostWorker(str(lost)) from lost
        return answer

    @property
    def busy_slot(self) -> int:
        """Not known: no memory is shared with another machine."""
        return NO_SLOT

    def end(self) -> None:
        """End the actor, whatever it is doing."""
        self._actor.end()


def hire_on_ray(workers: int) -> Callable[[BlockOrder], RayLine]:
    """What makes a worker of each order, on a cluster for that many."""

    def hire(order: BlockOrder) -> RayLine:
        return RayLine(order, workers)

    return hire


def _block_of(order: BlockOrder) -> Callable[[str, Any], bytes]:
    """On the node: the block, or what answers every command with why it cannot be made."""
    try:
        block = Block(order, [NO_SLOT])
    except Exception as error:
        fault = pickle.dumps(("fault", as_ours(error)))
        return lambda command, value: fault

    def answer(command: str, value: Any) -> bytes:
        if command == _READY:
            return pickle.dumps((_READY, block.spaces))
        return block.answer(command, value)

    return answer
