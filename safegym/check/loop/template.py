"""Finding an inductive set: a polytope shaped by the loop's own contraction, grown until it holds.

The directions of the faces come from a quadratic form that the loop contracts (a discrete Lyapunov
equation for a linear fit of simulated steps); their offsets from simulated trajectories. Nothing
here is trusted: the set that comes out is proved by `prove_inductive`, or is not.
"""

import time
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.linalg import solve_discrete_lyapunov, sqrtm

from safegym.check.loop.budget import check_timeout
from safegym.check.loop.inductive import prove_inductive
from safegym.check.loop.plant import Floats, Plant, as_policy_graph, limits
from safegym.check.loop.reach.cells import outward
from safegym.check.loop.result import LoopProof
from safegym.check.loop.sets import StateSet, as_formula, pieces_of, polytope, region_box
from safegym.check.loop.simulate import trajectories
from safegym.check.loop.stating import check_semantics
from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.problem import Semantics
from safegym.check.neural.search import Listener
from safegym.errors import UnsupportedError
from safegym.formula.formulas import Formula

SAMPLES = 2_000
MARGIN = 0.003
"""Share of a face's distance by which one step is to stay inside."""
ROUNDS = 60
FACES = 24
"""Faces of the polygon in two dimensions."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What `find_inductive` came to: the last set that was tried, and the proof about it."""

    formula: Formula
    proof: LoopProof
    tried: int
    seconds: float


def find_inductive(
    plant: Plant,
    policy: Any,
    initial: StateSet,
    safe: StateSet,
    *,
    timeout: float = 60.0,
    semantics: Semantics = "deployed float32",
    workers: int = 1,
    claim_id: str = "loop.inductive",
    seed: int = 0,
    listener: Listener | None = None,
) -> Found:
    """Looks for a set that proves that the loop, from `initial`, stays in `safe` for ever.

    First a level set of the contracted form is grown until one step stays inside and proved; where
    that is too wide to be safe, faces that move one by one. A point that breaks a proof makes the
    set grow further. The proof that is returned says whether it worked.
    timeout: seconds in all. listener: told a few times a second while a set is proved. Raises
    UnsupportedError where the loop contracts nothing that a linear fit shows, or `initial` is not
    bounded.
    """
    began = time.monotonic()
    check_semantics(semantics)
    check_timeout(timeout)
    graph = as_policy_graph(policy, plant)
    start = as_formula(initial, plant, "initial")
    kept = as_formula(safe, plant, "safe")
    search = _Growth(plant, graph, start, np.random.default_rng(seed))
    tried = 0
    while True:
        search.grow()
        held = polytope(plant, *search.rounded())
        tried += 1
        proof = prove_inductive(
            plant,
            graph,
            start,
            kept,
            held,
            timeout=max(timeout - (time.monotonic() - began), 0.001),
            semantics=semantics,
            workers=workers,
            claim_id=claim_id,
            listener=listener,
        )
        broken = {each.name for each in proof.obligations if each.result == "VIOLATED"}
        late = time.monotonic() - began >= timeout
        if proof.result != "VIOLATED" or not broken & {"step", "safe"} or late or tried > ROUNDS:
            return Found(held, proof, tried, time.monotonic() - began)
        if "safe" in broken:
            if not search.level:
                return Found(held, proof, tried, time.monotonic() - began)
            search.free()
        elif proof.witness is not None:
            search.include(proof.witness, plant)


class _Growth:
    """Offsets of faces with fixed directions, grown until one simulated step leaves none behind."""

    def __init__(
        self, plant: Plant, policy: PolicyGraph, start: Formula, draw: np.random.Generator
    ) -> None:
        self._plant, self._policy, self._draw = plant, policy, draw
        boxes = [
            outward(*region_box(piece, "initial")) for piece in pieces_of(start, plant, "initial")
        ]
        if not boxes:
            raise UnsupportedError("The initial set is empty.")
        inside = [low + draw.random((SAMPLES, low.size)) * (high - low) for low, high in boxes]
        corners = [_corners(low, high) for low, high in boxes]
        starts = np.concatenate([*inside, *corners])
        calm = self._run(starts, 40, pushed=False)
        self.centre = np.median(calm[:, -1], axis=0)
        self.directions, self._radii = _directions(self._fit(calm), calm)
        self._seen = self._run(starts, 40).reshape(-1, self.centre.size)
        start_reach = (starts - self.centre) @ self.directions.T
        self.level = True
        self.offsets = np.zeros(len(self.directions))
        self._set_level(float((start_reach / self._radii).max()) * 1.01)

    def free(self) -> None:
        """Faces move for themselves from now on, beginning at what trajectories reach."""
        self.level = False
        self.offsets = (self._seen @ self.directions.T).max(axis=0)
        self._widen(0.05)

    def grow(self) -> None:
        """Offsets to what one step from the set reaches, until that is nothing more."""
        for _ in range(ROUNDS):
            points = self._boundary()
            after = self._run(points, 1)[:, 1]
            reached = (after @ self.directions.T).max(axis=0)
            if (reached <= self.offsets - MARGIN * self._reach()).all():
                return
            self._hold(reached, 2.0 * MARGIN)

    def include(self, witness: Any, plant: Plant) -> None:
        """Grows to hold the state after a step that left the set."""
        state = np.array([witness.signals[signal.name][-1] for signal in plant.states])
        self._hold(self.directions @ state, 0.03)

    def _hold(self, reached: Floats, share: float) -> None:
        if self.level:
            reach = (reached - self.directions @ self.centre) / self._radii
            level = max(float(reach.max()), float((self._reach() / self._radii).max()))
            self._set_level(level * (1.0 + share))
        else:
            self.offsets = np.maximum(self.offsets, reached)
            self._widen(share)

    def _set_level(self, level: float) -> None:
        self.offsets = self.directions @ self.centre + max(level, 1e-9) * self._radii

    def rounded(self) -> tuple[Floats, Floats]:
        """Directions and offsets with few digits; any numbers do, since the set is proved."""
        scale = np.abs(self.directions).max(axis=1, keepdims=True)
        rows = np.round(self.directions / scale, 4)
        bounds = (
            self.centre @ rows.T + (self.offsets - self.centre @ self.directions.T) / scale[:, 0]
        )
        return rows, np.array([float(f"{bound:.6g}") for bound in bounds])

    def _reach(self) -> Floats:
        found: Floats = self.offsets - self.directions @ self.centre
        return found

    def _widen(self, share: float) -> None:
        self.offsets = self.offsets + share * np.maximum(self._reach(), 1e-9)

    def _boundary(self) -> Floats:
        """Points on the set's faces, along random rays from its middle, and some within."""
        widths = np.abs(self.directions).max(axis=0) + 1e-12
        rays = self._draw.standard_normal((SAMPLES, self.centre.size)) / widths
        along = rays @ self.directions.T
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(along > 0.0, self._reach() / along, np.inf).min(axis=1)
        part = np.where(self._draw.random(SAMPLES) < 0.8, 1.0, self._draw.random(SAMPLES))
        found: Floats = self.centre + rays * (room * part)[:, None]
        return found

    def _run(self, starts: Floats, steps: int, *, pushed: bool = True) -> Floats:
        """Trajectories under corners of the disturbances, or under their middle."""
        low, high = limits(self._plant.disturbances)
        if not pushed:
            low = high = 0.5 * low + 0.5 * high
        corner = self._draw.random((len(starts), 1, low.size)) < 0.5
        held = np.broadcast_to(np.where(corner, low, high), (len(starts), steps, low.size))
        states, _ = trajectories(self._plant, self._policy, starts, steps, held)
        if not np.isfinite(states).all():
            raise UnsupportedError(
                f"Simulated trajectories of {self._plant.name} leave the finite numbers; this "
                "loop has no such set."
            )
        return states

    def _fit(self, states: Floats) -> Floats:
        """The matrix of a linear fit of one step, (n, n)."""
        n = self.centre.size
        before = states[:, :-1].reshape(-1, n) - self.centre
        after = states[:, 1:].reshape(-1, n) - self.centre
        known = np.concatenate([before, np.ones((len(before), 1))], axis=1)
        found, *_ = np.linalg.lstsq(known, after, rcond=None)
        matrix: Floats = np.asarray(found[:n].T, dtype=np.float64)
        return matrix


def _directions(matrix: Floats, states: Floats) -> tuple[Floats, Floats]:
    """Faces' normals (r, n), and how far the ball of the contracted quadratic form reaches, (r,).

    They are evenly spread where that form is a ball.
    """
    size = len(matrix)
    largest = float(np.abs(np.linalg.eigvals(matrix)).max())
    if largest >= 1.0:
        raise UnsupportedError(
            f"A linear fit of simulated steps has spectral radius {largest:.3f}, so that no "
            "quadratic form shrinks; the loop may not be stable. Give a set yourself "
            "(prove_inductive)."
        )
    spread = states.reshape(-1, size).std(axis=0) + 1e-9
    weight = np.diag(1.0 / spread**2)
    # Of the matrix over a rate just above its radius, so that the form shrinks at that rate in
    # every direction.
    rate = largest + 0.2 * (1.0 - largest)
    form = solve_discrete_lyapunov(matrix.T / rate, weight)
    root = np.real(sqrtm(form))
    rows = np.concatenate([_unit_directions(size) @ root, *_own_directions(matrix)])
    radii = np.sqrt(np.einsum("rn,nm,rm->r", rows, np.linalg.inv(form), rows))
    return rows, radii


def _own_directions(matrix: Floats) -> list[Floats]:
    """Left eigenvectors of real eigenvalues, both ways: faces that only scale in one step."""
    values, vectors = np.linalg.eig(matrix.T)
    real = [np.real(vectors[:, at]) for at in range(len(values)) if abs(values[at].imag) < 1e-9]
    return [np.stack([each, -each]) for each in real]


def _unit_directions(size: int) -> Floats:
    if size == 1:
        return np.array([[1.0], [-1.0]])
    if size == 2:
        angles = 2.0 * np.pi * np.arange(FACES) / FACES
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
    axes = np.eye(size)
    listed = [axes, -axes]
    for one, two in combinations(range(size), 2):
        for sign in (1.0, -1.0):
            diagonal = (axes[one] + sign * axes[two]) / np.sqrt(2.0)
            listed += [diagonal[None], -diagonal[None]]
    return np.concatenate(listed)


def _corners(low: Floats, high: Floats) -> Floats:
    """The corners of a box, the first 1024 of them."""
    count = min(2**low.size, 1024)
    bits = (np.arange(count)[:, None] >> np.arange(min(low.size, 10))) & 1
    picks = np.zeros((count, low.size), dtype=np.int64)
    picks[:, : min(low.size, 10)] = bits
    return np.where(picks == 1, high, low)
