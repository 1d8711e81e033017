"""One line of plain words for a record, for a list that people glance at."""

from collections.abc import Callable, Mapping
from typing import Any

from safegym.audit.record import AuditRecord
from safegym.audit.report.fields import count, number, text, texts
from safegym.audit.report.figures import counted, plain, short, short_digest, spaced
from safegym.errors import AuditError

LONGEST = 200
"""Characters of a line at most."""


def line_of(record: AuditRecord) -> str:
    """What a record says, in words; "" for a kind that needs none beside its name."""
    words = _WORDS.get(record.kind)
    if words is None:
        return ""
    try:
        return short(words(record.payload), LONGEST)
    except (AuditError, KeyError, TypeError):  # a later version's form of this kind
        return ""


def _epoch(payload: Mapping[str, Any]) -> str:
    told = f"epoch {payload['epoch']}, {spaced(payload['steps'])} steps"
    earned = number(payload, "mean_return")
    return told if earned is None else f"{told}, mean return {plain(earned)}"


def _shard(payload: Mapping[str, Any]) -> str:
    return f"{counted(len(payload['traces']), 'trace')} of stream {payload['stream']}"


def _verdicts(payload: Mapping[str, Any]) -> str:
    broken = sum(entry["status"] == "violated" for entry in payload["verdicts"])
    judged = counted(len(payload["verdicts"]), "episode")
    return f"{payload['claim_id']}: {judged} judged, {spaced(broken)} violated"


def _evidence(payload: Mapping[str, Any]) -> str:
    seen = counted(payload["episodes"], "episode")
    label = text(payload, "label")
    of = f", baseline {label}" if label else ""
    return (
        f"{payload['claim_id']}{of}: {payload['kind']}, {payload['status']}, "
        f"{spaced(payload['violations'])} violated of {seen}"
    )


def _started(payload: Mapping[str, Any]) -> str:
    cap = count(payload, "cap")
    most = f", at most {counted(cap, 'episode')}" if cap else ""
    return f"attempt {payload['attempt']} on {short_digest(payload['policy'])}{most}"


def _ended(payload: Mapping[str, Any]) -> str:
    return (
        f"attempt {payload['attempt']}: {payload['outcome']} after "
        f"{counted(payload['episodes'], 'episode')}"
    )


def _decided(payload: Mapping[str, Any]) -> str:
    return f"epoch {payload['epoch']}, {payload['action']}: {'; '.join(texts(payload, 'reasons'))}"


def _about_policy(payload: Mapping[str, Any]) -> str:
    return short_digest(text(payload, "policy"))


def _searched(payload: Mapping[str, Any]) -> str:
    found = "a counterexample" if payload["found"] else "none, which proves nothing"
    return f"{payload['claim_id']}: found {found}"


def _resumed(payload: Mapping[str, Any]) -> str:
    return f"after record {payload['from']['size'] - 1}, {spaced(payload['superseded'])} set aside"


def _lowered(payload: Mapping[str, Any]) -> str:
    return f"epoch {payload['epoch']}, in {counted(payload['episodes'], 'failing episode')}"


_WORDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "checkpoint": _epoch,
    "trace_shard": _shard,
    "verdict": _verdicts,
    "evidence": _evidence,
    "attempt_started": _started,
    "attempt_closed": _ended,
    "gate_decision": _decided,
    "promotion": _about_policy,
    "policy_frozen": _about_policy,
    "withdrawal": lambda payload: f"{_about_policy(payload)}: {payload['why']}",
    "waiver": lambda payload: f"{payload['claim_id']}, by {payload['who']}: {payload['why']}",
    "rollback": lambda payload: f"to {short_digest(payload['to'])}",
    "falsification": _searched,
    "run_resumed": _resumed,
    "run_closed": lambda payload: str(payload["outcome"]),
    "penalty": _lowered,
    "spec_registered": lambda payload: counted(len(payload["claims"]), "claim"),
    "scenario_registered": lambda payload: str(payload["name"]),
}
