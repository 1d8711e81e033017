"""Many scenarios, each verified in a process that may crash or hang without taking others along."""

from collections.abc import Callable, Sequence
from functools import partial

from safegym.check.controls.elsewhere import first_episode
from safegym.check.controls.outcome import SEEDS, Outcome
from safegym.check.controls.verify import verify
from safegym.errors import ScenarioError
from safegym.scenario.apart import run_apart
from safegym.scenario.registry import pack_of

LIMIT = 180.0
"""Seconds by the wall clock that one scenario may take, start of its process included."""
Told = Callable[[Outcome], None]


def verify_all(
    names: Sequence[str],
    *,
    workers: int = 2,
    seeds: int = SEEDS,
    limit: float = LIMIT,
    brief: bool = False,
    told: Told | None = None,
) -> tuple[Outcome, ...]:
    """The outcome of each scenario, in the order of `names`.

    Seed 0 of each good policy runs in one process more, whose hashes of texts differ: an episode
    that hangs on them, or on anything else that a process keeps to itself, is told.

    workers: processes. limit: seconds that a scenario may take; its process is ended then, and
    the outcome says so, as it does where a process dies. told: called with each outcome as it
    comes. brief: as of `verify`. Raises ScenarioError for arguments out of range.
    """
    if seeds < 1:
        raise ScenarioError(f"Verification needs seeds >= 1, found {seeds}.")
    unfinished = partial(_unfinished, seeds)
    opened: dict[str, str | Outcome] = run_apart(
        names, first_episode, unfinished, workers=workers, limit=limit, other_hashes=True
    )
    found = {name: each for name, each in opened.items() if isinstance(each, Outcome)}
    if told is not None:
        for outcome in found.values():
            told(outcome)
    first = {name: each for name, each in opened.items() if isinstance(each, str)}
    found |= run_apart(
        list(first),
        partial(verify, seeds=seeds, brief=brief, elsewhere=first),
        unfinished,
        workers=workers,
        limit=limit,
        told=told,
    )
    return tuple(found[name] for name in names)


def _unfinished(seeds: int, name: str, why: str, seconds: float) -> Outcome:
    return Outcome(name, pack_of(name), seeds=seeds, issues=(why,), seconds=seconds)
