"""Branch and bound over a problem's region, by batches of boxes."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from safegym.check.neural.outcome import Leaf, SearchOutcome, SearchResult, Shares
from safegym.check.neural.problem import Problem
from safegym.check.neural.search.attack import Attack, Candidate
from safegym.check.neural.search.branching import midpoint
from safegym.check.neural.search.crew import Crew
from safegym.check.neural.search.examine import CHUNK, Chunk, Examined
from safegym.check.neural.search.frontier import Boxes, Frontier, Integers
from safegym.check.neural.search.grove import BYTES, Grove
from safegym.check.neural.search.leaf import LeafSolver
from safegym.check.neural.search.posed import check_posed, work_of
from safegym.check.neural.search.progress import Limits, Listener, Progress

MEMORY = 2 << 30  # bytes
_CHUNKS = 4  # in a batch
_LEAST = 32  # boxes in a chunk where a batch has more
_WORK = 4e9  # multiplications that a chunk should not pass
_ATTACK_EVERY = 4  # rounds
_EVOLVE_AT = 4000  # boxes, and then at each doubling
_POPULATION, _GENERATIONS = 8192, 24
_SHRUNK = 0.5  # share below which a box that was cut is bounded again before it is split
_PROVED = "Every box of the region is closed by a certified bound."
_PROVED_Z3 = "Every box of the region is closed by a certified bound or by z3."
_STOPPED = "Interrupted (Ctrl-C)."

Replay = Callable[[np.ndarray], bool]


def search(
    problem: Problem,
    *,
    timeout: float = 60.0,
    boxes: int | None = None,
    memory: int = MEMORY,
    workers: int = 1,
    keep_tree: bool = False,
    listener: Listener | None = None,
    replay: Callable[[np.ndarray], bool] | None = None,
) -> SearchOutcome:
    """Prove the problem on its region, find a candidate that violates it, or say why neither.

    PROVED only if certified bounds close every box of the region, each rounded outward.
    COUNTEREXAMPLE gives a point of the exact region at which a clause fails in binary64; it is for
    the caller to replay. replay: a test of that kind, so that candidates which it refuses do not
    end the search. timeout: seconds; boxes: at most so many are examined; memory: bytes, about;
    workers: processes, this one among them, which change the time and nothing else; more than 4
    are as good as 4. keep_tree: keep the tree of boxes of each clause. listener: called a few times
    a second. A limit, and Ctrl-C, end in UNKNOWN with the reason named and the shares so far.

    Raises UnsupportedError for a region without a box, a clause about an output that is not there,
    or limits that are not positive.
    """
    check_posed(problem, timeout, boxes, memory, workers)
    limits = Limits(timeout, boxes, memory)
    # numbers that leave binary64 end as bounds that prove nothing
    with np.errstate(all="ignore"), Crew(problem, min(workers, _CHUNKS)) as crew:
        run = _Run(problem, limits, crew, keep_tree, listener, replay)
        return run.outcome()


@dataclass(slots=True)
class _Run:
    problem: Problem
    limits: Limits
    crew: Crew
    keep_tree: bool
    listener: Listener | None
    replay: Callable[[np.ndarray], bool] | None
    examined: int = 0
    rounds: int = 0
    refused: int = 0
    evolve_at: int = _EVOLVE_AT
    stuck: int = 0
    stuck_share: float = 0.0
    stuck_failing: float = 0.0
    by_z3: int = 0
    found: Candidate | None = None
    before: tuple[Boxes, int, float, float] = field(init=False)
    grove: Grove = field(init=False)
    frontier: Frontier = field(init=False)
    attack: Attack = field(init=False)
    leaf: LeafSolver = field(init=False)
    chunk: int = field(init=False)
    _asked: set[bytes] = field(default_factory=set[bytes])

    def outcome(self) -> SearchOutcome:
        """The whole search."""
        self.attack = self.crew.examiner.attack
        self.leaf = LeafSolver(self.problem)
        self.chunk = int(np.clip(_WORK / work_of(self.problem.graph), 4, CHUNK))
        self.grove = Grove(self.problem.graph.outputs, len(self.problem.clauses))
        self.frontier = self._root()
        self._remember()
        reason = None
        try:
            while len(self.frontier) and self.found is None:
                held = self.frontier.bytes + (self.grove.count * BYTES if self.keep_tree else 0)
                reason = self.limits.reached(self.examined, held)
                if reason is not None:
                    break
                self._round()
        except KeyboardInterrupt:
            reason = _STOPPED
            self._forget()
        return self._ended(reason)

    def _root(self) -> Frontier:
        low, high = self.problem.region.outward()
        clauses = len(self.problem.clauses)
        many = self.limits.memory // (64 * (len(low) + 4))
        return Frontier(
            Boxes(
                low[None],
                high[None],
                np.ones((1, clauses), dtype=np.bool_),
                np.ones(1),
                np.zeros(1),
                np.zeros(1, dtype=np.int64),
                np.zeros(1, dtype=np.int64),
                np.zeros(1, dtype=np.bool_),
            ).pick(np.full(1, clauses > 0)),
            max(many, _CHUNKS * CHUNK),
        )

    def _round(self) -> None:
        most = _CHUNKS * self.chunk
        if self.limits.boxes is not None:
            most = min(most, self.limits.boxes - self.examined)
        self._remember()
        parts = self._parts(self.frontier.take(most))
        done = self.crew.examine(
            [Chunk(each.low, each.high, each.open, each.depth) for each in parts]
        )
        self.examined += sum(len(each.share) for each in parts)
        for part, each in zip(parts, done, strict=True):
            self._merge(part, each)
        self._remember()
        if self.found is None and len(self.frontier):
            if self.rounds == 0:
                self._consider(self.attack.first())
            elif self.examined >= self.evolve_at:
                self.evolve_at *= 2
                self._consider(self.attack.evolve(_POPULATION, _GENERATIONS, self._late))
            elif self.rounds % _ATTACK_EVERY == 0:
                self._attack_worst()
        self.rounds += 1
        if self.listener is not None and self.limits.due():
            self.listener(
                Progress(self.examined, len(self.frontier), self.limits.seconds, self._shares())
            )

    def _remember(self) -> None:
        self.before = self.frontier.boxes, self.stuck, self.stuck_share, self.stuck_failing

    def _forget(self) -> None:
        """What a round that was broken off did to the boxes: all that was in hand is open again."""
        self.frontier.boxes, self.stuck, self.stuck_share, self.stuck_failing = self.before

    def _late(self) -> bool:
        return self.limits.seconds >= self.limits.timeout

    def _parts(self, boxes: Boxes) -> list[Boxes]:
        """A batch in chunks, whose number does not depend on how many processes there are."""
        total = len(boxes.share)
        size = min(max(-(-total // _CHUNKS), _LEAST), self.chunk)
        return [
            Boxes._make(each[start : start + size] for each in boxes)
            for start in range(0, total, size)
        ]

    def _attack_worst(self) -> None:
        worst = int(np.argmin(self.frontier.boxes.worst))
        low, high = self.frontier.boxes.low[worst], self.frontier.boxes.high[worst]
        self._consider(self.attack.within(low, high, samples=64, starts=8, steps=12))

    def _consider(self, candidate: Candidate | None) -> None:
        if candidate is None or self.found is not None:
            return
        deeper = self.attack.deepen(candidate)
        for each in (deeper, candidate):
            if self.replay is None:
                self.found = each
                return
            key = each.point.tobytes()
            if key in self._asked:
                continue
            self._asked.add(key)
            if self.replay(each.point):
                self.found = each
                return
        self.refused += 1

    def _merge(self, boxes: Boxes, done: Examined) -> None:
        """Book what became of a chunk, and put the halves of what is left on the frontier."""
        numbers = self.grove.book(boxes, done) if self.keep_tree else boxes.number
        self._consider(done.candidate)
        failing = boxes.failing | (done.fails >= 0)
        for at in np.flatnonzero(failing & ~boxes.failing) if self.keep_tree else ():
            self.grove.mark(int(numbers[at]), int(done.fails[at]), Leaf("violated"))
        every = Boxes(
            done.low,
            done.high,
            done.open,
            boxes.share * done.left,
            done.worst,
            boxes.depth,
            numbers,
            failing,
        )
        kept = np.flatnonzero(done.open.any(axis=1))
        kept = np.delete(kept, self._solved(every.pick(kept), done.unstable[kept]))
        stuck = done.dimension[kept] < 0
        self.stuck += int(stuck.sum())
        self.stuck_share += float(every.share[kept[stuck]].sum())
        self.stuck_failing += float(every.share[kept[stuck & failing[kept]]].sum())
        kept = kept[~stuck]
        rest = every.pick(kept)
        again = done.left[kept] < _SHRUNK
        lots = [rest.pick(again)._replace(depth=rest.depth[again] + 1)]
        self.frontier.put(
            Boxes.join([*lots, *self._halved(rest.pick(~again), done.dimension[kept][~again])])
        )

    def _solved(self, boxes: Boxes, unstable: Integers) -> list[int]:
        """Places of boxes on which z3 says that every clause holds."""
        closed: list[int] = []
        for at in self.leaf.worth(boxes, unstable).tolist():
            if self.found is not None:
                break
            answer, point = self.leaf.ask(
                boxes.low[at], boxes.high[at], self.limits.timeout - self.limits.seconds
            )
            if answer == "holds":
                closed.append(at)
                for clause in np.flatnonzero(boxes.open[at]) if self.keep_tree else ():
                    self.grove.mark(int(boxes.number[at]), int(clause), Leaf("z3"))
            elif point is not None:
                self._consider(self.attack.at(point[None]))
        self.by_z3 += len(closed)
        return closed

    def _halved(self, boxes: Boxes, dimension: np.ndarray) -> list[Boxes]:
        every = np.arange(len(dimension))
        point = midpoint(boxes.low, boxes.high)[every, dimension]
        high, low = boxes.high.copy(), boxes.low.copy()
        high[every, dimension] = point
        low[every, dimension] = point
        numbers = np.zeros((2, len(every)), dtype=np.int64)
        if self.keep_tree:
            pairs = [
                self.grove.cut(int(number), int(d), float(p))
                for number, d, p in zip(boxes.number, dimension, point, strict=True)
            ]
            numbers = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        half = boxes._replace(share=0.5 * boxes.share, depth=boxes.depth + 1)
        return [
            half._replace(high=high, number=numbers[0]),
            half._replace(low=low, number=numbers[1]),
        ]

    def _shares(self) -> Shares:
        """Proved is what is not known to be open or violated; never 1 while something is."""
        left = min(self.frontier.share + self.stuck_share, 1.0)
        if left == 0.0 and (len(self.frontier) or self.stuck):
            left = 5e-324
        violated = min(self.frontier.failing_share + self.stuck_failing, left)
        proved = 1.0 - left
        if left > 0.0:
            proved = min(proved, float(np.nextafter(1.0, 0.0)))
        return Shares(proved, violated, left - violated)

    def _ended(self, reason: str | None) -> SearchOutcome:
        notes = list[str]()
        if self.refused:
            notes.append(f"{self.refused} candidates did not replay.")
        if self.by_z3:
            notes.append(f"{self.by_z3} boxes were closed by z3, which no certificate holds.")
        notes += self.crew.notes
        shares, clause, point = self._shares(), None, None
        result: SearchResult
        if self.found is not None:
            result, clause = "COUNTEREXAMPLE", self.found.clause
            point = self.found.point
            point.flags.writeable = False
            text = (
                f"A point that violates clause {clause} was found (margin {self.found.margin:.3g})."
            )
            if self.keep_tree:
                self.grove.violate(point, clause)
        elif reason is not None:
            result, text = "UNKNOWN", reason
        elif self.stuck:  # counted, as a share may be too small for binary64
            result = "UNKNOWN"
            text = "Some boxes can be halved no further in binary64 and are not proved."
        else:
            result, text = "PROVED", _PROVED if self.by_z3 == 0 else _PROVED_Z3
            shares = Shares(1.0, 0.0, 0.0)
        return SearchOutcome(
            result,
            shares,
            self.examined,
            self.limits.seconds,
            text,
            clause,
            point,
            self.grove.trees() if self.keep_tree else (),
            tuple(notes),
        )
