"""What a log says of suites and bursts, derived again: episodes, verdicts, and what had to pass."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from safegym.digest import digest_json
from safegym.gate.recount import Campaign
from safegym.gate.suite import outgrown
from safegym.trace.model import Trace

Findings = Iterator[tuple[str, bool]]
"""(what differs, whether only for want of data)."""
GIVEN = ("suite", "burst")
"""Streams whose episodes begin where their own record says, not where a seed rule does."""


@dataclass(slots=True)
class Lookout:
    """The regression suites of a log so far.

    capacity: of the suite, as registered; 0 where the run has none. keys, joined: of the last suite
    that was run. passed: policy -> how its last run of the suite came out.
    """

    capacity: int = 0
    keys: tuple[str, ...] = ()
    joined: int = 0
    passed: dict[str, bool] = field(default_factory=dict[str, bool])

    def register(self, plan_record: Mapping[str, Any]) -> None:
        """Take in whether the run has a suite."""
        training: Mapping[str, Any] = plan_record.get("training", {})
        self.capacity = int(training.get("replay", {}).get("suite", 0))

    def before_attempt(self, policy: str) -> Findings:
        """An attempt of a run with a suite follows a run of the suite that was passed."""
        if self.capacity and not self.passed.get(policy, False):
            ran = (
                "did not pass the regression suite"
                if policy in self.passed
                else ("was not run on the regression suite")
            )
            yield f"an attempt on a policy that {ran}", False

    def regression(
        self, payload: Mapping[str, Any], campaign: Campaign, traces: Sequence[Trace]
    ) -> Findings:
        """The suite came out as logged, on its own starts, and grew as a suite grows."""
        entries: Sequence[Mapping[str, Any]] = payload["starts"]
        before, self.keys = self.keys, tuple(_key(entry) for entry in entries)
        passed = all(entry["status"] == "satisfied" for entry in entries)
        self.passed[payload["policy"]] = passed
        if payload["passed"] is not passed:
            yield f"the regression suite comes out as passed: {passed}", False
        joins, self.joined = payload["joined"] - self.joined, payload["joined"]
        wrong = outgrown(before, self.keys, self.capacity, joins) if self.capacity else ""
        if wrong:
            yield wrong, False
        if campaign.holed or _are_missing(entries, traces):
            yield "the episodes of the regression suite are missing", True
            return
        yield from _begun_as_said(entries, traces)
        for entry in entries:
            again = _status(campaign, entry)
            if again != entry["status"]:
                yield (
                    (
                        f"the start of {entry['claim_id']} from seed {entry['seed']} comes out as "
                        f"{again}, logged {entry['status']}"
                    ),
                    False,
                )
        if len({entry["episode"] for entry in entries}) != len(traces):
            yield "the regression suite ran other episodes than its starts name", False

    def falsification(
        self, payload: Mapping[str, Any], campaign: Campaign, traces: Sequence[Trace]
    ) -> Findings:
        """Each find is an episode that violates the claim."""
        entries: Sequence[Mapping[str, Any]] = payload["finds"]
        if payload["found"] is not bool(entries):
            yield f"{len(entries)} finds are logged as found: {payload['found']}", False
        if campaign.holed or _are_missing(entries, traces):
            yield "the episodes of the finds are missing", True
            return
        yield from _begun_as_said(entries, traces)
        claim = payload["claim_id"]
        for entry in entries:
            again = _status(campaign, {**entry, "claim_id": claim})
            if again != "violated":
                yield f"the find from seed {entry['seed']} comes out as {again} on {claim}", False


def _are_missing(entries: Sequence[Mapping[str, Any]], traces: Sequence[Trace]) -> bool:
    return any(not 0 <= int(entry["episode"]) < len(traces) for entry in entries)


def _begun_as_said(entries: Sequence[Mapping[str, Any]], traces: Sequence[Trace]) -> Findings:
    for entry in entries:
        trace = traces[entry["episode"]]
        if (trace.digest, str(trace.seed)) != (entry["trace"], entry["seed"]):
            yield f"episode {entry['episode']} is not the one from seed {entry['seed']}", False
        for name, value in entry["options"].get("parameters", {}).items():
            if trace.parameters.get(name, value) != value:
                yield (
                    (
                        f"episode {entry['episode']} was begun with {name} = {value!r}, and "
                        f"recorded {trace.parameters[name]!r}"
                    ),
                    False,
                )


def _status(campaign: Campaign, entry: Mapping[str, Any]) -> str:
    """The start's verdict, judged again; "inconclusive" for a claim that is not gated."""
    if entry["claim_id"] not in campaign.judged:
        return "inconclusive"
    readings = campaign.readings(entry["claim_id"])
    return readings[int(entry["episode"])].status


def _key(entry: Mapping[str, Any]) -> str:
    return digest_json([entry["claim_id"], entry["seed"], dict(entry["options"])])
