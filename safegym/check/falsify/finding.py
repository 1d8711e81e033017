"""From counterexamples as they were met to finds: shrunk, apart from each other, confirmed."""

from dataclasses import dataclass, replace

from safegym.check.falsify.arena import Arena
from safegym.check.falsify.distinct import alike
from safegym.check.falsify.find import Find
from safegym.check.falsify.parts import components_of
from safegym.check.falsify.prints import prints_of
from safegym.check.falsify.replay import explained
from safegym.check.falsify.shrink import Shrinker
from safegym.check.falsify.trial import Trial
from safegym.errors import ScenarioError
from safegym.scenario.determinism import first_difference
from safegym.trace.model import Trace

MOST_FINDS = 10
"""Finds that one search gives, at most."""


def finds_of(arena: Arena, kept_back: int) -> tuple[tuple[Find, ...], int]:
    """The finds of a search, and how many counterexamples were left as they were met.

    kept_back: episodes for shrinking and confirming, at most; one a find stays for confirming it.
    Raises ScenarioError, with the differing step, if an episode does not come out twice the same.
    """
    waiting = sorted(arena.violations, key=_depth)
    if arena.stop_at_first:
        waiting = waiting[:1]
    arena.budget = min(arena.budget, arena.spent + kept_back)
    shrinker, kept = Shrinker(arena), list[_Kept]()
    for position, trial in enumerate(waiting):
        if len(kept) == MOST_FINDS or (kept and arena.budget - arena.spent <= len(kept)):
            return _finds(arena, kept), len(waiting) - position
        to_come = max(1, min(MOST_FINDS, len(waiting)) - position)
        if not _joined(arena, kept, trial):
            spare = arena.budget - arena.spent - len(kept) - to_come
            arena.open("shrink", spare // to_come)
            smaller = shrinker.shrink(trial)
            trial = replace(smaller, method=trial.method, number=trial.number)
            if not _joined(arena, kept, trial):
                kept.append(_Kept(trial, shrinker.finished))
    return _finds(arena, kept), 0


@dataclass(slots=True)
class _Kept:
    """A counterexample that is like no other. others: how many came down to it."""

    trial: Trial
    irreducible: bool
    others: int = 0


def _joined(arena: Arena, kept: list[_Kept], trial: Trial) -> bool:
    """Count a counterexample to the one it is like, if there is such a one."""
    for each in kept:
        if alike(arena.space, each.trial, trial):
            each.others += 1
            return True
    return False


def _finds(arena: Arena, kept: list[_Kept]) -> tuple[Find, ...]:
    return tuple(_find(arena, each.trial, each.others, each.irreducible) for each in kept)


def _find(arena: Arena, trial: Trial, others: int, irreducible: bool) -> Find:
    trace = _trace_of(trial)
    confirmed = _confirmed(arena, trial, trace)
    verdict = arena.objective.verdict(trace)
    episodes, claim = arena.episodes, arena.objective.claim
    return Find(
        scenario=episodes.spec.name,
        scenario_digest=episodes.spec.digest,
        policy=episodes.policy.card.name,
        policy_digest=episodes.policy.card.digest,
        claim=claim,
        seed=trial.seed,
        options=trial.options,
        tail=episodes.tail,
        trace_digest=trace.digest,
        margin=trial.score.margin,
        witness=verdict.witness,
        components=components_of(episodes.spec, trial.options),
        seed_matters=arena.fixed_seed is None,
        method=trial.method,
        episode=trial.number,
        steps=trace.steps,
        prints=prints_of(trace),
        why=explained(verdict, trace),
        parameters=trace.parameters,
        disturbance_seed=trace.disturbance_seed,
        confirmed=confirmed,
        alike=others,
        irreducible=irreducible,
        spec=episodes.spec,
        acting=episodes.policy,
    )


def _confirmed(arena: Arena, trial: Trial, trace: Trace) -> bool:
    """Run it once more, if an episode is left. Raises ScenarioError if it comes out otherwise."""
    arena.open("confirm", 1)
    if not arena.left:
        return False
    (again,) = arena.run([trial.values], [trial.seed])
    if again.trace is not None and again.trace.digest == trace.digest:
        return True
    raise ScenarioError(_otherwise(arena, trial, again.trace))


def _otherwise(arena: Arena, trial: Trial, again: Trace | None) -> str:
    where = "the second time it does not violate the claim"
    if again is not None:
        difference = first_difference(_trace_of(trial), again)
        if difference is not None:
            where = (
                f"at step {difference.step}, {difference.what} is {difference.first!r} and then "
                f"{difference.second!r}"
            )
    return (
        f"Seed {trial.seed} with the same options gave two different episodes on "
        f"{arena.episodes.spec.name}: {where}. A counterexample must be one that can be shown "
        "again; make reset(seed=, options=) decide everything."
    )


def _trace_of(trial: Trial) -> Trace:
    if trial.trace is None:
        raise ScenarioError("A counterexample lost its trace.")
    return trial.trace


def _depth(trial: Trial) -> tuple[float, int]:
    return trial.depth
