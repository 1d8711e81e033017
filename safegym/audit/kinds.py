"""The kinds of record, and the fields that each must carry.

A payload may carry more fields than are required here. Two field names mean the same everywhere:
`subjects` (name -> "sha256:..." or "gitCommit:...") and `versions` (tool -> version).
A list called `rests_on` names other records by kind and payload digest (see `references`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from safegym.audit.references import named_artifacts, named_records
from safegym.audit.schema import (
    ARTIFACT,
    COUNT,
    DATE,
    DIGEST_FIELD,
    SUBJECT,
    Check,
    Fields,
    Items,
    Nullable,
    Number,
    Reference,
    Table,
    Text,
    Truth,
)
from safegym.errors import AuditError

TEXT = Text()
STATUS = Text("satisfied, violated or inconclusive", ("satisfied", "violated", "inconclusive"))
OPEN_NUMBER = Number('a number, "inf" or "-inf"', infinite=True)
POSITIVE = Number("a number from 0", least=0)
ATTEMPT = Number("a whole number from 1", least=1, whole=True)
STREAM = Text(
    "train, gate, certify, suite or burst", ("train", "gate", "certify", "suite", "burst")
)
EVIDENCE_KIND = Text("proved, estimated or observed", ("proved", "estimated", "observed"))
VALIDITY = Text(
    "exact, fixed_n, anytime or asymptotic", ("exact", "fixed_n", "anytime", "asymptotic")
)
ACTION = Text("promote, hold, rollback or stop", ("promote", "hold", "rollback", "stop"))
RESULT = Text("PROVED, VIOLATED or UNKNOWN", ("PROVED", "VIOLATED", "UNKNOWN"))
WHEN = Text("a date (YYYY-MM-DD, or with THH:MM:SSZ)", pattern=DATE)
SUBJECT_FIELD = Text("sha256:<64 hex digits> or gitCommit:<hex digits>", pattern=SUBJECT)
CLAIM: Mapping[str, Check] = {"claim_id": TEXT, "claim_digest": DIGEST_FIELD}

EVERYWHERE: Mapping[str, Check] = {"subjects": Table(SUBJECT_FIELD), "versions": Table(TEXT)}
"""Fields that any payload may carry, and that mean the same in each."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a record of this kind says, and its required fields."""

    meaning: str
    fields: Mapping[str, Check] = field(default_factory=dict[str, Check])


def _rests_on(*kinds: str, least: int = 0) -> Items:
    return Items(Reference(kinds), least)


KINDS: Mapping[str, Kind] = {
    "run_resumed": Kind(
        "the run goes on from a checkpoint of the log; later records are superseded",
        {
            "from": Fields({"size": COUNT, "root": DIGEST_FIELD}),
            "superseded": COUNT,
            "torn": Nullable(Fields({"bytes": COUNT, "digest": DIGEST_FIELD})),
            "reason": TEXT,
        },
    ),
    "attempt_started": Kind(
        "a certification attempt begins; durable before its first episode",
        {
            "attempt": ATTEMPT,
            "policy": DIGEST_FIELD,
            "scenario": DIGEST_FIELD,
            "claims": DIGEST_FIELD,
            "levels": Table(POSITIVE),
        },
    ),
    "attempt_closed": Kind(
        "a certification attempt ended",
        {
            "attempt": ATTEMPT,
            "outcome": TEXT,
            "episodes": COUNT,
            "rests_on": _rests_on("attempt_started", "evidence", least=1),
        },
    ),
    "checkpoint": Kind("training state was saved", {"epoch": COUNT, "steps": COUNT}),
    "falsification": Kind(
        "a search for a counterexample ended",
        {
            **CLAIM,
            "policy": DIGEST_FIELD,
            "scenario": DIGEST_FIELD,
            "method": TEXT,
            "budget": COUNT,
            "found": Truth(),
        },
    ),
    "regression": Kind(
        "the regression suite was run on a policy, start by start, before an attempt",
        {
            "policy": DIGEST_FIELD,
            "scenario": DIGEST_FIELD,
            "epoch": COUNT,
            "starts": Items(
                Fields({"claim_id": TEXT, "seed": TEXT, "trace": DIGEST_FIELD, "status": STATUS})
            ),
            "joined": COUNT,
            "passed": Truth(),
            "rests_on": _rests_on("verdict", "measurement", "trace_shard"),
        },
    ),
    "spec_registered": Kind(
        "the claims of the run, in canonical text",
        {
            "claims": Items(Fields({"id": TEXT, "text": TEXT, "digest": DIGEST_FIELD}), least=1),
            "digest": DIGEST_FIELD,
        },
    ),
    "scenario_registered": Kind("the scenario of the run", {"name": TEXT, "digest": DIGEST_FIELD}),
    "plan_registered": Kind(
        "thresholds, levels and seeds, fixed before epoch 0",
        {"plan": Table(), "digest": DIGEST_FIELD},
    ),
    "policy_frozen": Kind(
        "a policy was frozen by digest, its files kept",
        {"policy": DIGEST_FIELD, "epoch": COUNT, "files": Items(ARTIFACT)},
    ),
    "trace_shard": Kind(
        "traces were stored, in index order",
        {
            "shard": ARTIFACT,
            "traces": Items(DIGEST_FIELD, least=1),
            "first_index": COUNT,
            "stream": STREAM,
            "policy": DIGEST_FIELD,
            "scenario": DIGEST_FIELD,
        },
    ),
    "verdict": Kind(
        "one claim judged on traces, in index order",
        {
            **CLAIM,
            "stream": STREAM,
            "verdicts": Items(Fields({"trace": DIGEST_FIELD, "status": STATUS}), least=1),
            "rests_on": _rests_on("trace_shard", "import"),
        },
    ),
    "measurement": Kind(
        "the share of samples of a claim about a mean, measured on traces, in index order",
        {
            **CLAIM,
            "stream": STREAM,
            "measured": Items(
                Fields({"trace": DIGEST_FIELD, "lo": POSITIVE, "hi": POSITIVE}), least=1
            ),
            "rests_on": _rests_on("trace_shard", "import"),
        },
    ),
    "evidence": Kind(
        "what is known of one claim from many traces, or from a model",
        {
            **CLAIM,
            "kind": EVIDENCE_KIND,
            "status": STATUS,
            "threshold": Nullable(OPEN_NUMBER),
            "bound": Nullable(OPEN_NUMBER),
            "confidence": Nullable(POSITIVE),
            "level": Nullable(POSITIVE),
            "episodes": COUNT,
            "violations": COUNT,
            "undecided": COUNT,
            "attempt": COUNT,
            "validity": VALIDITY,
            "method": TEXT,
            "rests_on": _rests_on(
                *("verdict", "measurement", "trace_shard", "proof", "attempt_started", "import"),
                least=1,
            ),
        },
    ),
    "proof": Kind(
        "a property of a model was proved, refuted or left open",
        {**CLAIM, "result": RESULT, "method": TEXT},
    ),
    "gate_decision": Kind(
        "the gate decided, on these records and for these reasons",
        {
            "action": ACTION,
            "epoch": COUNT,
            "policy": DIGEST_FIELD,
            "reasons": Items(TEXT, least=1),
            "rests_on": _rests_on(
                *("evidence", "verdict", "measurement", "trace_shard", "proof"),
                *("falsification", "regression", "attempt_closed"),
            ),
        },
    ),
    "penalty": Kind(
        "failing traces lowered rewards, or advantages by a cost critic",
        {"epoch": COUNT, "episodes": COUNT},
    ),
    "replay": Kind(
        "failing starts were drawn again for training", {"epoch": COUNT, "episodes": COUNT}
    ),
    "rollback": Kind(
        "training returned to an earlier policy",
        {
            "epoch": COUNT,
            "from": DIGEST_FIELD,
            "to": DIGEST_FIELD,
            "rests_on": _rests_on("gate_decision", least=1),
        },
    ),
    "promotion": Kind(
        "a policy was released",
        {"policy": DIGEST_FIELD, "rests_on": _rests_on("gate_decision", least=1)},
    ),
    "withdrawal": Kind(
        "a person took a released policy back; `instead` is the one released before, if any",
        {
            "policy": DIGEST_FIELD,
            "who": TEXT,
            "why": TEXT,
            "instead": Nullable(DIGEST_FIELD),
            "rests_on": _rests_on("promotion", least=1),
        },
    ),
    "waiver": Kind(
        "a person accepts a gap until a date",
        {"claim_id": TEXT, "who": TEXT, "why": TEXT, "expiry": WHEN},
    ),
    "import": Kind(
        "a recording from outside was read",
        {
            "source": Fields({"digest": DIGEST_FIELD, "size": COUNT}),
            "format": TEXT,
            "traces": Items(DIGEST_FIELD),
        },
    ),
    "review_signature": Kind(
        "a person reviewed the log up to a checkpoint",
        {"who": TEXT, "statement": TEXT, "covers": Fields({"size": COUNT, "root": DIGEST_FIELD})},
    ),
    "tombstone": Kind(
        "an artifact was removed on purpose", {"removed": ARTIFACT, "who": TEXT, "why": TEXT}
    ),
    "run_closed": Kind("the run ended", {"outcome": TEXT, "records": COUNT}),
}
"""Every kind, in the order of the documentation."""
BY_PEOPLE = frozenset({"withdrawal", "waiver", "review_signature", "tombstone"})
"""Kinds that are a person's word: they stand also where a resumed run sets their record aside."""


def payload_fault(kind: str, payload: Any) -> str | None:
    """Say what is wrong with an encoded payload of this kind, or return None."""
    rule = KINDS.get(kind)
    if rule is None:
        return f"there is no kind {kind!r}; the kinds are {', '.join(KINDS)}"
    wrong = (
        Fields(rule.fields).fault(payload)
        or _everywhere_fault(payload)
        or _named_fault(payload)
        or _joint_fault(kind, payload)
    )
    return None if wrong is None else f"{kind}: {wrong}"


def check_payload(kind: str, payload: Any, *, step: str) -> None:
    """Raise AuditError (at `step`) if the payload does not fit its kind."""
    wrong = payload_fault(kind, payload)
    if wrong is not None:
        raise AuditError(f"This payload does not fit its kind: {wrong}.", step=step)


def _everywhere_fault(payload: Mapping[str, Any]) -> str | None:
    for name, check in EVERYWHERE.items():
        wrong = check.fault(payload[name]) if name in payload else None
        if wrong is not None:
            return f"{name}: {wrong}"
    if "payload" in payload.get("subjects", {}):
        return "subjects: the name 'payload' is taken by the payload itself"
    return None


def _named_fault(payload: Mapping[str, Any]) -> str | None:
    """Artifacts and references must be well formed wherever they stand."""
    anything = Reference(tuple(KINDS))
    wrongs = [ARTIFACT.fault(artifact) for artifact in named_artifacts(payload)]
    wrongs += [anything.fault(reference) for reference in named_records(payload)]
    return next((wrong for wrong in wrongs if wrong is not None), None)


def _joint_fault(kind: str, payload: Mapping[str, Any]) -> str | None:
    """Rules over more than one field."""
    named = {entry["kind"] for entry in payload.get("rests_on", ())}
    if kind == "gate_decision":
        return _decision_fault(payload["action"], named)
    if kind == "evidence":
        return _evidence_fault(payload, named)
    if kind in ("verdict", "measurement") and payload["stream"] == "certify" and not named:
        return f"a certification {kind} must rest on the trace_shard that holds its traces"
    return None


def _decision_fault(action: str, named: set[str]) -> str | None:
    if action == "promote" and "evidence" not in named:
        return "a promotion must rest on at least one evidence record"
    if action == "rollback" and not named:
        return "a rollback must rest on at least one record"
    return None


def _evidence_fault(payload: Mapping[str, Any], named: set[str]) -> str | None:
    kind = payload["kind"]
    counted = payload["violations"] + payload["undecided"]
    if counted > payload["episodes"]:
        return f"{counted} violated or undecided of {payload['episodes']} episodes"
    if kind == "proved":
        return None if "proof" in named else "what is proved must rest on a proof record"
    if not named & {"verdict", "measurement", "trace_shard"}:
        return f"what is {kind} must rest on verdict, measurement or trace_shard records"
    if payload["attempt"] > 0 and "attempt_started" not in named:
        return "an attempt's evidence must rest on its attempt_started record"
    return None
