"""What a later version may have written: new kinds, new fields, another format of records.

Such a log is not broken. What can be checked is (envelopes, signatures, tree, files); the rest is
reported as incomplete, and the version that wrote it can check it whole.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from safegym.audit.kinds import KINDS
from safegym.audit.references import named_artifacts, named_records
from safegym.audit.schema import ARTIFACT, DIGEST_FIELD, Fields, Text
from safegym.errors import AuditError

FIXED = frozenset({"run_resumed", "run_closed", "tombstone"})
"""Kinds whose fields no later version changes: sequence, tree and artifacts are read by them."""
_LATER = re.compile(r"urn:safegym:audit-record:([2-9]|[1-9][0-9]{1,8})\Z")
_NAMED = Fields({"kind": Text("a kind"), "record": DIGEST_FIELD}, closed=True)


class LaterFormat(AuditError):
    """Records of a later format than this version reads (step "format")."""


@dataclass(slots=True)
class Newer:
    """What did not fit this version's rules. kinds: unknown ones. faults: of known ones, in words.

    Without an unknown kind, a fault is just a fault: the log is broken.
    """

    kinds: set[str] = field(default_factory=set[str])
    faults: list[str] = field(default_factory=list[str])

    def takes(self, kind: str, payload: Any, told: str) -> bool:
        """Whether a payload that does not fit its kind may be a later version's; keeps it so."""
        if kind in FIXED or _outline_fault(payload):
            return False
        if kind in KINDS:
            self.faults.append(told)
        else:
            self.kinds.add(kind)
        return True

    def refuse_faults(self) -> None:
        """Raise AuditError for the first fault, unless the log shows that it is a later one."""
        if self.faults and not self.kinds:
            raise AuditError(self.faults[0], step="format")

    def told(self) -> str:
        """What was found, in words; "" if nothing."""
        if not self.kinds:
            return ""
        named = ", ".join(sorted(kind[:40] for kind in self.kinds))
        more = f", and {len(self.faults)} payloads have other fields" if self.faults else ""
        return (
            f"a later version of safegym wrote this log: this one does not know records of kind "
            f"{named}{more}. Verify it with the version that wrote it to check those as well"
        )


def refuse_later_statement(statement: Any, known: str, what: str) -> None:
    """Raise LaterFormat for a statement about a record of a later format than `known`."""
    said = statement.get("predicateType") if isinstance(statement, dict) else None
    if isinstance(said, str) and said != known and _LATER.match(said):
        raise LaterFormat(
            f"{what} is of the format {said}, this version reads {known}. Verify the log with the "
            "version that wrote it",
            step="format",
        )


def _outline_fault(payload: Any) -> bool:
    """Whether artifacts or references are malformed, which later steps follow."""
    if not isinstance(payload, dict):
        return True
    wrongs = [ARTIFACT.fault(entry) for entry in named_artifacts(payload)]
    wrongs += [_NAMED.fault(entry) for entry in named_records(payload)]
    digests = payload.get("subjects", {})
    fits = isinstance(digests, dict) and all(
        isinstance(value, str) and ":" in value for value in digests.values()
    )
    return not fits or any(wrong is not None for wrong in wrongs)
