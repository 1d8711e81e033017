"""What is asked of a scenario before anything is split: exact clones, and chance at each step."""

from collections.abc import Sequence

from safegym.check.rare.rollout import Path, Point, Rollouts
from safegym.errors import ScenarioError, UnsupportedError
from safegym.scenario.determinism import first_difference
from safegym.scenario.snapshot_parts import global_draws

LEAST = 3
"""Episodes that are cut and repeated at the least."""
ENOUGH = 1_000
"""Steps that clones stay bit-equal for before it is believed that they always do."""


def refuse_unfit(rollouts: Rollouts, seeds: Sequence[int]) -> int:
    """Raise unless episodes can be cloned and their clones part; returns the steps it took.

    Episodes are cut at two instants each. Continued with the chance they had, right away and after
    the environment has run another, they must repeat bit for bit; with other seeds, some must
    part. Ends after three episodes, or once clones have parted, or were equal for 1000 steps.
    Raises ScenarioError where a repetition differs or a generator of the whole process was drawn
    from, UnsupportedError where no two clones ever part: then the draws at reset decide the
    episode, and there is nothing to split.
    """
    steps = compared = 0
    parted = False
    for number, seed in enumerate(seeds):
        if number >= LEAST and (parted or compared >= ENOUGH):
            break
        length = _watched(rollouts, seed)
        path = rollouts.fresh(seed, keep=False, cuts=(max(1, length // 3), 2 * length // 3))
        steps += length + path.steps
        for point in path.points:
            again = _repeated(rollouts, path, point, seed)
            one, two = (rollouts.resume(point, seed + n, seed + n, keep=False) for n in (1, 2))
            steps += 3 * again.steps + one.steps + two.steps
            compared += one.steps
            parted = parted or first_difference(one.trace, two.trace) is not None
    if not parted:
        raise UnsupportedError(NO_NOISE)
    return steps


def _watched(rollouts: Rollouts, seed: int) -> int:
    """Length of an episode that draws from nothing but its own generators."""
    before = global_draws()
    whole = rollouts.fresh(seed, keep=False)
    if global_draws() != before:
        raise ScenarioError(
            "This scenario draws from a generator of the whole process, which a clone cannot have "
            "to itself; draw from self.np_random instead."
        )
    return whole.steps


NO_NOISE = (
    "Clones of a running episode stay bit-equal whatever they are seeded with: under this policy "
    "all chance is drawn at reset or in the first steps (or drawn ahead, by an object without "
    "reseed(seed)), so there is nothing to split. Where the scenario declares parameters, search "
    'over those instead: estimate_rare(..., method="subset") or method="importance". Where it '
    "declares none, count plain episodes: safegym.certify(...)."
)


def _repeated(rollouts: Rollouts, path: Path, point: Point, seed: int) -> Path:
    """The episode continued from a point twice; a sampled policy begins anew at the point."""
    original = rollouts.resume(point, None, seed, keep=False)
    rollouts.fresh(seed + 1, keep=False)
    again = rollouts.resume(point, None, seed, keep=False)
    pairs = [(original, again)]
    if not rollouts.samples:
        pairs.append((path, again))
    for one, two in pairs:
        difference = first_difference(one.trace, two.trace)
        if difference is not None:
            raise ScenarioError(
                "A clone continues differently from its original: "
                f"{difference.what} is {difference.first:g} and {difference.second:g} at step "
                f"{difference.step}. Some state is kept where a snapshot cannot see it; give the "
                "unwrapped environment get_state() -> state and set_state(state), and let a policy "
                "with a memory return it as its state, not keep it in itself."
            )
    return again
