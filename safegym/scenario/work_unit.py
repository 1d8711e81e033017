"""Pure units of work: a stretch of episodes whose result anybody can compute again, and compare.

A unit names everything that decides its episodes. Its result does not depend on who runs it, with
how many workers, in which order or for the how-many-th time. Results of neighbouring units merge;
what does not merge (robustness intervals, a sequential decision inside a stretch) is not in them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Self

from safegym.digest import digest_json
from safegym.errors import ScenarioError
from safegym.policy.base import Policy
from safegym.scenario.campaign import Campaign
from safegym.scenario.determinism import Difference, first_difference
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.unit import SHARED
from safegym.scenario.unit import WorkUnit as WorkUnit
from safegym.trace.model import Trace

Judge = Callable[[Trace], Mapping[str, str]]
"""Claim id -> the outcome of one episode, such as "safe", "violated" or "undecided"."""
Counts = Mapping[str, Mapping[str, int]]
"""Claim id -> outcome -> how many episodes had it."""


@dataclass(frozen=True, slots=True)
class UnitResult:
    """What a unit gave: counts, steps, and the digests of its traces in index order.

    digest: over the unit, the counts, the steps and the traces.
    """

    unit: WorkUnit
    counts: Counts
    steps: int
    traces: tuple[str, ...]

    @property
    def digest(self) -> str:
        """The same for every repeat of the unit."""
        return digest_json(
            {
                "unit": self.unit.to_json(),
                "counts": {claim: dict(found) for claim, found in self.counts.items()},
                "steps": self.steps,
                "traces": list(self.traces),
            }
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values, to be stored or sent; `from_json` reads them back."""
        return {
            "unit": self.unit.to_json(),
            "counts": {claim: dict(found) for claim, found in self.counts.items()},
            "steps": self.steps,
            "traces": list(self.traces),
            "digest": self.digest,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """The result again. Raises ScenarioError if it is none, or not the one its digest names.

        That it is whole says nothing of whether it is true: `verify_unit` does.
        """
        try:
            fields: dict[str, Any] = dict(values["unit"])
            fields["root"] = int(fields["root"])
            unit = WorkUnit(**fields)
            counts = _frozen({str(claim): found for claim, found in values["counts"].items()})
            result = cls(unit, counts, values["steps"], tuple(values["traces"]))
            named = values["digest"]
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ScenarioError(
                f"This is no result of a work unit ({type(error).__name__}: {error}); give what "
                "to_json() of one returned."
            ) from error
        _refuse_incomplete(result)
        if result.digest != named:
            raise ScenarioError(
                f"The result of unit {_range(unit)} has digest {result.digest} and names {named}: "
                "it was changed after it was written."
            )
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return _result_again, (self.unit, _thawed(self.counts), self.steps, self.traces)


@dataclass(frozen=True, slots=True)
class Merged:
    """Units that follow each other without a gap. parts: (first, stop, digest of that result).

    The parts are those of the plan, whoever ran them, so the digest is too.
    """

    unit: WorkUnit
    counts: Counts
    steps: int
    parts: tuple[tuple[int, int, str], ...]

    @property
    def episodes(self) -> int:
        """How many episodes are in it."""
        return self.unit.stop - self.unit.first

    @property
    def digest(self) -> str:
        """Over the digests of the parts, in index order."""
        return digest_json([list(part) for part in self.parts])

    def __reduce__(self) -> tuple[Any, ...]:
        return _merged_again, (self.unit, _thawed(self.counts), self.steps, self.parts)


class UnitMismatchError(ScenarioError):
    """A unit that was repeated and gave something else. index: the first differing episode.

    difference: where its two traces part, None if only digests are left of one of them.
    """

    def __init__(self, text: str, index: int, difference: Difference | None) -> None:
        super().__init__(text)
        self.index, self.difference = index, difference

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.index, self.difference)


def run_unit(
    unit: WorkUnit,
    spec: ScenarioSpec,
    policy: Policy,
    judge: Judge,
    *,
    on_trace: Callable[[int, Trace], None] | None = None,
    **campaign: Any,
) -> UnitResult:
    """Runs the unit and counts. judge: outcome of each claim on a trace, the same for equal traces.

    on_trace: sees each (index, trace) in index order, to keep it. campaign: `workers`, `copies`,
    `engine` and `episode_seconds` of `Campaign`; none of them changes the result. Raises
    ScenarioError if scenario or policy are not those of the unit, or if the judge does not say
    something of the same claims on every trace.
    """
    _refuse_strangers(unit, spec, policy)
    counts: dict[str, dict[str, int]] = {}
    digests: list[str] = []
    steps = 0
    with Campaign(
        spec,
        policy,
        seed_of=unit.seed_of,
        tail=unit.tail,
        first_index=unit.first,
        episodes=unit.stop - unit.first,
        **campaign,
    ) as running:
        for index, trace in running:
            judged = judge(trace)
            if index > unit.first and judged.keys() != counts.keys():
                raise ScenarioError(_silent(index, set(judged) ^ set(counts)))
            for claim, outcome in judged.items():
                found = counts.setdefault(claim, {})
                found[outcome] = found.get(outcome, 0) + 1
            digests.append(trace.digest)
            steps += trace.steps
            if on_trace is not None:
                on_trace(index, trace)
    return UnitResult(unit, _frozen(counts), steps, tuple(digests))


def merge(results: Iterable[UnitResult]) -> Merged:
    """The counts of all results together, in index order, whatever the order they come in.

    Raises ScenarioError, naming the units, if they are of different scenarios, policies, claim
    sets, seeds, streams, attempts or tails, if two overlap, if episodes are missing between them
    or in the counts or traces of one: only a stretch without holes is what a plan asked for.
    """
    ordered = sorted(results, key=_place)
    if not ordered:
        raise ScenarioError("There is nothing to merge; give the result of at least one unit.")
    for one, other in pairwise(ordered):
        _refuse_to_merge(one.unit, other.unit)
    for result in ordered:
        _refuse_incomplete(result)
    for one, other in pairwise(ordered):
        if one.counts.keys() != other.counts.keys():
            raise ScenarioError(
                f"Units {_range(one.unit)} and {_range(other.unit)} count different claims "
                f"({', '.join(sorted(one.counts.keys() ^ other.counts.keys()))}); judge them alike."
            )
    counts: dict[str, dict[str, int]] = {}
    for result in ordered:
        for claim, found in result.counts.items():
            into = counts.setdefault(claim, {})
            for outcome, number in found.items():
                into[outcome] = into.get(outcome, 0) + number
    first, last = ordered[0].unit, ordered[-1].unit
    return Merged(
        replace(first, stop=last.stop),
        _frozen(counts),
        sum(result.steps for result in ordered),
        tuple((result.unit.first, result.unit.stop, result.digest) for result in ordered),
    )


def verify_unit(
    result: UnitResult,
    spec: ScenarioSpec,
    policy: Policy,
    judge: Judge,
    *,
    traces: Callable[[int], Trace | None] | None = None,
    **campaign: Any,
) -> None:
    """Runs the unit again. Raises UnitMismatchError naming the first differing episode and step.

    traces: index -> the trace of the first run, or None where it was not kept; without it, the
    episode is named, but not the step.
    """
    again: dict[int, Trace] = {}
    expected = result.traces

    def keep(index: int, trace: Trace) -> None:
        place = index - result.unit.first
        if not again and (place >= len(expected) or expected[place] != trace.digest):
            again[index] = trace

    found = run_unit(result.unit, spec, policy, judge, on_trace=keep, **campaign)
    if found.digest == result.digest:
        return
    if not again:
        raise UnitMismatchError(_other_counts(result, found), result.unit.first, None)
    index, trace = next(iter(again.items()))
    raise _mismatch(index, traces(index) if traces is not None else None, trace)


def _mismatch(index: int, first: Trace | None, again: Trace) -> UnitMismatchError:
    text = f"A repeat of the unit gave another episode {index} (seed {again.seed}): "
    if first is None:
        return UnitMismatchError(
            f"{text}its trace is {again.digest} now, and the first run's was not kept, so the step "
            "is not known. Keep traces (on_trace=) and give them (traces=) to learn it.",
            index,
            None,
        )
    difference = first_difference(first, again)
    if difference is None:
        return UnitMismatchError(
            f"{text}the result names another trace than was kept.", index, None
        )
    difference = replace(difference, index=index)
    return UnitMismatchError(f"{text}{difference}.", index, difference)


def _other_counts(result: UnitResult, found: UnitResult) -> str:
    claims = sorted({*result.counts, *found.counts})
    differing = [c for c in claims if result.counts.get(c) != found.counts.get(c)]
    what = f"of claim {differing[0]}" if differing else "of steps or episodes"
    return (
        f"A repeat of the unit {_range(result.unit)} gave the same traces and "
        f"another count {what}: the judge, or the result, was changed."
    )


def _refuse_strangers(unit: WorkUnit, spec: ScenarioSpec, policy: Policy) -> None:
    for what, asked, found in (
        ("scenario", unit.scenario, spec.digest),
        ("policy", unit.policy, policy.card.digest),
    ):
        if asked != found:
            raise ScenarioError(
                f"The unit is of {what} {asked}, and was given {what} {found}; its seeds, and so "
                f"its episodes, would be others."
            )


def _refuse_to_merge(one: WorkUnit, other: WorkUnit) -> None:
    for name in SHARED:
        if getattr(one, name) != getattr(other, name):
            raise ScenarioError(
                f"Units {_range(one)} and {_range(other)} differ in {name} ({getattr(one, name)}, "
                f"{getattr(other, name)}); counts of different populations have no common meaning."
            )
    if other.first < one.stop:
        raise ScenarioError(
            f"Units {_range(one)} and {_range(other)} overlap: an episode would count twice."
        )
    if other.first > one.stop:
        raise ScenarioError(
            f"Episodes {one.stop}..{other.first - 1} are missing between units {_range(one)} and "
            f"{_range(other)}; run them first: leaving some out selects among the rest."
        )


def _silent(index: int, claims: set[str]) -> str:
    return (
        f"The judge speaks of {', '.join(sorted(claims))} on some episodes and not on others (here "
        f'{index}); give each an outcome on every trace, such as "undecided" or "skipped": leaving '
        "some out selects among the rest."
    )


def _refuse_incomplete(result: UnitResult) -> None:
    """Raises ScenarioError unless every episode of the unit is in the traces and in each count."""
    episodes = result.unit.stop - result.unit.first
    if len(result.traces) != episodes:
        raise ScenarioError(
            f"The result of unit {_range(result.unit)} has {len(result.traces)} traces for "
            f"{episodes} episodes; run the unit again."
        )
    for claim, found in result.counts.items():
        numbers = list(found.values())
        if any(type(number) is not int or number < 0 for number in numbers):
            raise ScenarioError(f"The counts of {claim} in {_range(result.unit)} are {numbers}.")
        if sum(numbers) != episodes:
            raise ScenarioError(
                f"The counts of {claim} in unit {_range(result.unit)} add up to {sum(numbers)} for "
                f"{episodes} episodes; run the unit again."
            )


def _range(unit: WorkUnit) -> str:
    return f"{unit.first}..{unit.stop - 1}"


def _place(result: UnitResult) -> tuple[int, int]:
    return result.unit.first, result.unit.stop


def _frozen(counts: Mapping[str, Mapping[str, int]]) -> Counts:
    return MappingProxyType({c: MappingProxyType(dict(found)) for c, found in counts.items()})


def _thawed(counts: Counts) -> dict[str, dict[str, int]]:
    return {claim: dict(found) for claim, found in counts.items()}


def _result_again(unit: WorkUnit, counts: Counts, steps: int, traces: tuple[str, ...]) -> Any:
    return UnitResult(unit, _frozen(counts), steps, traces)


def _merged_again(
    unit: WorkUnit, counts: Counts, steps: int, parts: tuple[tuple[int, int, str], ...]
) -> Any:
    return Merged(unit, _frozen(counts), steps, parts)


def units_of(whole: WorkUnit, size: int, done: Sequence[UnitResult] = ()) -> tuple[WorkUnit, ...]:
    """The units of a plan that are still to be run: `split` without those in `done`."""
    finished = {result.unit for result in done}
    return tuple(unit for unit in whole.split(size) if unit not in finished)
