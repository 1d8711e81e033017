"""One scenario: run with its control policies, its claims judged, its declaration held to it."""

import time
from collections.abc import Iterator, Mapping, Sequence

from safegym.check.controls.declared import shortcomings
from safegym.check.controls.episodes import COPIES, episodes, namesakes, tail_of_all
from safegym.check.controls.outcome import SEEDS, Outcome, bar
from safegym.check.controls.recorded import alike, misrecorded
from safegym.check.controls.stepping import stumbles
from safegym.check.monitor import judge
from safegym.formula.claim import Claim
from safegym.policy.base import Policy
from safegym.scenario.determinism import Sampled, recheck
from safegym.scenario.probe import probe
from safegym.scenario.registry import find, pack_of
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.verified import Separation
from safegym.trace.model import Trace


def verify(
    scenario: str | ScenarioSpec,
    *,
    seeds: int = SEEDS,
    brief: bool = False,
    elsewhere: Mapping[str, str] | None = None,
) -> Outcome:
    """Whether a scenario counts: what was found, with a sentence for each thing that is wrong.

    It must be declared whole; make, reset and step; its good policy must satisfy all claims in
    19 of 20 episodes and each claim's bad policy violate it in one, and in more than the good one
    does; a seed must decide the episode, other seeds give others; signals and inputs must be as
    declared, and every input do something (`safegym.scenario.probe`).

    seeds: episodes of each policy. brief: no more episodes of a bad policy than show a violation
    of its claims; the counts are of those that ran, and the verdict is the same. elsewhere: name ->
    the trace that another process got on seed 0, by its digest (`elsewhere.first_episode`). An
    error of any kind is an issue. Source of the bars: chosen.
    """
    name = scenario if isinstance(scenario, str) else scenario.name
    began, spent = time.perf_counter(), time.process_time()
    report = _Report(name, seeds, brief, (elsewhere or {}).get(name, ""))
    try:
        report.run(find(name) if isinstance(scenario, str) else scenario)
    except Exception as error:
        report.issues.append(f"{type(error).__name__}: {error}")
    return Outcome(
        name=name,
        pack=report.pack,
        digest=report.digest,
        seeds=seeds,
        good=report.good,
        claims=tuple(report.claims),
        issues=tuple(report.issues),
        cpu_seconds=time.process_time() - spent,
        seconds=time.perf_counter() - began,
    )


class _Report:
    """What is known of a scenario so far; whatever raises leaves what was found before."""

    def __init__(self, name: str, seeds: int, brief: bool, elsewhere: str) -> None:
        self.name, self.seeds, self._brief, self._elsewhere = name, seeds, brief, elsewhere
        self.pack, self.digest, self.good = pack_of(name), "", 0
        self.claims: list[Separation] = []
        self.issues: list[str] = []

    def run(self, spec: ScenarioSpec) -> None:
        self.pack, self.digest = spec.pack, spec.digest
        self.issues += shortcomings(spec)
        if self.issues or spec.good is None:
            return
        self.issues += stumbles(spec)
        policies = {"good": spec.good(), **{key: make() for key, make in spec.bad.items()}}
        self.issues += namesakes(spec, policies)
        tail = tail_of_all(spec)
        kept = episodes(spec, policies["good"], tail, self.seeds)
        self._good(spec, kept)
        self._bad(spec, policies, kept, tail)
        self.issues += misrecorded(spec, kept)
        self.issues += alike(kept)
        self.issues += _unlike(spec, policies["good"], kept, tail)
        if self._elsewhere not in ("", kept[0].digest):
            self.issues.append(
                "A seed does not decide the episode: seed 0 comes out otherwise in another "
                "process. Look for hash() of a text, the order of a set, id(), the time, or what "
                "was run before."
            )
        self.issues += probe(spec)

    def _good(self, spec: ScenarioSpec, traces: Sequence[Trace]) -> None:
        statuses = {
            claim.id: [judge(claim, trace).status for trace in traces] for claim in spec.claims
        }
        self.claims = [
            Separation(claim, found.count("satisfied"), 0, "") for claim, found in statuses.items()
        ]
        rows = list(zip(*statuses.values(), strict=True))
        self.good = sum(set(row) == {"satisfied"} for row in rows)
        if self.good < bar(self.seeds):
            short = ", ".join(
                f"{row.claim} {row.satisfied}" for row in self.claims if row.satisfied < len(traces)
            )
            self.issues.append(
                f"The good policy satisfies all claims on {self.good} of {self.seeds} seeds, "
                f"needed are {bar(self.seeds)} (satisfied: {short}; "
                f"{_failing(statuses)})."
            )

    def _bad(
        self,
        spec: ScenarioSpec,
        policies: dict[str, Policy],
        good: list[Trace],
        tail: int,
    ) -> None:
        digests = {claim.id: policies[claim.id].card.digest for claim in spec.claims}
        runs = {policies["good"].card.digest: good}
        rows: list[Separation] = []
        for claim, row in zip(spec.claims, self.claims, strict=True):
            policy, digest = policies[claim.id], digests[claim.id]
            if digest not in runs:
                meant = [each for each in spec.claims if digests[each.id] == digest]
                runs[digest] = self._breaking(spec, policy, meant, good, tail)
                self.issues += _unlike(spec, policy, runs[digest][-1:], tail)
            violated = _violations(claim, runs[digest])
            rows.append(Separation(row.claim, row.satisfied, violated, policy.card.name))
            self.issues += _unbroken(claim, policy, runs[digest], good)
        self.claims = rows

    def _breaking(
        self,
        spec: ScenarioSpec,
        policy: Policy,
        meant: Sequence[Claim],
        good: Sequence[Trace],
        tail: int,
    ) -> list[Trace]:
        """Episodes of a bad policy: all, or as many as show each violation that is meant."""
        if not self._brief:
            return episodes(spec, policy, tail, self.seeds)
        first = min(COPIES, self.seeds)
        traces = episodes(spec, policy, tail, first)
        if all(_violations(claim, traces) > _violations(claim, good) for claim in meant):
            return traces
        return traces + episodes(spec, policy, tail, self.seeds, first)


def _violations(claim: Claim, traces: Sequence[Trace]) -> int:
    return sum(judge(claim, trace).status == "violated" for trace in traces)


def _unbroken(
    claim: Claim, policy: Policy, traces: Sequence[Trace], good: Sequence[Trace]
) -> Iterator[str]:
    """A bad policy must break its claim, and more often than the good one does."""
    violated, by_good = _violations(claim, traces), _violations(claim, good)
    if violated > by_good:
        return
    if violated:
        yield (
            f"The bad policy {policy.card.name} violates {claim.id} on {violated} of "
            f"{len(traces)} seeds, and the good one on {by_good}: they do not differ in it."
        )
        return
    ends = sorted({f"{trace.end.kind}: {trace.end.reason}" for trace in traces})
    yield (
        f"The bad policy {policy.card.name} violates {claim.id} on none of {len(traces)} seeds "
        f"(its episodes ended {'; '.join(ends)[:200]})."
    )


def _failing(statuses: Mapping[str, Sequence[str]]) -> str:
    """Which seeds fail which claim, the first few."""
    return "; ".join(
        f"{claim} not on seeds {', '.join(map(str, missed[:6]))}"
        for claim, found in statuses.items()
        if (missed := [seed for seed, status in enumerate(found) if status != "satisfied"])
    )


def _unlike(
    spec: ScenarioSpec, policy: Policy, traces: Sequence[Trace], tail: int
) -> Iterator[str]:
    """Seeds whose episode comes out otherwise in fresh environments with other neighbours.

    The last seed ran in an environment that earlier episodes had used, the first did not.
    """
    picked = {trace.seed: trace for trace in (traces[0], traces[-1])}
    sample: list[Sampled] = [(seed, seed, {}, trace) for seed, trace in picked.items()]
    for difference in recheck(spec, policy, sample, tail=tail):
        yield f"A seed does not decide the episode of {policy.card.name}: {difference}."
