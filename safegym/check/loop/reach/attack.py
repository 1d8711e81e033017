"""Trajectories that may break a formula, found by simulation and replayed without rounding."""

from dataclasses import dataclass

import numpy as np

from safegym.check.loop.plant import Floats, Plant, limits
from safegym.check.loop.reach.judging import Instants, judged
from safegym.check.loop.reach.rounding import Array
from safegym.check.loop.reach.stepper import Stepper
from safegym.check.loop.reach.tube import tube
from safegym.check.loop.simulate import loop_trace, trajectories
from safegym.check.monitor import robustness, satisfaction
from safegym.check.neural.policy import PolicyGraph
from safegym.errors import UnsupportedError
from safegym.formula.formulas import Formula
from safegym.formula.rewrite import margin_scale, nnf
from safegym.trace.batch import TraceBatch
from safegym.trace.model import Trace

MOST_STARTS = 512


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A start (n,) and disturbances (K, k)."""

    start: Floats
    disturbances: Floats


def candidates(
    plant: Plant,
    policy: PolicyGraph,
    formula: Formula,
    low: Array,
    high: Array,
    steps: int,
    draw: np.random.Generator,
) -> list[Candidate]:
    """Starts in the boxes whose simulated trajectory breaks the formula, the clearest first."""
    starts = _starts(low, high, draw)
    acting = _acting(plant, len(starts), steps, draw)
    states, _ = trajectories(plant, policy, starts, steps, acting)
    usable = np.flatnonzero(np.isfinite(states).all(axis=(1, 2)))
    if not usable.size:
        return []
    batch = TraceBatch.from_arrays(
        {signal.name: states[usable, :, at] for at, signal in enumerate(plant.states)},
        dt=plant.dt,
        end="horizon",
        horizon=steps,
        units={signal.name: signal.unit for signal in plant.states},
    )
    _, may = satisfaction(formula, batch)
    broken = np.flatnonzero(~may[:, 0])
    if margin_scale(nnf(formula)).ok:
        broken = broken[np.argsort(robustness(formula, batch)[1][broken, 0])]
    return [Candidate(starts[usable[at]], acting[usable[at]]) for at in broken]


def replayed(
    stepper: Stepper, policy: PolicyGraph, formula: Formula, found: Candidate, when: Instants
) -> Trace | None:
    """The trajectory as a trace, if the plant in real arithmetic surely breaks the formula on it.

    The start is followed as a set of one point, so that every rounding is accounted for.
    """
    steps, point = len(found.disturbances), found.start[None]
    try:
        narrow = tube(stepper, point, point, steps, found.disturbances)
    except UnsupportedError:
        return None
    if not judged(formula, narrow, when)[1].all():
        return None
    states, actions = trajectories(stepper.plant, policy, point, steps, found.disturbances[None])
    return loop_trace(stepper.plant, policy, states[0], actions[0], found.disturbances)


def _starts(low: Array, high: Array, draw: np.random.Generator) -> Floats:
    """The middle, corners and random points of boxes, at most MOST_STARTS in all."""
    rows = np.arange(len(low))
    if len(rows) * 3 > MOST_STARTS:
        rows = draw.choice(rows, MOST_STARTS // 3, replace=False)
    least, most = low[rows], high[rows]
    corners = np.where(draw.random(least.shape) < 0.5, least, most)
    inside = least + draw.random(least.shape) * (most - least)
    listed = np.concatenate([0.5 * least + 0.5 * most, corners, inside])
    found: Floats = np.clip(listed, np.tile(least, (3, 1)), np.tile(most, (3, 1)))
    return found


def _acting(plant: Plant, rows: int, steps: int, draw: np.random.Generator) -> Floats:
    """Disturbances: one corner held throughout, corners that change, and anything between."""
    low, high = limits(plant.disturbances)
    shape = (rows, steps, low.size)
    held = draw.random((rows, 1, low.size)) < 0.5
    changing = draw.random(shape) < 0.5
    kind = draw.integers(0, 3, (rows, 1, 1))
    corner = np.where(np.where(kind == 0, held, changing), low, high)
    inside = np.clip(low + draw.random(shape) * (high - low), low, high)
    return np.where(kind == 2, inside, corner)
