"""What a report rests on, as JSON: attached to the PDF, and printed by `safegym report --json`.

The payloads are the log's own, with the record and the digest that each stands under.
"""

from collections.abc import Iterator
from typing import Any

from safegym.audit.record import AuditRecord
from safegym.audit.report.gaps import gaps_of
from safegym.audit.report.integrity import Integrity
from safegym.audit.report.model import Story
from safegym.audit.report.wording import outcome_of

TYPE = "safegym.report-evidence"
VERSION = 1
KINDS = frozenset(
    {
        *("evidence", "attempt_started", "attempt_closed", "gate_decision", "promotion"),
        *("rollback", "regression", "falsification", "proof", "plan_registered"),
        *("spec_registered", "scenario_registered", "run_closed"),
        *("waiver", "withdrawal", "review_signature", "tombstone"),
    }
)
"""Kinds of record that are given whole; verdicts and traces are in the log alone."""


def evidence_of(
    records: tuple[AuditRecord, ...], story: Story, box: Integrity, unread: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Outcome, verdicts, waivers, gaps and the records they rest on, ready for `json.dumps`."""
    outcome = outcome_of(story, incomplete=bool(box.missing))
    return {
        "type": TYPE,
        "version": VERSION,
        "this_is_not_the_record": "the record is the signed log; verify it: " + box.command,
        "run": box.run,
        "records": box.records,
        "root": box.root,
        "key": {"keyid": box.key, "trusted": box.trusted},
        "closed": story.closed,
        "derived_again": box.derived,
        "missing": list(box.missing),
        "outcome": {
            "released": outcome.certified,
            "headline": outcome.headline,
            "policy": outcome.policy,
        },
        "claims": [
            {
                "id": item.claim.id,
                "digest": item.claim.digest,
                "statement": item.claim.statement,
                "verdict": item.word,
                "in_words": item.text,
                "evidence_record": item.leaf,
            }
            for item in outcome.verdicts
        ],
        "waivers": [item.to_json() for item in story.waivers],
        "gaps": [{"name": gap.name, "detail": gap.detail} for gap in gaps_of(story, box, unread)],
        "rests_on": list(_payloads(records)),
    }


def _payloads(records: tuple[AuditRecord, ...]) -> Iterator[dict[str, Any]]:
    for record in records:
        if record.kind in KINDS:
            yield {
                "record": record.index,
                "kind": record.kind,
                "time": record.time,
                "payload_digest": record.payload_digest,
                "payload": record.payload,
            }
