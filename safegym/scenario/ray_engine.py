"""Ray as the engine of a campaign: chunks of episodes on the nodes of a cluster.

A chunk is a pure unit of work: scenario and policy cross by reference and digest, and nothing but
them and the episodes' seeds decides the traces. So a chunk whose node or worker died is simply run
again, elsewhere and with more care.
"""

import logging
import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from safegym.errors import ScenarioError, UnsupportedError
from safegym.policy.base import Policy
from safegym.scenario.process import Order
from safegym.scenario.runner import Finished, Task
from safegym.scenario.staging import Reference, Staging
from safegym.scenario.workers import pickled_policy
from safegym.trace.transport import unpack

TRIES = 5
"""How often a chunk is started before the campaign gives up on the cluster."""
OBJECT_BYTES = 32 * 2**20
"""Most that the traces of one chunk may weigh, unless a single episode weighs more."""
_LOOK_SECONDS = 20.0
_CHUNKS_A_WORKER = 2


@dataclass(slots=True)
class _Chunk:
    """Episodes that are run together on one node."""

    tasks: tuple[Task, ...]
    tries: int = 0


class RayEngine:
    """Runs chunks of up to `copies` episodes, `workers` of them at a time, one processor each.

    Uses the Ray that the caller has initialized, or the cluster that RAY_ADDRESS names, or starts
    one of `workers` processors on this machine: on the loopback interface, without dashboard, logs
    or usage reports. A chunk whose worker or node died is run again, in a child process of its
    worker, where an episode that ends it is found as with worker processes (`workers.Pool`).

    Raises UnsupportedError without Ray, PolicyError and ScenarioError for what cannot cross.
    """

    def __init__(
        self,
        staging: Staging,
        policy: Policy,
        copies: int,
        workers: int,
        *,
        episode_seconds: float | None = None,
    ) -> None:
        self._ray = import_ray()
        reference, pickled = Reference.of(staging), pickled_policy(policy)
        connect(self._ray, workers)
        self._copies, self._limit = copies, workers
        self._most = max(1, min(copies, OBJECT_BYTES // _episode_bytes(staging)))
        orders = [
            Order(reference, pickled, copies, care, episode_seconds) for care in (False, True)
        ]
        self._orders = [self._ray.put(order) for order in orders]
        self._path = self._ray.put(tuple(sys.path))
        self._run = _remote(self._ray)
        self._chunks: dict[Any, _Chunk] = {}

    @property
    def room(self) -> int:
        """How many episodes can be started now."""
        return max(0, _CHUNKS_A_WORKER * self._limit * self._copies - self.running)

    @property
    def running(self) -> int:
        """How many episodes are under way."""
        return sum(len(chunk.tasks) for chunk in self._chunks.values())

    def submit(self, tasks: Sequence[Task]) -> None:
        """Hand episodes out; where workers idle, in chunks so small that each gets some."""
        idle = max(1, self._limit - len(self._chunks))
        size = max(1, min(self._most, -(-len(tasks) // idle)))
        for first in range(0, len(tasks), size):
            self._start(_Chunk(tuple(tasks[first : first + size])))

    def collect(self) -> list[Finished]:
        """Wait for a chunk; returns the episodes of those that are done.

        Raises what a worker refused with, and ScenarioError if a chunk fails again and again or no
        node is left to run it.
        """
        ready, _ = self._ray.wait(
            list(self._chunks), num_returns=1, timeout=_LOOK_SECONDS, fetch_local=False
        )
        if not ready:
            _refuse_no_processor(self._ray)
        more, _ = self._ray.wait(list(self._chunks), num_returns=len(self._chunks), timeout=0)
        finished: list[Finished] = []
        for reference in {*ready, *more}:
            finished += self._take(reference)
        return finished

    def close(self) -> None:
        """Drop what is running; the cluster stays."""
        for reference in self._chunks:
            self._ray.cancel(reference, force=True)
        self._chunks.clear()

    def _start(self, chunk: _Chunk) -> None:
        order = self._orders[min(chunk.tries, 1)]
        chunk.tries += 1
        self._chunks[self._run.remote(order, self._path, chunk.tasks)] = chunk

    def _take(self, reference: Any) -> list[Finished]:
        chunk = self._chunks.pop(reference)
        try:
            error, packed = self._ray.get(reference)
        except self._ray.exceptions.RayError as failure:
            self._again(chunk, failure)
            return []
        if error is not None:
            raise error
        return [(index, unpack(each)) for index, each in packed]

    def _again(self, chunk: _Chunk, failure: Exception) -> None:
        first, last = chunk.tasks[0].index, chunk.tasks[-1].index
        if chunk.tries >= TRIES:
            raise ScenarioError(
                f"The cluster could not run episodes {first}..{last} in {TRIES} tries; the last "
                f"ended with {type(failure).__name__}: {str(failure).splitlines()[0]}"
            ) from failure
        self._start(chunk)


def import_ray() -> Any:
    """Ray, told not to report its use. Raises UnsupportedError, with the line that installs it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Ray warns of while it loads is not the caller's
            import ray
    except ImportError as error:
        raise UnsupportedError(
            'engine="ray" needs Ray, which is not installed: pip install "safegym[ray]", or leave '
            "engine= out and give workers=."
        ) from error
    return ray


def connect(ray: Any, workers: int) -> None:
    """Initialize Ray unless it is: RAY_ADDRESS, else `workers` processors of this machine."""
    if not ray.is_initialized():
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
        address = os.environ.get("RAY_ADDRESS")
        if address:
            ray.init(address=address, **quiet)
        else:
            stay_on_loopback()
            ray.init(
                address="local",
                num_cpus=workers,
                include_dashboard=False,
                _node_ip_address="127.0.0.1",
                **quiet,
            )
    _refuse_no_processor(ray)


def stay_on_loopback() -> None:
    """Makes a Ray of this machine alone use 127.0.0.1, where it would look for an outer address.

    Ray has a switch for this that it only throws on desktops; a version without it is left alone.
    """
    from ray._private import ray_constants

    if hasattr(ray_constants, "ENABLE_RAY_CLUSTER"):
        ray_constants.ENABLE_RAY_CLUSTER = False


def _refuse_no_processor(ray: Any) -> None:
    if ray.cluster_resources().get("CPU", 0) < 1:
        raise ScenarioError(
            "The Ray cluster has no processor to run episodes on: a chunk needs one whole CPU. "
            "Add a node, or start it with num_cpus=1 or more."
        )


def _remote(ray: Any) -> Any:
    """The chunk as a Ray task: one processor, never retried behind our back, spread over nodes."""
    from safegym.scenario.chunks import run_chunk

    return ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(run_chunk)


def _episode_bytes(staging: Staging) -> int:
    """Most that the trace of one episode can weigh: its arrays at full length."""
    stage = staging.stage()
    try:
        spaces = [stage.env.action_space]
        if staging.keep_observations:
            spaces.append(stage.env.observation_space)
        widest = sum(
            int(np.prod(space.shape or ())) * np.dtype(space.dtype).itemsize for space in spaces
        )
    finally:
        stage.env.close()
    numbers = sum(int(np.prod(shape)) for shape in staging.spec.layout.values())
    return (staging.spec.horizon + staging.tail + 1) * (8 * (numbers + 1) + widest + 8)
