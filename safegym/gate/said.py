"""What a log says in words beside its figures, held against the figures: reasons and versions.

A sentence of a wording that this version does not know is left as it is: earlier versions wrote
others.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from safegym.audit.record import AuditRecord
from safegym.gate.plan import VERSION

Findings = Iterator[tuple[str, bool]]
"""(what differs, whether only for want of data)."""
CERTIFIED: Final = re.compile(
    r"certified at attempt (?P<number>\d+)(?: \(replayed: [^)]*\))?"
    r"(?:, except invariants, observed: (?P<observed>.+))?"
)
ENDED: Final = re.compile(r"attempt (?P<number>\d+) (?P<outcome>[a-z]+)(?: \(replayed: [^)]*\))?")
SCREENED: Final = re.compile(
    r"(?P<claim>.+): (?P<violated>\d+) violated, (?P<undecided>\d+) undecided of (?P<episodes>\d+)"
)
FOUND: Final = re.compile(r"falsification burst: (?P<count>\d+) counterexamples? to (?P<claim>.+)")
SUITE: Final = re.compile(
    r"regression suite: (?P<failed>\d+) of (?P<total>\d+) starts that were passed before"
)


@dataclass(slots=True)
class Said:
    """What the sentences of a log are held against, as its records arrive.

    scenario: of scenario_registered. plan: of plan_registered. ends: (policy, attempt) -> outcome.
    looked: payload digest -> a regression or falsification. was_resumed: other versions may have
    gone on from here.
    """

    scenario: Mapping[str, Any] = field(default_factory=dict[str, Any])
    plan: Mapping[str, Any] = field(default_factory=dict[str, Any])
    ends: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])
    looked: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    was_resumed: bool = False

    @property
    def is_later(self) -> bool:
        """Whether the plan is of a later version than this one reads."""
        said = self.plan.get("version")
        return isinstance(said, int) and not isinstance(said, bool) and said > VERSION

    def resumed(self, record: AuditRecord) -> Findings:
        """From here on, another installation may have run."""
        self.was_resumed = True
        yield from ()

    def versions(self, evidence: Mapping[str, Any]) -> Findings:
        """One process has one version of each package."""
        registered = self.scenario.get("versions", {})
        told = evidence.get("versions", {})
        if "surplus" in evidence:
            yield "evidence never tells surplus episodes, which no count may hold", False
        if self.was_resumed:
            return
        for name in sorted(set(registered) & set(told)):
            if registered[name] != told[name]:
                yield (
                    (
                        f"evidence computed with {name} {told[name]}, the run was registered with "
                        f"{registered[name]} and was never resumed"
                    ),
                    False,
                )

    def ended(self, payload: Mapping[str, Any], policy: str) -> Findings:
        """Keep how an attempt ended; of its surplus, no more can have failed than ran."""
        self.ends[policy, payload["attempt"]] = payload["outcome"]
        ran, failed = (payload.get(name, 0) for name in ("surplus", "surplus_violated"))
        whole = all(
            isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in (ran, failed)
        )
        if not whole or failed > ran:
            yield f"{failed} of {ran} surplus episodes are logged as violated", False

    def reasons(
        self, payload: Mapping[str, Any], evidence: Sequence[Mapping[str, Any]]
    ) -> Findings:
        """The figures in a decision's reasons are those of the records that it rests on."""
        looked = [
            self.looked[named["record"]]
            for named in payload["rests_on"]
            if named["record"] in self.looked
        ]
        told = [str(reason) for reason in payload["reasons"]]
        policy = str(payload["policy"])
        for reason in told:
            wrong = (
                self._attempt_fault(reason, policy, evidence)
                or _screen_fault(reason, evidence)
                or _looked_fault(reason, looked)
            )
            if wrong:
                yield f"the reason {reason!r} is not what the log gives: {wrong}", False
        finds = {p["claim_id"]: len(p["finds"]) for p in looked if p.get("finds")}
        for claim, count in finds.items():
            if not any((m := FOUND.fullmatch(r)) and m["claim"] == claim for r in told):
                yield f"its reasons leave out {count} counterexamples to {claim}", False

    def _attempt_fault(
        self, reason: str, policy: str, evidence: Sequence[Mapping[str, Any]]
    ) -> str:
        certified, ended = CERTIFIED.fullmatch(reason), ENDED.fullmatch(reason)
        match = certified or ended
        if match is None:
            return ""
        number = int(match["number"])
        outcome = "certified" if certified else match["outcome"]
        found = self.ends.get((policy, number))
        if found is not None and found != outcome:
            return f"attempt {number} ended {found}"
        if found is None and any(p == policy for p, _ in self.ends):
            return f"the policy has no attempt {number}"
        if certified is None or certified["observed"] is None:
            return ""
        observed = [
            str(item["claim_id"])
            for item in evidence
            if item["attempt"] == number and item["kind"] == "observed"
        ]
        return "" if certified["observed"] == ", ".join(observed) else f"observed are {observed}"


def _screen_fault(reason: str, evidence: Sequence[Mapping[str, Any]]) -> str:
    match = SCREENED.fullmatch(reason)
    rows = [item for item in evidence if match and item["claim_id"] == match["claim"]]
    screens = [item for item in rows if item["attempt"] == 0]
    if match is None or not screens:
        return ""
    said = tuple(int(match[name]) for name in ("violated", "undecided", "episodes"))
    found = [(i["violations"], i["undecided"], i["episodes"]) for i in screens]
    if said in found:
        return ""
    violated, undecided, episodes = found[-1]
    return f"{violated} violated, {undecided} undecided of {episodes}"


def _looked_fault(reason: str, looked: Sequence[Mapping[str, Any]]) -> str:
    found, suite = FOUND.fullmatch(reason), SUITE.match(reason)
    if found is not None:
        rows = [p for p in looked if p.get("claim_id") == found["claim"] and "finds" in p]
        counts = [len(payload["finds"]) for payload in rows]
        return "" if int(found["count"]) in counts or not counts else f"{counts[-1]} were found"
    suites = [p for p in looked if "starts" in p]
    if suite is None or not suites:
        return ""
    starts = suites[-1]["starts"]
    failed = sum(entry["status"] != "satisfied" for entry in starts)
    said = int(suite["failed"]), int(suite["total"])
    return "" if said == (failed, len(starts)) else f"{failed} of {len(starts)} are not passed"
