"""Deriving again what withdrawals say: that the policy was released, and which one counts then."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from safegym.audit.record import AuditRecord


@dataclass(slots=True)
class Releases:
    """The released policies while records arrive in order, latest promotion last.

    Each method yields (what differs, whether only for want of data), as all of re-derivation does.
    """

    standing: list[str] = field(default_factory=list[str])

    def promoted(self, record: AuditRecord) -> Iterator[tuple[str, bool]]:
        """Take in a promotion, whose own basis is looked at with its decision."""
        self.standing.append(record.payload["policy"])
        yield from ()

    def withdrawn(self, record: AuditRecord) -> Iterator[tuple[str, bool]]:
        """Take in a withdrawal.

        A withdrawal that a resumption set aside is not seen here but stands, so `instead` may be
        an earlier one than the latest, or none; it may not be a policy that is not released.
        """
        policy, instead = record.payload["policy"], record.payload["instead"]
        if policy not in self.standing:
            yield "withdraws a policy that is not released", False
        self.standing = [item for item in self.standing if item != policy]
        if instead is not None and instead not in self.standing:
            yield f"names {instead} as released before, which it is not", False
