"""Worker processes for campaigns: episodes out, traces back, as each of them ends."""

import pickle
import signal
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from multiprocessing import connection

from safegym.errors import PolicyError, ScenarioError
from safegym.policy.base import Policy
from safegym.scenario.lost import imprint_of, lost_trace
from safegym.scenario.process import Order, Worker, hire, release
from safegym.scenario.pulse import BUILDING, IDLE, POLICY, STARTING, over, read
from safegym.scenario.runner import Finished, Task
from safegym.scenario.staging import Reference, Staging
from safegym.trace.transport import unpack

TRIES = 2
"""Worker processes that may die while they start."""
_START_SECONDS = _BUILD_SECONDS = 60.0
_LOOK_SECONDS = 0.05
"""Seconds between looks at the pulses, where an episode may hang."""


@dataclass(slots=True)
class Load:
    """What one worker has to do. alone: it runs one suspect at a time."""

    tasks: dict[int, Task] = field(default_factory=dict[int, Task])
    ready: bool = False
    careful: bool = False
    alone: bool = False


class Pool:
    """Runs episodes in up to `workers` processes, `copies` side by side in each.

    Episodes are handed out a few at a time, to whichever worker has the least to do, so that no
    worker idles while another has a backlog. Processes that are idle at `close` stay for the next
    pool, which spares their start.

    A worker that dies has its unfinished episodes run again. If that dies too, the episode that was
    in a call, or all of them where none was, are run one by one; an episode that ends its worker
    even alone is settled as lost, with the reason, and so is undecided. While that is being found
    out, fewer copies run side by side, so that a lack of memory ends. episode_seconds: what an
    episode may take of its environment's reset and steps in all; one that takes longer, or never
    comes back, is lost, its worker is ended, and its neighbours are run again.

    Raises PolicyError if the policy does not pickle.
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
        self._copies = self._width = copies
        self._limit, self._seconds = workers, episode_seconds
        self._ahead = max(1, copies // 8)
        self._careful = episode_seconds is not None
        self._reference, self._policy = Reference.of(staging), pickled_policy(policy)
        self._imprint = imprint_of(staging.spec)
        self._policy_digest = policy.card.digest
        self._workers: dict[Worker, Load] = {}
        self._queue: deque[Task] = deque()
        self._suspects: deque[Task] = deque()
        self._settled: list[Finished] = []
        self._stillborn = self._strays = self._unbuilt = 0

    @property
    def room(self) -> int:
        """How many episodes can be started now."""
        return max(0, self._limit * (self._copies + self._ahead) - self.running)

    @property
    def running(self) -> int:
        """How many episodes are under way."""
        waiting = len(self._queue) + len(self._suspects) + len(self._settled)
        return waiting + sum(len(load.tasks) for load in self._workers.values())

    def submit(self, tasks: Sequence[Task]) -> None:
        """Hand episodes out."""
        self._queue.extend(tasks)
        self._hand_out()

    def collect(self) -> list[Finished]:
        """Wait for a worker; returns the episodes that ended.

        Raises what a worker refused with, or ScenarioError if workers die before they are ready.
        """
        busy = {worker.line: worker for worker, load in self._workers.items() if load.tasks}
        if not self._settled and busy:
            wait = None if self._seconds is None else min(_LOOK_SECONDS, self._seconds / 4)
            for line in connection.wait(list(busy), wait):
                worker = busy[line]
                try:
                    self._settled += self._receive(worker)
                except (EOFError, OSError):
                    self._bury(worker)
            self._look_for_hangs()
        self._hand_out()
        finished, self._settled = self._settled, []
        return finished

    def close(self) -> None:
        """Let idle workers go for the next pool and end the others; what they run is dropped."""
        self._queue.clear()
        self._suspects.clear()
        for worker, load in self._workers.items():
            if load.tasks or not load.ready:
                worker.end()
            else:
                release(worker)
        self._workers.clear()

    def _receive(self, worker: Worker) -> list[Finished]:
        what, value = worker.line.recv()
        load = self._workers[worker]
        if what == "ready":
            load.ready, self._stillborn = True, 0
            return []
        if what == "fault":
            raise value
        ended = [(index, unpack(packed)) for index, packed in value if index in load.tasks]
        for index, _ in ended:
            del load.tasks[index]
        return ended

    def _hand_out(self) -> None:
        self._hand_out_suspects()
        if self._suspects:
            return  # a worker has to come free for them first
        while self._queue:
            batches = self._share_out()
            if not batches:
                return
            for worker, tasks in batches.items():
                self._send(worker, tasks)

    def _share_out(self) -> dict[Worker, list[Task]]:
        """Tasks from the queue for each worker that has room, the idlest first."""
        batches: dict[Worker, list[Task]] = {}
        if len(self._workers) < min(self._limit, len(self._queue) + len(self._workers)):
            for _ in range(min(self._limit - len(self._workers), len(self._queue))):
                self._hire(alone=False)
        able = [worker for worker in self._workers if self._is_able(worker)]
        room = {worker: self._width + self._ahead - self._count(worker) for worker in able}
        while self._queue and any(free > 0 for free in room.values()):
            worker = max(room, key=room.__getitem__)
            task = self._queue.popleft()
            self._workers[worker].tasks[task.index] = task
            batches.setdefault(worker, []).append(task)
            room[worker] -= 1
        return batches

    def _is_able(self, worker: Worker) -> bool:
        """Whether it takes several episodes; a worker that ran suspects is set up anew."""
        load = self._workers[worker]
        if load.alone and not load.tasks:
            return self._set_up(worker, alone=False)
        return not load.alone

    def _count(self, worker: Worker) -> int:
        return len(self._workers[worker].tasks)

    def _hand_out_suspects(self) -> None:
        while self._suspects:
            worker = next((each for each, load in self._workers.items() if not load.tasks), None)
            if worker is None and len(self._workers) >= self._limit:
                return
            if worker is None:
                worker = self._hire(alone=True)
            elif not self._workers[worker].alone and not self._set_up(worker, alone=True):
                continue
            task = self._suspects.popleft()
            self._workers[worker].tasks[task.index] = task
            self._send(worker, [task])

    def _order(self, alone: bool) -> Order:
        copies = 1 if alone else self._width
        careful = self._careful or alone
        return Order(self._reference, self._policy, copies, careful, self._seconds)

    def _hire(self, *, alone: bool) -> Worker:
        order = self._order(alone)
        worker = hire(order)
        self._workers[worker] = Load(careful=order.careful, alone=alone)
        return worker

    def _set_up(self, worker: Worker, *, alone: bool) -> bool:
        """Tell a worker without episodes to run others; False if it is gone."""
        order = self._order(alone)
        try:
            worker.set_up(order)
        except OSError:
            del self._workers[worker]
            worker.end()
            return False
        self._workers[worker] = Load(careful=order.careful, alone=alone)
        return True

    def _send(self, worker: Worker, tasks: list[Task]) -> None:
        try:
            worker.line.send(("run", tasks))
        except OSError:
            self._bury(worker)

    def _drain(self, worker: Worker) -> None:
        """Takes what a worker had sent before it ended."""
        try:
            while worker.line.poll():
                self._settled += self._receive(worker)
        except (EOFError, OSError):
            return

    def _bury(self, worker: Worker) -> None:
        """A worker died: its episodes are run again, with more care each time."""
        self._drain(worker)
        at, _ = read(worker.cells)
        worker.process.join(1.0)  # its line closed, so it is ending: let it leave its exit code
        load, code = self._workers.pop(worker), worker.process.exitcode
        worker.end()
        if not load.ready:
            self._refuse_stillborn(load, code)
            self._again(load.tasks.values())
        elif load.alone and at == IDLE and self._strays < TRIES:
            self._strays += 1  # it ended between two episodes, so nobody can be blamed
            self._suspects.extendleft(load.tasks.values())
        elif load.alone:
            for task in load.tasks.values():
                self._lose(task, f"its worker process died, also when it ran alone: {_how(code)}")
                self._width = min(self._copies, 2 * self._width)
        elif load.careful:
            self._width = max(1, self._width // 2)
            self._suspect(load, at)
        else:
            self._careful = True
            self._again(load.tasks.values())

    def _suspect(self, load: Load, at: int) -> None:
        """The episode in a call is to be run alone, all of them if none was in one."""
        guilty = [at] if at in load.tasks else list(load.tasks)
        self._suspects.extend(load.tasks.pop(index) for index in guilty)
        self._again(load.tasks.values())

    def _again(self, tasks: Iterable[Task]) -> None:
        self._queue.extendleft(sorted(tasks, key=_index, reverse=True))

    def _refuse_stillborn(self, load: Load, code: int | None) -> None:
        self._stillborn += 1
        if self._stillborn >= TRIES:
            raise ScenarioError(
                f"A worker process died while it started ({_how(code)}), and another did too. "
                f"Run with workers=1 to see why ({len(load.tasks)} episodes wait). If this is a "
                'script, its main part must stand under `if __name__ == "__main__":`.'
            )

    def _look_for_hangs(self) -> None:
        limit = self._seconds
        if limit is None:
            return
        for worker in [each for each, load in self._workers.items() if load.tasks]:
            at, seconds = read(worker.cells)
            if at == STARTING and seconds > max(_START_SECONDS, limit):
                raise ScenarioError(
                    f"A worker process did not get through a first reset and action in "
                    f"{max(_START_SECONDS, limit):g} s; the environment or the policy hangs from "
                    "the start."
                )
            if at == BUILDING and seconds > _BUILD_SECONDS:
                self._refuse_unbuilt()
                self._end_hanging(worker, at, limit)
            elif (at >= 0 or at == POLICY) and seconds > limit:
                self._end_hanging(worker, at, limit)

    def _refuse_unbuilt(self) -> None:
        self._unbuilt += 1
        if self._unbuilt >= TRIES:
            raise ScenarioError(
                f"An environment was not closed and built afresh in {_BUILD_SECONDS:g} s, and "
                "another was not either; make_env or close() hangs."
            )

    def _end_hanging(self, worker: Worker, at: int, limit: float) -> None:
        worker.process.kill()
        self._drain(worker)
        load = self._workers.pop(worker)
        worker.end()
        if at in load.tasks:
            self._lose(load.tasks.pop(at), over(limit))
        elif at == POLICY and load.alone:
            for task in load.tasks.values():
                self._lose(task, f"the policy took more than {limit:g} s for one action; ended")
            load.tasks.clear()
        elif at == POLICY:
            self._suspects.extend(load.tasks.values())
            load.tasks.clear()
        self._again(load.tasks.values())

    def _lose(self, task: Task, reason: str) -> None:
        trace = lost_trace(self._imprint, self._policy_digest, task.seed, task.options, reason)
        self._settled.append((task.index, trace))


def pickled_policy(policy: Policy) -> bytes:
    """The policy's bytes. Raises PolicyError, with the way out, if it does not pickle."""
    try:
        return pickle.dumps(policy)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise PolicyError(
            f"Policy {policy.card.name} cannot go to a worker process: {error}. Define its "
            "function at module level (no lambda), or pass workers=1."
        ) from error


def _index(task: Task) -> int:
    return task.index


def _how(code: int | None) -> str:
    """An exit code in words."""
    if code is not None and code < 0:
        name = signal.Signals(-code).name if -code in signal.valid_signals() else f"signal {-code}"
        memory = ", as the system sends when memory runs out" if name == "SIGKILL" else ""
        return f"{name}{memory}"
    return f"exit code {code}"
