"""From live records to a `Story`, one handler a kind."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from safegym.audit.kinds import BY_PEOPLE
from safegym.audit.record import AuditRecord
from safegym.audit.report import registered
from safegym.audit.report.fields import count, items, number, table, text, texts, truth
from safegym.audit.report.model import (
    Attempt,
    Campaign,
    Decision,
    Epoch,
    Judged,
    Looked,
    Move,
    Screen,
    Shard,
    Shown,
    Story,
)
from safegym.audit.report.searched import burst_of, suite_of
from safegym.audit.values import decode_number
from safegym.audit.waivers import waivers_of
from safegym.errors import AuditError
from safegym.verdict import Status


def read_story(
    records: Sequence[AuditRecord], superseded: frozenset[int], *, at: datetime | None = None
) -> Story:
    """What the records in force tell; of superseded ones, attempts and what people said.

    at: when waivers count or have expired, None for now. What people said (`BY_PEOPLE`) stands
    where a resumed run sets it aside. Raises AuditError.
    """
    live = [record for record in records if record.index not in superseded]
    story = Story(superseded=len(superseded))
    _register(story, live)
    reader = _Reader(story)
    for record in records:
        if record.index not in superseded or record.kind in BY_PEOPLE:
            reader.read(record)
    story.waivers = list(waivers_of(records, at or datetime.now(UTC)))
    _set_aside(story, (records[index] for index in sorted(superseded)))
    return story


def _register(story: Story, live: Sequence[AuditRecord]) -> None:
    first = {record.kind: record for record in reversed(live)}
    spec, plan = first.get("spec_registered"), first.get("plan_registered")
    if spec is not None:
        story.claims = registered.promised(spec, plan)
        story.findings = registered.findings(spec)
    if plan is not None:
        story.plan, story.training = plan.payload["plan"], table(plan.payload, "training")
        story.meaning = text(plan.payload, "meaning")
        story.spending = text(plan.payload, "spending")
    scenario = first.get("scenario_registered")
    if scenario is not None:
        story.scenario, story.scenario_facts = scenario.payload["name"], scenario.payload
    if live:
        story.run, story.last_time = live[0].run, live[-1].time
        story.closed = live[-1].kind == "run_closed"


def _set_aside(story: Story, records: Iterable[AuditRecord]) -> None:
    for record in records:
        if record.kind == "attempt_started":
            story.set_aside.append(
                f"attempt {record.payload['attempt']} on {record.payload['policy']} "
                f"(record {record.index})"
            )


class _Reader:
    """Keeps the campaigns that are open while records arrive in order."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self._screens: dict[tuple[int, str, str], Screen] = {}
        self._looks: dict[tuple[int, str, str], Campaign] = {}
        self._searches: dict[tuple[int, str, str], Campaign] = {}
        self._attempts: dict[str, Attempt] = {}
        self._open: Attempt | None = None
        self._decisions: dict[str, Decision] = {}
        self._withdrawn: set[str] = set()
        self._handlers: dict[str, Callable[[AuditRecord, dict[str, Any]], None]] = {
            "checkpoint": self._epoch,
            "penalty": self._penalty,
            "replay": self._replay,
            "policy_frozen": self._frozen,
            "trace_shard": self._shard,
            "verdict": self._verdict,
            "measurement": self._measurement,
            "evidence": self._evidence,
            "attempt_started": self._started,
            "attempt_closed": self._ended,
            "gate_decision": self._decision,
            "promotion": self._promotion,
            "withdrawal": self._withdrawal,
            "rollback": self._rollback,
            "run_closed": self._run_closed,
            "falsification": self._falsification,
            "regression": self._regression,
            "proof": self._proof,
            "tombstone": self._tombstone,
            "review_signature": self._review,
        }

    def read(self, record: AuditRecord) -> None:
        """Take in the next record in force."""
        handler = self._handlers.get(record.kind)
        if handler is not None:
            handler(record, record.payload)

    def _epoch(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        seen = table(payload, "training_violations")
        self.story.epochs.append(
            Epoch(
                epoch=payload["epoch"],
                steps=payload["steps"],
                episodes=count(payload, "episodes"),
                mean_return=number(payload, "mean_return"),
                violations={name: count(seen, name) for name in seen},
            )
        )

    def _penalty(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        for epoch in self.story.epochs[-1:]:
            epoch.penalties = count(payload, "steps")

    def _replay(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        for epoch in self.story.epochs[-1:]:
            epoch.replays = payload["episodes"]

    def _frozen(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        self.story.frozen.setdefault(payload["policy"], payload["epoch"])

    def _campaign(self, payload: Mapping[str, Any]) -> Campaign | None:
        """Where traces and verdicts of this payload belong; None for training traces."""
        if payload["stream"] == "certify":
            return None if self._open is None else self._open.campaign
        key = _look(payload)
        if payload["stream"] == "burst":
            return self._search(key)
        if payload["stream"] != "gate":
            return None
        if key not in self._looks:
            name = f"screen of baseline {key[2]}" if key[2] else f"screen of epoch {key[0]}"
            self._looks[key] = Campaign(name, key[1])
            if not key[2]:
                self.story.looks.append(self._looks[key])
        return self._looks[key]

    def _search(self, key: tuple[int, str, str]) -> Campaign:
        if key not in self._searches:
            self._searches[key] = Campaign(f"search of epoch {key[0]}", key[1])
            self.story.searched.append(self._searches[key])
        return self._searches[key]

    def _shard(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        campaign = self._campaign(payload)
        if campaign is not None:
            shard = payload["shard"]
            campaign.shards.append(
                Shard(
                    shard["artifact"],
                    shard["digest"],
                    tuple(payload["traces"]),
                    payload["first_index"],
                )
            )

    def _verdict(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        campaign = self._campaign(payload)
        if campaign is not None:
            known = campaign.verdicts.setdefault(payload["claim_id"], [])
            known.extend(
                Judged(
                    entry["trace"],
                    entry["status"],
                    number(entry, "lo"),
                    number(entry, "hi"),
                    text(entry, "condition"),
                )
                for entry in payload["verdicts"]
            )

    def _measurement(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        campaign = self._campaign(payload)
        if campaign is not None:
            known = campaign.verdicts.setdefault(payload["claim_id"], [])
            for entry in payload["measured"]:
                settled = math.nextafter(float(entry["lo"]), math.inf) >= float(entry["hi"])
                status: Status = "satisfied" if settled else "inconclusive"
                known.append(Judged(entry["trace"], status, None, None))

    def _started(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        self._open = Attempt(
            number=payload["attempt"],
            policy=payload["policy"],
            index=record.index,
            epoch=self.story.frozen.get(payload["policy"], 0),
            cap=count(payload, "cap"),
            clean_needed=count(payload, "clean_episodes_needed"),
            campaign=Campaign(f"attempt {payload['attempt']}", payload["policy"]),
        )
        self.story.attempts.append(self._open)

    def _ended(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        attempt = self._open
        if attempt is None or attempt.number != payload["attempt"]:
            raise AuditError(
                f"Record {record.index} closes attempt {payload['attempt']}, which is not open.",
                step="re-derivation",
            )
        attempt.outcome, attempt.episodes = payload["outcome"], payload["episodes"]
        attempt.reasons, attempt.surplus = texts(payload, "reasons"), count(payload, "surplus")
        self._open = None

    def _evidence(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        if payload["attempt"] == 0 and payload["kind"] == "observed":
            self._screened(payload)
            return
        shown = _shown(record)
        attempt = self._open
        if attempt is not None and payload["attempt"] == attempt.number:
            if text(payload, "policy", attempt.policy) != attempt.policy:
                raise AuditError(
                    f"Record {record.index} is evidence on another policy than its attempt's.",
                    step="re-derivation",
                )
            attempt.evidence[shown.claim_id] = shown
            self._attempts[record.payload_digest] = attempt
        elif shown.kind == "proved":
            self.story.proved[shown.claim_id] = shown
        else:
            self.story.notes.append(
                f"record {record.index}: {shown.kind} evidence on {shown.claim_id} by "
                f"{shown.method}: {shown.status}"
            )

    def _screened(self, payload: dict[str, Any]) -> None:
        key = _look(payload)
        screen = self._screens.get(key)
        if screen is None:
            screen = self._screens[key] = Screen(*key, campaign=self._looks.get(key))
            (self.story.baselines if key[2] else self.story.screens).append(screen)
        screen.claims[payload["claim_id"]] = Looked(
            episodes=payload["episodes"],
            violations=payload["violations"],
            undecided=payload["undecided"],
            allowed=count(payload, "allowed") if "allowed" in payload else None,
            result=text(payload, "screen", "open"),
            degraded=truth(payload, "degraded"),
        )

    def _decision(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        named = frozenset(entry["record"] for entry in payload["rests_on"])
        decision = Decision(
            record.index,
            payload["epoch"],
            payload["action"],
            payload["policy"],
            tuple(payload["reasons"]),
            named,
        )
        self.story.decisions.append(decision)
        self._decisions[record.payload_digest] = decision
        for digest in named & self._attempts.keys():
            self._attempts[digest].epoch = payload["epoch"]

    def _promotion(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        """The latest release counts; a policy that was withdrawn is not released again."""
        policy = payload["policy"]
        if policy in self._withdrawn:
            return
        named = [self._decisions.get(entry["record"]) for entry in payload["rests_on"]]
        self.story.releases.pop(policy, None)
        self.story.releases[policy] = next((one for one in named if one is not None), None)
        self._released()

    def _withdrawal(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        """From here on the release before counts, if there is one."""
        policy = payload["policy"]
        self._withdrawn.add(policy)
        self.story.withdrawn.append(
            f"{policy} was withdrawn by {payload['who']} on {record.time}: {payload['why']}"
        )
        self.story.releases.pop(policy, None)
        self._released()

    def _released(self) -> None:
        story = self.story
        story.promoted = next(reversed(story.releases), "")
        story.promoted_by = story.releases.get(story.promoted)

    def _rollback(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        back = self.story.frozen.get(payload["to"])
        self.story.rollbacks.append(Move(payload["epoch"], payload["to"], back))

    def _run_closed(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        self.story.outcome = payload["outcome"]

    def _falsification(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        self.story.bursts.append(burst_of(payload))

    def _regression(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        if payload["starts"]:
            self.story.suites.append(suite_of(payload))

    def _proof(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        self.story.notes.append(
            f"proof of {payload['claim_id']} by {payload['method']}: {payload['result']} "
            "(for the model, under its assumptions)"
        )

    def _tombstone(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        self.story.notes.append(
            f"{payload['removed']['artifact']} was removed on purpose by {payload['who']}: "
            f"{payload['why']}"
        )

    def _review(self, record: AuditRecord, payload: dict[str, Any]) -> None:
        self.story.notes.append(
            f"record {record.index} says that {payload['who']} reviewed records 0 to "
            f"{payload['covers']['size'] - 1}: {payload['statement']} (whose key signed that, and "
            "whether it counts, stands under integrity and warnings)"
        )


def _look(payload: Mapping[str, Any]) -> tuple[int, str, str]:
    return count(payload, "epoch"), text(payload, "policy"), text(payload, "label")


def _shown(record: AuditRecord) -> Shown:
    payload = record.payload
    side = text(payload, "side")
    return Shown(
        index=record.index,
        claim_id=payload["claim_id"],
        kind=payload["kind"],
        status=payload["status"],
        threshold=_finite(payload["threshold"]),
        bound=_finite(payload["bound"]),
        side="lower" if side == "lower" else "upper" if side == "upper" else None,
        confidence=payload["confidence"],
        level=payload["level"],
        episodes=payload["episodes"],
        violations=payload["violations"],
        undecided=payload["undecided"],
        attempt=payload["attempt"],
        method=payload["method"],
        validity=payload["validity"],
        assumptions=tuple(str(item) for item in items(payload, "assumptions")),
        skipped=count(payload, "skipped"),
        doubtful=count(payload, "doubtful"),
        average=_average(items(payload, "average")) if payload.get("average") else None,
        joint=text(payload, "joint"),
        strata=tuple(table({"row": row}, "row") for row in items(payload, "strata")),
    )


def _average(ends: Sequence[Any]) -> tuple[float, float]:
    if len(ends) != 2:
        raise AuditError(f"An average has {len(ends)} ends, two are needed.", step="report")
    return decode_number(ends[0]), decode_number(ends[1])


def _finite(value: Any) -> float | None:
    return None if value is None else decode_number(value)
