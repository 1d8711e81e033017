"""Searching for an episode on which a claim fails."""

from collections.abc import Callable, Sequence
from typing import Any

from safegym.check.falsify.annealing import annealing
from safegym.check.falsify.arena import Arena, Listener, silent
from safegym.check.falsify.budget import (
    BASELINES,
    GUIDED,
    SHRINKING,
    checked_budget,
    checked_guided,
    checked_share,
    kept_back,
    shares,
)
from safegym.check.falsify.corners import corners
from safegym.check.falsify.descent import descent, why_not
from safegym.check.falsify.episodes import Episodes
from safegym.check.falsify.evolution import evolution
from safegym.check.falsify.finding import finds_of
from safegym.check.falsify.narrowing import Where
from safegym.check.falsify.objective import Objective
from safegym.check.falsify.result import Falsification, MethodReport
from safegym.check.falsify.space import SearchSpace
from safegym.check.falsify.subject import claim_of, whole_number
from safegym.check.falsify.uniform import uniform
from safegym.check.tail import tail_of
from safegym.errors import ScenarioError
from safegym.policy.base import as_policy
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec

METHODS: dict[str, Callable[[Arena], Any]] = {
    "corners": corners,
    "random": uniform,
    "cma": evolution,
    "annealing": annealing,
    "gradient": descent,
}


def falsify(
    scenario: str | ScenarioSpec,
    policy: object,
    claim: Any = None,
    *,
    budget: int = 300,
    seed: int = 0,
    where: Where | None = None,
    faults: bool = True,
    keep_going: bool = False,
    episode_seed: int | None = None,
    guided: Sequence[str] = GUIDED,
    shrinking: float = SHRINKING,
    workers: int = 1,
    episode_seconds: float | None = None,
    listener: Listener = silent,
) -> Falsification:
    """Search for episodes on which a claim's episode property fails; at most `budget` are run.

    claim: a claim, the id of one of the scenario's, or a formula; None where the scenario has one.
    seed: of the search; the same gives the same result, with any number of workers.
    where: `{"gust_peak": (0, 2)}` narrows a parameter, fault or disturbance, a number fixes it,
    None leaves it to the episode's seed. faults: False keeps every fault at rest.
    keep_going: look for more than one.

    Rarely needed. episode_seed: reset every episode with it; None draws one for each. guided: which
    of cma, annealing and gradient follow corners and random search. shrinking: share of the budget
    for making finds smaller, 0 to leave them as they are. workers: processes. episode_seconds: an
    episode that hangs longer is undecided, None for no limit. listener: hears how far it is.

    A result without finds shows nothing about a probability. Raises ScenarioError for a bad budget,
    an unknown name or claim and where nothing can be searched, PolicyError where the policy does
    not fit, FormulaError for a mean, UnsupportedError where the claim's tail cannot be run.
    """
    whole = checked_budget(budget)
    methods, share = (*BASELINES, *checked_guided(guided)), checked_share(shrinking)
    root = whole_number("seed", seed)
    fixed = None if episode_seed is None else whole_number("episode_seed", episode_seed)
    spec = find(scenario) if isinstance(scenario, str) else scenario
    chosen = claim_of(spec, claim)
    objective, space = Objective(chosen), SearchSpace.of(spec, where, faults=faults)
    if not space.dimension and fixed is not None:
        raise ScenarioError(
            f"Nothing can be searched on {spec.name}: no parameter, fault or disturbance is left "
            "to choose, and the seed is fixed. Drop episode_seed=, or widen where=."
        )
    episodes = Episodes(
        spec,
        as_policy(policy),
        tail=tail_of(spec, chosen),
        workers=workers,
        episode_seconds=episode_seconds,
    )
    try:
        arena = Arena(
            space,
            objective,
            episodes,
            budget=whole,
            seed=root,
            fixed_seed=fixed,
            stop_at_first=not keep_going,
            listener=listener,
        )
        notes = _search(arena, methods, share)
        finds, unshrunk = finds_of(arena, kept_back(whole, share))
    finally:
        episodes.close()
    return Falsification(
        scenario=spec.name,
        scenario_digest=spec.digest,
        policy=episodes.policy.card.name,
        policy_digest=episodes.policy.card.digest,
        claim_id=chosen.id,
        claim_digest=chosen.digest,
        statement=str(chosen.statement),
        bounds_probability=chosen.kind != "trace",
        finds=finds,
        methods=_reports(arena, methods, notes),
        episodes=arena.spent,
        undecided=arena.undecided,
        budget=whole,
        dimension=space.dimension,
        seed=root,
        notes=_remarks(arena, unshrunk),
    )


def _search(arena: Arena, methods: Sequence[str], shrinking: float) -> dict[str, str]:
    """Run the methods; returns why one of them did not run, by name."""
    notes: dict[str, str] = {}
    possible = [name for name in methods if not _refused(arena, name, notes)]
    plan = shares(arena.budget, possible, shrinking)
    carried = 0
    for name in possible:
        if arena.stop_at_first and arena.violations:
            break
        if name in GUIDED and not arena.has_margins:
            notes[name] = "margins are refused, so nothing guides it"
            continue
        before, share = arena.spent, plan.by_method[name] + carried
        if name == "cma" and arena.stop_at_first:  # while nothing is found there is none to shrink
            share += max(0, plan.kept_back - 1)
        arena.open(name, share)
        told = METHODS[name](arena)
        if told:
            notes[name] = told
        carried = share - (arena.spent - before)
    if not arena.violations:
        _search_on(arena, possible)
    return notes


def _search_on(arena: Arena, possible: Sequence[str]) -> None:
    """Nothing to shrink: what was kept back for that searches too, one episode at the very end.

    CMA-ES goes on where it can be guided, else random search.
    """
    last = "cma" if "cma" in possible and arena.has_margins else "random"
    for allowance in (arena.budget - arena.spent - 1, 1):  # one could confirm what is found
        if not arena.violations:
            arena.open(last, allowance)
            METHODS[last](arena)


def _refused(arena: Arena, name: str, notes: dict[str, str]) -> bool:
    if name in BASELINES:
        return False
    if not arena.space.dimension:
        notes[name] = "only the seed can be chosen, which nothing guides"
    elif name == "gradient":
        notes[name] = why_not(arena)
    return bool(notes.get(name))


def _reports(
    arena: Arena, methods: Sequence[str], notes: dict[str, str]
) -> tuple[MethodReport, ...]:
    names = (*methods, *(name for name in ("shrink", "confirm") if name in arena.counts))
    return tuple(
        MethodReport(
            name,
            arena.counts.get(name, 0),
            arena.best.get(name),
            arena.first.get(name),
            notes.get(name, ""),
        )
        for name in names
    )


def _remarks(arena: Arena, unshrunk: int) -> tuple[str, ...]:
    notes: list[str] = []
    if not arena.has_margins:
        notes.append(
            "The claim's margins do not compare (mixed units without scales), so episodes only "
            "count as violated or not: declare a scale for each signal to guide the search."
        )
    if not arena.episodes.policy.card.is_known:
        notes.append(
            f"The digest of policy {arena.episodes.policy.card.name} does not pin down what it "
            "does: finds replay only as long as it is the same object."
        )
    if arena.space.dimension and arena.spent > 1 and len(arena.margins) == 1:
        notes.append(
            f"Every episode had the margin {next(iter(arena.margins)):g}, whatever was chosen: "
            "does the scenario's reset read its options?"
        )
    if unshrunk:
        notes.append(
            f"{unshrunk} further counterexamples were met and not looked into; that takes a larger "
            "budget."
        )
    return tuple(notes)
