"""Which claims were waived, by whom, until when, and what their evidence says all the same."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from safegym.audit.trust_file import read_stamp
from safegym.audit.waivers import Waiver, waivers_of
from safegym.gate.answers.opened import Opened
from safegym.gate.answers.standing import Found, standing


@dataclass(frozen=True, slots=True)
class Waived:
    """A waiver, and the evidence on its claim; a waiver turns no verdict."""

    waiver: Waiver
    found: Found | None

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON."""
        found = None if self.found is None else asdict(self.found)
        return {**self.waiver.to_json(), "evidence": found}


def waived(opened: Opened, *, at: datetime | None = None) -> tuple[Waived, ...]:
    """Every waiver of a verified log in the order given, as it stands now.

    at: as it stood or will stand at this time, without those given later (by their claimed time).
    """
    records = opened.records
    if at is not None:
        records = tuple(record for record in records if read_stamp(record.time) <= at)
    given = waivers_of(records, at or datetime.now(UTC))
    evidence = standing(opened).evidence if given else {}
    return tuple(Waived(each, evidence.get(each.claim_id)) for each in given)
