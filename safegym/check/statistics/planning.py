"""Before a run starts: what it will take, and with what chance it ends in a claim."""

from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from safegym.check.statistics.boundary import above_boundary, below_boundary
from safegym.check.statistics.exact import Probability, count, exact_probability, finite_float
from safegym.errors import EvidenceError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Operating:
    """How an e-process ends within a cap when p is known: probabilities, and mean episodes run."""

    below: float
    above: float
    undecided: float
    mean_episodes: float
    below_by: Floats
    """Probability that "below" is claimed within n episodes, shape (cap + 1,), index n."""
    above_by: Floats
    """Probability that "above" is claimed within n episodes, shape (cap + 1,), index n."""


def operating(
    p: float, threshold: Probability, level: Probability, *, cap: SupportsIndex
) -> Operating:
    """How `EProcess(threshold, level)`, looked at after each episode, ends within `cap` episodes.

    Exact dynamic programming over (n, k), no simulation: the chance of each count of violations
    among runs still open is carried from episode to episode; a run that crosses either boundary
    leaves. p in [0, 1] is the true failure probability. Raises EvidenceError for bad arguments.
    """
    truth, episodes = _probability(p), count(cap, "cap")
    null, exact_level = exact_probability(threshold, "threshold"), exact_probability(level, "level")
    kmax = below_boundary(null, exact_level).table(episodes)
    kmin = above_boundary(null, exact_level).table(episodes)
    open_ = np.zeros(int(min(kmin[-1], episodes)) + 1)
    open_[0] = 1.0
    below_by, above_by = np.zeros(episodes + 1), np.zeros(episodes + 1)
    run = 0.0
    for n in range(1, episodes + 1):
        run += float(open_.sum())
        moved = open_ * truth
        open_ = open_ * (1.0 - truth)
        open_[1:] += moved[:-1]
        most, least = int(kmax[n]) + 1, int(kmin[n])
        below_by[n] = open_[:most].sum()
        open_[:most] = 0.0
        above_by[n] = open_[least:].sum()
        open_[least:] = 0.0
    below_by, above_by = np.cumsum(below_by), np.cumsum(above_by)
    for values in (below_by, above_by):
        values.flags.writeable = False
    below, above = float(below_by[-1]), float(above_by[-1])
    return Operating(below, above, max(0.0, 1.0 - below - above), run, below_by, above_by)


def power(p: float, threshold: Probability, level: Probability, *, cap: SupportsIndex) -> float:
    """Probability that "below" is claimed within `cap` episodes when the true one is p."""
    return operating(p, threshold, level, cap=cap).below


@dataclass(frozen=True, slots=True)
class CertificationPlan:
    """What a certification attempt will take, said before it starts.

    level: a_j, the level left at this attempt. episodes_when_clean: episodes needed without a
    violation. violations_allowed: most violations (undecided included) that can still pass at the
    cap, -1 if the cap is too small for any. power: (assumed p, probability of passing in the cap).
    """

    threshold: float
    level: float
    cap: int
    episodes_when_clean: int
    violations_allowed: int
    power: tuple[tuple[float, float], ...]

    @property
    def feasible(self) -> bool:
        """Whether a clean run passes within the cap."""
        return self.violations_allowed >= 0

    def text(self) -> str:
        """One line for the screen and the log."""
        head = (
            f"p < {self.threshold:.6g} at level {self.level:.4g}: {self.episodes_when_clean} "
            "episodes when none fails"
        )
        if not self.feasible:
            return f"{head}; the cap of {self.cap} is too small: no run can pass"
        chances = "".join(f"; passes with {share:.3f} if p = {p:g}" for p, share in self.power)
        return (
            f"{head}, at most {self.violations_allowed} failures in the cap of {self.cap}{chances}"
        )


def certification_plan(
    threshold: Probability,
    level: Probability,
    *,
    cap: SupportsIndex,
    assumed: tuple[float, ...] = (),
) -> CertificationPlan:
    """The plan of one claim's attempt at its spent level, with exact power at each assumed p.

    Raises EvidenceError for bad arguments; a cap too small to pass is told by `feasible`.
    """
    episodes = count(cap, "cap")
    boundary = below_boundary(
        exact_probability(threshold, "threshold"), exact_probability(level, "level")
    )
    return CertificationPlan(
        threshold=float(threshold),
        level=float(level),
        cap=episodes,
        episodes_when_clean=boundary.episodes_needed(0),
        violations_allowed=boundary.kmax(episodes),
        power=tuple((p, power(p, threshold, level, cap=episodes)) for p in assumed),
    )


def screen_pass_probability(p: float, *, episodes: SupportsIndex, allowed: SupportsIndex) -> float:
    """Probability that a screen of that size and allowance passes when the true one is p."""
    from scipy.special import bdtr

    truth, total, most = _probability(p), count(episodes, "episodes"), count(allowed, "allowed")
    return 1.0 if most >= total else float(bdtr(float(most), total, truth))


def _probability(p: float) -> float:
    truth = finite_float(p, "p")
    if not 0.0 <= truth <= 1.0:
        raise EvidenceError(f"p = {p} is not a probability in [0, 1].")
    return truth
