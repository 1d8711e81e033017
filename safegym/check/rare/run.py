"""One door to rare events: `estimate_rare`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safegym.check.rare.bounded import bounded_mean
from safegym.check.rare.cloning import refuse_unfit
from safegym.check.rare.episodes import Episodes, Seen
from safegym.check.rare.estimate import Method, RareEstimate, WeightedMean
from safegym.check.rare.importance import ALPHA, Evaluate, WeightedRun, importance
from safegym.check.rare.inputs import (
    LOOKS,
    Cube,
    Disturbances,
    assumptions_of,
    cube_of,
    refuse_other_law,
)
from safegym.check.rare.replicates import LEAST, Scale, replicate_interval
from safegym.check.rare.rollout import Rollouts
from safegym.check.rare.splitting import SplittingRun, split
from safegym.check.rare.subject import Aim, aim_of, whole
from safegym.check.rare.subset import KEPT, SubsetRun, subset
from safegym.errors import EvidenceError
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.policy.base import Policy, as_policy
from safegym.scenario.registry import find
from safegym.scenario.seeds import seed_entropy
from safegym.scenario.spec import ScenarioSpec

STREAM = 41
"""First word of the spawn keys, which no stream of the gate uses."""
Progress = Callable[[int, int], None]
"""Told how many replicates are done, and of how many."""


def _silent(done: int, total: int) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """What is estimated, and with how much of everything. budget: episodes a replicate."""

    spec: ScenarioSpec
    policy: Policy
    aim: Aim
    budget: int
    replicates: int
    entropy: int
    particles: int | None
    kill: int | None
    alpha: float
    disturbances: Disturbances
    progress: Progress

    def generator(self, *key: int) -> np.random.Generator:
        sequence = np.random.SeedSequence(self.entropy, spawn_key=(STREAM, *key))
        return np.random.default_rng(sequence)

    def seeds(self, key: int, count: int) -> list[int]:
        return [int(seed) for seed in self.generator(0, key).integers(2**63 - 8, size=count)]


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """What a method came to. estimates: one a replicate."""

    estimates: tuple[float, ...]
    episodes: int
    steps: int
    hits: int
    undecided: int
    assumptions: tuple[str, ...]
    diagnostics: dict[str, float]
    bounded: WeightedMean | None = None


SHARE = 20
"""Episodes that a replicate has at the least."""


def estimate_rare(
    scenario: str | ScenarioSpec,
    policy: object,
    claim: Claim | str,
    *,
    method: Method = "splitting",
    budget: int = 5_000,
    replicates: int = 10,
    confidence: float = 0.95,
    seed: int = 0,
    guide: Formula | None = None,
    particles: int | None = None,
    kill: int | None = None,
    alpha: float = ALPHA,
    disturbances: Disturbances = "seed",
    progress: Progress = _silent,
) -> RareEstimate:
    """Estimate how rarely an episode breaks a claim's property: asymptotic, never a certificate.

    method: "splitting" where chance acts at each step; "subset" or "importance" where it is
    drawn at reset, over the declared parameters. budget: work, in whole episodes, over all
    replicates; splitting counts the steps it runs, in units of a fresh episode's mean length, and
    gives up a replicate that has used its share. replicates: independent runs, at least 3, whose
    scatter gives the interval. seed: with the digests of policy, scenario and claim it decides
    everything.

    guide: a formula whose robustness gives the levels where the claim's own is flat until it is
    too late (a contact force, say; a clearance falls before it). It changes how failures are
    found, never what is estimated. particles, kill: of splitting, N and k; by default a sixth of
    a replicate's budget, and a tenth of N. alpha: of importance, how much of the proposal is the
    declared law, which bounds each weight by 1/alpha. disturbances: of subset and importance,
    "uniform" to move these too.

    Undecided episodes count as failures. Raises, before it runs: ScenarioError where episodes
    cannot be cloned or seeds do not draw the declared law, UnsupportedError where the method has
    nothing to act on or the claim no levels, EvidenceError for a number out of range, PolicyError
    where policy and scenario do not fit.
    """
    spec = find(scenario) if isinstance(scenario, str) else scenario
    acting, aim = as_policy(policy), aim_of(spec, claim, guide)
    meant = aim.claim
    _check_numbers(budget, replicates, confidence, seed, alpha, method)
    job = _Job(
        spec=spec,
        policy=acting,
        aim=aim,
        budget=budget // replicates,
        replicates=replicates,
        entropy=seed_entropy(seed, acting.card.digest, spec.digest, meant.digest),
        particles=None if particles is None else whole(particles, "particles", 2),
        kill=None if kill is None else whole(kill, "kill", 1),
        alpha=alpha,
        disturbances=disturbances,
        progress=progress,
    )
    found = _METHODS[method](job, confidence)
    scale: Scale = "plain" if method == "importance" else "log"
    lo, hi, how = replicate_interval(found.estimates, confidence, scale=scale)
    return RareEstimate(
        claim_id=meant.id,
        claim_digest=meant.digest,
        scenario_digest=spec.digest,
        policy_digest=acting.card.digest,
        method=method,
        estimate=float(np.mean(found.estimates)),
        interval=(lo, hi),
        confidence=confidence,
        replicates=found.estimates,
        episodes=found.episodes,
        steps=found.steps,
        hits=found.hits,
        undecided=found.undecided,
        threshold=meant.failure_threshold,
        interval_method=how,
        assumptions=(*found.assumptions, *_assumed(job)),
        diagnostics=found.diagnostics,
        bounded=found.bounded,
        versions=spec.versions,
    )


def _check_numbers(
    budget: int, replicates: int, confidence: float, seed: int, alpha: float, method: str
) -> None:
    whole(replicates, "replicates", LEAST)
    if whole(budget, "budget", 1) < SHARE * replicates:
        raise EvidenceError(
            f"budget={budget} is less than {SHARE} episodes for each of {replicates} replicates; "
            f"write for example budget={SHARE * replicates}, or take fewer replicates, "
            f"at least {LEAST}."
        )
    whole(seed, "seed", 0)
    if method not in _METHODS:
        raise EvidenceError(f"method={method!r} is none of {', '.join(_METHODS)}.")
    for name, value in (("confidence", confidence), ("alpha", alpha)):
        if not 0.0 < value < 1.0:
            raise EvidenceError(f"{name}={value!r} must lie strictly between 0 and 1.")


def _assumed(job: _Job) -> tuple[str, ...]:
    drawn = "sampled" if job.policy.card.mode == "sampled" else "deterministic"
    return (f"{drawn} actions", f"{job.spec.name} as its digest says, {job.spec.horizon} steps")


def _split(job: _Job, confidence: float) -> _Found:
    particles = job.particles or max(10, job.budget // 6)
    kill = min(job.kill or max(1, particles // 10), particles - 1)
    rollouts = Rollouts(job.spec, job.policy, job.aim)
    try:
        steps = refuse_unfit(rollouts, job.seeds(1, 60))
        runs: list[SplittingRun] = []
        for replicate in range(job.replicates):
            generator = job.generator(1, replicate)
            runs.append(split(rollouts, generator, particles=particles, kill=kill, most=job.budget))
            job.progress(replicate + 1, job.replicates)
    finally:
        rollouts.close()
    stops = [run.stopped for run in runs]
    return _Found(
        estimates=tuple(run.estimate for run in runs),
        episodes=sum(run.episodes for run in runs),
        steps=steps + sum(run.steps for run in runs),
        hits=sum(run.failing for run in runs),
        undecided=sum(run.undecided for run in runs),
        assumptions=("no state outside what a snapshot sees (three episodes were repeated)",),
        diagnostics={
            "particles": particles,
            "killed a round": kill,
            "mean rounds": float(np.mean([len(run.levels) for run in runs])),
            "least ancestors": float(min(run.ancestors for run in runs)),
            "extinct": stops.count("extinct"),
            "out of budget": stops.count("budget"),
        },
    )


def _move_inputs(job: _Job) -> tuple[Cube, Episodes, tuple[str, ...]]:
    """What subset and importance share: the cube, the episodes, and what they assume."""
    inputs = cube_of(job.spec, job.disturbances)
    looked = refuse_other_law(job.spec, inputs, job.seeds(2, LOOKS))
    told = f" (held against {LOOKS} resets)" if looked else " (not told by resets)"
    assumed = tuple(
        text + told if text.startswith("each parameter") else text
        for text in assumptions_of(inputs)
    )
    return inputs, Episodes(job.spec, job.policy, job.aim), assumed


def _evaluator(inputs: Cube, episodes: Episodes) -> Evaluate:
    def evaluate(points: NDArray[np.float64], seeds: Sequence[int]) -> Sequence[Seen]:
        starts = [(s, inputs.options(p)) for s, p in zip(seeds, points, strict=True)]
        return episodes.run(starts)

    return evaluate


def _subset(job: _Job, confidence: float) -> _Found:
    inputs, episodes, assumed = _move_inputs(job)
    samples = max(10, job.particles or job.budget // 8)
    runs: list[SubsetRun] = []
    try:
        for replicate in range(job.replicates):
            runs.append(
                subset(
                    _evaluator(inputs, episodes),
                    inputs.dimension,
                    job.generator(3, replicate),
                    samples=samples,
                    most_levels=max(1, int((job.budget / samples - 1.5) / (1.5 - KEPT / 2.0))),
                )
            )
            job.progress(replicate + 1, job.replicates)
    finally:
        episodes.close()
    stops = [run.stopped for run in runs]
    return _Found(
        estimates=tuple(run.estimate for run in runs),
        episodes=episodes.count,
        steps=episodes.steps,
        hits=sum(run.failing for run in runs),
        undecided=sum(run.undecided for run in runs),
        assumptions=assumed,
        diagnostics={
            "samples a level": samples,
            "mean levels": float(np.mean([len(run.levels) for run in runs])),
            "accepted": float(np.mean([run.accepted for run in runs])),
            "extinct": stops.count("extinct"),
            "out of budget": stops.count("budget"),
        },
    )


def _importance(job: _Job, confidence: float) -> _Found:
    inputs, episodes, assumed = _move_inputs(job)
    runs: list[WeightedRun] = []
    try:
        for replicate in range(job.replicates):
            runs.append(
                importance(
                    _evaluator(inputs, episodes),
                    inputs.dimension,
                    job.generator(4, replicate),
                    episodes=job.budget,
                    alpha=job.alpha,
                )
            )
            job.progress(replicate + 1, job.replicates)
    finally:
        episodes.close()
    return _Found(
        estimates=tuple(run.estimate for run in runs),
        episodes=episodes.count,
        steps=episodes.steps,
        hits=sum(run.failing for run in runs),
        undecided=sum(run.undecided for run in runs),
        assumptions=assumed,
        diagnostics={
            "least effective failures": min(run.effective for run in runs),
            "largest share of one episode": max(run.largest_share for run in runs),
            "pilots that reached failures": sum(run.reached for run in runs),
            "largest weight allowed": 1.0 / job.alpha,
        },
        bounded=bounded_mean(runs, job.alpha, (1.0 - confidence) / 2.0),
    )


_METHODS: dict[str, Callable[[_Job, float], _Found]] = {
    "splitting": _split,
    "subset": _subset,
    "importance": _importance,
}
