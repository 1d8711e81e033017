"""One campaign as a log tells it, counted again: its episodes, judgements, screen or attempt."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from safegym.digest import digest_json
from safegym.gate.evidence import Basis, evidence_json, gather
from safegym.gate.obligation import Obligation
from safegym.gate.plan import GatePlan
from safegym.gate.reading import Reading
from safegym.gate.setting import attempt_tally
from safegym.gate.strata import Strata
from safegym.gate.tally import Outcome, Tally
from safegym.gate.watch import make_watch
from safegym.trace.model import Trace

Key = tuple[str, str, int, int]
"""(stream, policy digest, attempt, epoch): one campaign."""

TAKEN = ("assumptions", "versions")
"""Fields of evidence that only the run itself could know."""


def key_of(payload: Mapping[str, Any]) -> Key:
    """The campaign that a record belongs to. Raises ValueError where stream and attempt clash."""
    attempt = int(payload["attempt"])
    stream = payload.get("stream", "certify" if attempt else "gate")
    if (stream == "certify") != (attempt > 0):
        raise ValueError(f"stream {stream} with attempt {attempt}: only attempts certify")
    return stream, payload["policy"], attempt, int(payload.get("epoch", 0))


@dataclass(slots=True)
class Campaign:
    """digests: traces in index order. seeds, ends: theirs, and why they ended.

    judged: claim id -> (trace digest, reading); readings are those judged again. earlier: digests
    of the same campaign when it ran before in this log. holed: a shard of it is missing, so that
    it cannot be counted again.
    """

    digests: list[str] = field(default_factory=list[str])
    seeds: list[int] = field(default_factory=list[int])
    ends: list[str] = field(default_factory=list[str])
    judged: dict[str, list[tuple[str, Reading]]] = field(
        default_factory=dict[str, list[tuple[str, Reading]]]
    )
    earlier: tuple[str, ...] = ()
    reported: Counter[str] = field(default_factory=Counter[str])
    ended: bool = False
    holed: bool = False
    _tally: Tally | None = None

    def add_traces(self, first_index: int, digests: Sequence[str]) -> str:
        """Take in a shard; says what is wrong with it, or ""."""
        at = len(self.digests)
        self.digests.extend(digests)
        self._tally = None
        if self.holed:
            return ""
        if first_index != at:
            return f"episode {first_index} follows {at} episodes"
        before = self.earlier[at : at + len(digests)]
        if tuple(digests[: len(before)]) != before:
            return "the same seeds gave other episodes when this attempt ran before"
        return ""

    def readings(self, claim_id: str) -> list[Reading]:
        """Readings of one claim, each episode exactly once. Raises ValueError otherwise."""
        judged = self.judged.get(claim_id, [])
        if [digest for digest, _ in judged] != self.digests:
            raise ValueError(
                f"{claim_id} was judged on {len(judged)} traces, which are not the campaign's "
                f"{len(self.digests)} episodes in their order"
            )
        return [reading for _, reading in judged]

    def tally(self, items: Sequence[Obligation], attempt: int, plan: GatePlan) -> Tally:
        """The attempt counted again. Raises ValueError if it went on after it was decided."""
        if self._tally is None:
            tally = attempt_tally(items, plan, attempt)
            columns = [self.readings(item.claim.id) for item in items]
            for index, row in enumerate(zip(*columns, strict=True)):
                if tally.outcome is not None:
                    raise ValueError("episodes go on after the attempt was decided")
                tally.add(row, self._stratum(plan, index), self.ends[index])
            self._tally = tally
        return self._tally

    def _stratum(self, plan: GatePlan, index: int) -> str:
        return "" if plan.strata is None else plan.strata.of(index, self.seeds[index]).name

    def attempt_evidence(
        self,
        payload: Mapping[str, Any],
        items: Sequence[Obligation],
        plan: GatePlan,
        *,
        repeats: bool,
    ) -> dict[str, Any]:
        """What an evidence record of this attempt must say.

        repeats: False where the attempt's end says that an episode did not repeat.
        """
        tally = self.tally(items, payload["attempt"], plan)
        withdrawn = not repeats and tally.outcome == "certified"
        outcome: Outcome | None = "unrepeatable" if withdrawn else tally.outcome
        basis = Basis(
            tuple(payload["assumptions"]),
            digest_json(self.digests),
            payload["versions"],
            stratum_weights(plan),
        )
        gathered = {item.claim_id: item for item in gather(tally, basis, outcome)}
        found = gathered[payload["claim_id"]]
        data = evidence_json(found, version=plan.version)
        return {name: value for name, value in data.items() if name not in TAKEN}

    def screen_evidence(
        self, payload: Mapping[str, Any], item: Obligation, plan: GatePlan
    ) -> dict[str, Any]:
        """What an evidence record of this screen must say."""
        watch = make_watch(item, plan, degradation=bool(payload["watched"]))
        for reading in self.readings(item.claim.id):
            watch.add(reading)
        return {**watch.to_json(), "trace_root": digest_json(self.digests)}


def stratum_fault(strata: Strata | None, trace: Trace, index: int) -> str:
    """Whether the episode ran under what its stratum draws from its seed: what is wrong, or ""."""
    if strata is None:
        return ""
    stratum = strata.of(index, trace.seed)
    for name, value in stratum.options(trace.seed)["parameters"].items():
        if trace.parameters.get(name) != value:
            return (
                f"episode {index} belongs to stratum {stratum.name} with {name} = {value!r}, "
                f"and recorded {trace.parameters.get(name)!r}"
            )
    return ""


def stratum_weights(plan: GatePlan) -> dict[str, str]:
    """Stratum -> exact weight, in order."""
    return {} if plan.strata is None else {s.name: s.weight for s in plan.strata.strata}


def attempt_started(
    payload: Mapping[str, Any], items: Sequence[Obligation], plan: GatePlan
) -> dict[str, Any]:
    """What an attempt_started record of that number must say of plan and levels."""
    tally = attempt_tally(items, plan, payload["attempt"])
    return {"cap": tally.cap, "root": str(plan.seed), **attempt_levels(tally)}


def attempt_levels(tally: Tally) -> dict[str, Any]:
    """The levels that an attempt spends, and the clean episodes that would certify at them."""
    return {
        "clean_episodes_needed": max(count.first_clean for count in tally.estimated),
        "levels": {
            count.obligation.claim.id: float(count.level)
            for count in tally.estimated
            if count.level is not None
        },
    }
