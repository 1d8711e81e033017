"""With what chance, and after how many episodes, an e-process ends in a claim."""

import math
from dataclasses import dataclass
from typing import Final, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from safegym.check.statistics.boundary import above_boundary, below_boundary
from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.exact import Probability, count, finite_float
from safegym.errors import EvidenceError

Floats = NDArray[np.float64]

LONGEST_PLAN: Final = 10_000_000
"""Most episodes over which chances are summed."""


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

    def quantile(self, share: float) -> int | None:
        """Least number of episodes within which that share of runs is decided; None: the cap.

        Raises EvidenceError unless 0 < share < 1.
        """
        return _first(self.below_by + self.above_by, _inside(share))

    def quantile_below(self, share: float) -> int | None:
        """Least number of episodes within which that share of all runs has claimed "below"."""
        return _first(self.below_by, _inside(share))


def operating(
    p: float,
    threshold: Probability,
    level: Probability,
    *,
    cap: SupportsIndex,
    share: float = 1.0,
) -> Operating:
    """How `EProcess(threshold, level)`, looked at after each episode, ends within `cap` episodes.

    Exact dynamic programming over (n, k), no simulation: the chance of each count of violations
    among runs still open is carried from episode to episode; a run that crosses either boundary
    leaves. p in [0, 1] is the true failure probability, for a conditional claim that among the
    episodes that meet the condition, of which there is a share in (0, 1]; the others are skipped,
    but run, and all numbers of episodes are of those run.
    Raises EvidenceError for bad arguments.
    """
    met = finite_float(share, "share")
    if not 0.0 < met <= 1.0:
        raise EvidenceError(
            f"share = {share} of the episodes meets the condition: it must be in (0, 1]; write for "
            "example share=0.3."
        )
    truth, episodes = _probability(p), count(cap, "cap")
    if episodes > LONGEST_PLAN:
        raise EvidenceError(
            f"cap = {episodes}: chances are worked out episode by episode, up to {LONGEST_PLAN}; "
            "plan without an assumed p, or give a smaller cap."
        )
    null, exact_level = EProcess.checked(threshold, level)
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
    if met < 1.0:
        below_by, above_by = _diluted(below_by, met), _diluted(above_by, met)
        run = float((1.0 - below_by[:-1] - above_by[:-1]).clip(0.0).sum())
    for values in (below_by, above_by):
        values.flags.writeable = False
    below, above = (min(1.0, float(by[-1])) for by in (below_by, above_by))
    return Operating(below, above, max(0.0, 1.0 - below - above), run, below_by, above_by)


def power(
    p: float,
    threshold: Probability,
    level: Probability,
    *,
    cap: SupportsIndex,
    share: float = 1.0,
) -> float:
    """Probability that "below" is claimed within `cap` episodes when the true one is p."""
    return operating(p, threshold, level, cap=cap, share=share).below


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


def _inside(share: float) -> float:
    found = finite_float(share, "share")
    if not 0.0 < found < 1.0:
        raise EvidenceError(f"share = {share} is not inside (0, 1); write for example 0.5.")
    return found


def _first(rising: Floats, share: float) -> int | None:
    found = int(np.searchsorted(rising, share))
    return found if found < len(rising) else None


def _diluted(by: Floats, share: float) -> Floats:
    """From chances within m counted episodes to those within n run ones, of which each counts.

    Sums over the binomial number of counted episodes, cut where less than 1e-30 of it is left.
    """
    cap = len(by) - 1
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, cap + 1.0)))])
    found = np.zeros(cap + 1)
    for n in range(1, cap + 1):
        centre, reach = n * share, 12.0 * math.sqrt(n * share * (1.0 - share)) + 30.0
        m = np.arange(max(0, int(centre - reach)), min(n, int(centre + reach)) + 1)
        log = logs[n] - logs[m] - logs[n - m] + m * math.log(share)
        log += (n - m) * math.log1p(-share)
        found[n] = float(np.exp(log) @ by[m])
    rising: Floats = np.minimum(np.maximum.accumulate(found), by[-1])
    return rising
