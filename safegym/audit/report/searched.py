"""The regression suite and the searches for counterexamples, as their records tell them."""

from collections.abc import Mapping
from typing import Any

from safegym.audit.report.fields import count, items, table, text
from safegym.audit.report.model import Burst, Suite


def suite_of(payload: Mapping[str, Any]) -> Suite:
    """A regression record. Raises AuditError."""
    starts = payload["starts"]
    held = sum(entry["status"] == "satisfied" for entry in starts)
    return Suite(payload["epoch"], len(starts), held, payload["passed"])


def burst_of(payload: Mapping[str, Any]) -> Burst:
    """A falsification record. Raises AuditError."""
    finds = [table({"find": entry}, "find") for entry in items(payload, "finds")]
    return Burst(
        epoch=count(payload, "epoch"),
        claim_id=payload["claim_id"],
        method=payload["method"],
        budget=payload["budget"],
        episodes=count(payload, "episodes"),
        found=payload["found"],
        finds=tuple(text(entry, "trace") for entry in finds),
    )
