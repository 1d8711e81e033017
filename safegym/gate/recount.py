"""One campaign as a log tells it, counted again: its episodes, judgements, screen or attempt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from safegym.digest import digest_json
from safegym.gate.evidence import Basis, evidence_json, gather
from safegym.gate.obligation import Obligation
from safegym.gate.plan import GatePlan
from safegym.gate.screen import Watch
from safegym.gate.tally import Tally
from safegym.verdict import Status

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
    """digests: traces in index order. judged: claim id -> (trace digest, status) as judged again.

    earlier: digests of the same campaign when it ran before in this log.
    """

    digests: list[str] = field(default_factory=list[str])
    judged: dict[str, list[tuple[str, Status]]] = field(
        default_factory=dict[str, list[tuple[str, Status]]]
    )
    earlier: tuple[str, ...] = ()
    ended: bool = False
    _tally: Tally | None = None

    def add_traces(self, first_index: int, digests: Sequence[str]) -> str:
        """Take in a shard; says what is wrong with it, or ""."""
        at = len(self.digests)
        self.digests.extend(digests)
        self._tally = None
        if first_index != at:
            return f"episode {first_index} follows {at} episodes"
        before = self.earlier[at : at + len(digests)]
        if tuple(digests[: len(before)]) != before:
            return "the same seeds gave other episodes when this attempt ran before"
        return ""

    def statuses(self, claim_id: str) -> list[Status]:
        """Statuses on one claim, each episode exactly once. Raises ValueError otherwise."""
        judged = self.judged.get(claim_id, [])
        if [digest for digest, _ in judged] != self.digests:
            raise ValueError(
                f"{claim_id} was judged on {len(judged)} traces, which are not the campaign's "
                f"{len(self.digests)} episodes in their order"
            )
        return [status for _, status in judged]

    def tally(self, items: Sequence[Obligation], attempt: int, cap: int) -> Tally:
        """The attempt counted again. Raises ValueError if it went on after it was decided."""
        if self._tally is None:
            tally = Tally(tuple(items), attempt, cap)
            columns = [self.statuses(item.claim.id) for item in items]
            for row in zip(*columns, strict=True):
                if tally.outcome is not None:
                    raise ValueError("episodes go on after the attempt was decided")
                tally.add(row)
            self._tally = tally
        return self._tally

    def attempt_evidence(
        self, payload: Mapping[str, Any], items: Sequence[Obligation], cap: int
    ) -> dict[str, Any]:
        """What an evidence record of this attempt must say."""
        tally = self.tally(items, payload["attempt"], cap)
        basis = Basis(tuple(payload["assumptions"]), digest_json(self.digests), payload["versions"])
        found = {item.claim_id: item for item in gather(tally, basis)}[payload["claim_id"]]
        return {name: value for name, value in evidence_json(found).items() if name not in TAKEN}

    def screen_evidence(
        self, payload: Mapping[str, Any], item: Obligation, plan: GatePlan
    ) -> dict[str, Any]:
        """What an evidence record of this screen must say."""
        statuses = self.statuses(item.claim.id)
        watch = Watch.of(item, plan, degradation=bool(payload["watched"]))
        for status in statuses:
            watch.add(status)
        return {**watch.to_json(statuses), "trace_root": digest_json(self.digests)}


def attempt_started(
    payload: Mapping[str, Any], items: Sequence[Obligation], plan: GatePlan
) -> dict[str, Any]:
    """What an attempt_started record of that number must say of plan and levels."""
    tally = Tally(tuple(items), payload["attempt"], plan.cap)
    return {"cap": plan.cap, "root": str(plan.seed), **attempt_levels(tally)}


def attempt_levels(tally: Tally) -> dict[str, Any]:
    """The levels that an attempt spends, and the clean episodes that would certify at them."""
    processes = {c.obligation.claim.id: c.process for c in tally.counts if c.process is not None}
    return {
        "clean_episodes_needed": max(process.first_clean for process in processes.values()),
        "levels": {claim: float(process.level) for claim, process in processes.items()},
    }
