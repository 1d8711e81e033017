"""Claims over time, proved on reach sets: reach, avoid, and any other formula of a horizon."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.loop.budget import check_timeout
from safegym.check.loop.exactly import holds_at
from safegym.check.loop.plant import Plant, as_policy_graph, assumptions_of
from safegym.check.loop.polytope import Polytope
from safegym.check.loop.reach.attack import candidates, replayed
from safegym.check.loop.reach.cells import halved, touching
from safegym.check.loop.reach.judging import Instants, judged
from safegym.check.loop.reach.rounding import Array
from safegym.check.loop.reach.stepper import Stepper
from safegym.check.loop.reach.tube import initial_cells, tube
from safegym.check.loop.result import ARITHMETIC, LoopProof, LoopResult, Obligation
from safegym.check.loop.sets import StateSet, as_formula, pieces_of
from safegym.check.loop.stating import Stated, check_semantics, stated
from safegym.check.monitor import judge
from safegym.check.neural.outcome import Shares
from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.problem import Semantics
from safegym.check.neural.search import Listener, Progress
from safegym.check.neural.search.progress import EVERY
from safegym.errors import UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.expression import short
from safegym.formula.flow import Flow
from safegym.formula.formulas import Formula
from safegym.formula.rewrite import look_ahead, to_steps
from safegym.trace.model import Trace

MOST_CELLS = 200_000
AT_ONCE = 2_000
REPLAYS = 8


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked, and what it is asked of."""

    plant: Plant
    policy: PolicyGraph
    what: Stated
    start: Formula
    pieces: tuple[Polytope, ...]
    steps: int
    when: Instants
    semantics: Semantics


def prove_reach(
    plant: Plant,
    policy: Any,
    claim: Claim | Formula | str,
    initial: StateSet,
    *,
    steps: int | None = None,
    when: Instants = "instants",
    cells: int = 400,
    timeout: float = 60.0,
    semantics: Semantics = "deployed float32",
    seed: int = 0,
    listener: Listener | None = None,
) -> LoopProof:
    """Whether every trajectory from the initial states keeps a claim over `steps` control steps.

    claim: any formula over the states, as a monitor judges its samples 0..steps with the horizon
    there. steps: the claim's own horizon by default. when: "instants", or, for a Flow,
    "throughout": `always` also between them. cells: at the start; undecided ones are cut further
    until `timeout` (seconds) or 200000. A violation is only said of a trajectory that was followed
    with all rounding accounted for. listener: told a few times a second of cells looked at, cells
    open, and shares of the initial set. Raises UnsupportedError for what cannot be asked.
    """
    began = time.monotonic()
    check_semantics(semantics)
    check_timeout(timeout)
    graph = as_policy_graph(policy, plant)
    what = stated(claim, plant)
    if when == "throughout" and not isinstance(plant, Flow):
        raise UnsupportedError(
            f"{plant.name} is in discrete time: it has no states between its instants. Declare a "
            'Flow, or write when="instants".'
        )
    start = as_formula(initial, plant, "initial")
    pieces = pieces_of(start, plant, "initial")
    count = _steps(what.formula, plant, steps)
    asked = _Question(plant, graph, what, start, pieces, count, when, semantics)
    search = _Search(asked, seed, began, timeout, listener)
    obligation = search.run(cells)
    limits: dict[str, Any] = {"steps": count, "when": when, "cells": cells, "seed": seed}
    limits |= {"timeout": timeout, "most_cells": MOST_CELLS}
    return _proof(asked, obligation, search.witness, limits, time.monotonic() - began)


class _Search:
    """Cells of the initial set, cut until each is settled."""

    def __init__(
        self,
        asked: _Question,
        seed: int,
        began: float,
        timeout: float,
        listener: Listener | None = None,
    ) -> None:
        self._asked = asked
        self._stepper = Stepper(asked.plant, asked.policy, asked.semantics)
        self._draw = np.random.default_rng(seed)
        self._began, self._timeout = began, timeout
        self._listener, self._told = listener, -np.inf
        self._trouble = ""
        self._cells = 0
        self._left = 1.0
        self.witness: Trace | None = None

    def run(self, cells: int) -> Obligation:
        """The obligation that every trajectory keeps the formula."""
        low, high = initial_cells(self._asked.pieces, cells)
        scale = np.maximum(high.max(axis=0) - low.min(axis=0), 1e-300)
        whole = _volume(low, high, scale)
        while len(low):
            open_ = ~self._held(low, high)
            self._cells += len(low)
            low, high = low[open_], high[open_]
            if not len(low):
                break
            self._left = _volume(low, high, scale) / whole
            if self._is_broken(low, high):
                return self._obligation("VIOLATED", "a trajectory breaks it", self._left)
            why = self._stop(low, high)
            if why:
                return self._obligation("UNKNOWN", why, self._left)
            low, high = halved(low, high, scale)
            kept = np.zeros(len(low), dtype=np.bool_)
            for piece in self._asked.pieces:
                kept |= touching(piece, low, high)
            low, high = low[kept], high[kept]
        return self._obligation("PROVED", "", 0.0)

    def _held(self, low: Array, high: Array) -> NDArray[np.bool_]:
        """Which cells keep the formula on every trajectory; none of those out of time."""
        held = np.zeros(len(low), dtype=np.bool_)
        for first in range(0, len(low), AT_ONCE):
            if self._late():
                break
            self._tell(first, len(low) - first)
            part = slice(first, first + AT_ONCE)
            try:
                found = tube(self._stepper, low[part], high[part], self._asked.steps)
            except UnsupportedError as error:
                self._trouble = str(error)
                continue
            keeps = judged(self._asked.what.formula, found, self._asked.when)[0]
            held[part] = True
            held[first + found.origins[~keeps]] = False
        return held

    def _is_broken(self, low: Array, high: Array) -> bool:
        asked = self._asked
        found = candidates(
            asked.plant, asked.policy, asked.what.formula, low, high, asked.steps, self._draw
        )
        for each in found[:REPLAYS]:
            if holds_at(asked.start, asked.plant.states, list(each.start)) is not True:
                continue
            trace = replayed(self._stepper, asked.policy, asked.what.formula, each, asked.when)
            if trace is not None:
                self.witness = trace
                return True
        return False

    def _stop(self, low: Array, high: Array) -> str:
        """Why no further cut is made, empty where one is."""
        why = ""
        if self._late():
            why = f"the time limit of {self._timeout:g} s was reached"
        elif 2 * len(low) > MOST_CELLS:
            why = f"the limit of {MOST_CELLS} cells was reached"
        elif not (high > low).any():
            why = "the cells left are single points"
        if not why:
            return ""
        more = f"; {self._trouble}" if self._trouble else ""
        return f"{why} with {len(low)} cells undecided{more}"

    def _tell(self, done: int, open_: int) -> None:
        now = time.monotonic()
        if self._listener is not None and now - self._told >= EVERY:
            self._told = now
            shares = self._shares(self._left)
            seconds = now - self._began
            self._listener(Progress(self._cells + done, open_, seconds, shares))

    @staticmethod
    def _shares(left: float) -> Shares:
        """left: of the initial set's volume. A trajectory that breaks it has no volume."""
        unknown = min(max(left, 2.0**-53 if left > 0.0 else 0.0), 1.0)
        return Shares(1.0 - unknown, 0.0, unknown)

    def _late(self) -> bool:
        return time.monotonic() - self._began > self._timeout

    def _obligation(self, result: LoopResult, why: str, left: float) -> Obligation:
        asked = self._asked
        where = "at and between" if asked.when == "throughout" else "at"
        point: tuple[float, ...] = ()
        if self.witness is not None:
            point = tuple(float(self.witness.signals[each.name][0]) for each in asked.plant.states)
        return Obligation(
            name="every trajectory",
            statement=(
                f"every trajectory from {short(asked.start)} keeps {short(asked.what.formula)} "
                f"{where} the control instants of {asked.steps} steps"
            ),
            result=result,
            method="reach sets",
            reason=why,
            seconds=time.monotonic() - self._began,
            boxes=self._cells,
            shares=self._shares(left),
            point=point,
        )


def _steps(formula: Formula, plant: Plant, given: int | None) -> int:
    ahead = look_ahead(to_steps(formula, plant.dt))
    if given is None and ahead < 1:
        raise UnsupportedError(
            f"`{short(formula)}` has no horizon of its own; say over how many control steps of "
            f"{plant.dt} s: steps=20."
        )
    count = ahead if given is None else given
    if not isinstance(count, (int, np.integer)) or count < 1:  # pyright: ignore[reportUnnecessaryIsInstance]  # user input
        raise UnsupportedError(
            f"steps is {count!r:.40}; it must be a whole number of control steps of {plant.dt} s, "
            "at least 1: steps=20."
        )
    return int(count)


def _volume(low: Array, high: Array, scale: Array) -> float:
    """In multiples of scale; flat sides count as a little, so that the sum is never 0."""
    return float(np.prod((high - low) / scale + 1e-12, axis=1).sum())


def _proof(
    asked: _Question,
    obligation: Obligation,
    witness: Trace | None,
    limits: dict[str, Any],
    seconds: float,
) -> LoopProof:
    plant = asked.plant
    said = [*assumptions_of(plant), ARITHMETIC[asked.semantics]]
    if asked.when == "instants" and isinstance(plant, Flow):
        said.append("The claim is judged at the control instants, not between them.")
    said.append(f"Initial states: {asked.start}. Horizon: {asked.steps} steps of {plant.dt} s.")
    verdict = None
    if witness is not None and asked.when == "instants":
        verdict = judge(asked.what.formula, witness)
    return LoopProof(
        kind="reach sets",
        result=obligation.result,
        claim_id=asked.what.claim_id,
        claim_digest=asked.what.digest,
        text=str(asked.what.formula),
        plant=plant.name,
        plant_digest=plant.digest,
        policy=asked.policy.name,
        policy_digest=asked.policy.digest,
        semantics=asked.semantics,
        obligations=(obligation,),
        assumptions=tuple(said),
        reason=obligation.reason,
        seconds=seconds,
        limits=limits,
        witness=witness,
        verdict=verdict,
    )
