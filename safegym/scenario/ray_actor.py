"""An object that lives on Ray and answers commands: a worker on any node of a cluster."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

from safegym.scenario.ray_engine import connect, import_ray


class ActorLost(Exception):
    """The actor or its node is gone; says what Ray says of it."""


class _Host:
    """What runs on the node: makes the object, then passes commands on to it."""

    def __init__(
        self, path: Sequence[str], make: Callable[..., Callable[..., bytes]], arguments: Any
    ) -> None:
        sys.path.extend(folder for folder in path if folder not in sys.path)
        self._answer = make(*arguments)

    def answer(self, command: str, value: Any) -> bytes:
        """What the object answers."""
        return self._answer(command, value)


class RayActor:
    """An actor that answers commands one after another.

    Uses the Ray that the caller has initialized, or the cluster that RAY_ADDRESS names, or starts
    one of `processors` on this machine, as `RayEngine` does. The actor reserves no processor: it
    works while campaigns on the same cluster rest, and the other way round.

    make: module-level function; make(*arguments) runs on the node and returns what answers
    (command, value) with bytes. Raises UnsupportedError without Ray.
    """

    def __init__(
        self,
        make: Callable[..., Callable[..., bytes]],
        arguments: tuple[Any, ...],
        *,
        processors: int,
    ) -> None:
        self._ray = import_ray()
        connect(self._ray, processors)
        host = self._ray.remote(num_cpus=0, max_restarts=0, scheduling_strategy="SPREAD")(_Host)
        self._actor = host.remote(tuple(sys.path), make, arguments)
        self._waiting: Any = None

    def send(self, command: str, value: Any) -> None:
        """Hand out a command. Raises ActorLost."""
        try:
            self._waiting = self._actor.answer.remote(command, value)
        except self._ray.exceptions.RayError as error:
            raise ActorLost(_said(error)) from error

    def receive(self, seconds: float) -> bytes:
        """Wait for the answer. Raises ActorLost, or TimeoutError after that many seconds."""
        try:
            answer: bytes = self._ray.get(self._waiting, timeout=seconds)
        except self._ray.exceptions.GetTimeoutError as error:
            raise TimeoutError from error
        except self._ray.exceptions.RayError as error:
            raise ActorLost(_said(error)) from error
        return answer

    def end(self) -> None:
        """End the actor, whatever it is doing; the cluster stays."""
        if self._ray.is_initialized():
            self._ray.kill(self._actor)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0]}"
