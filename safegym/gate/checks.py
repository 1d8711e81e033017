"""What a policy that passed its screen must still pass before an attempt is spent on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from safegym.gate.judging import Judged, Reference
from safegym.policy.base import Policy


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found. It is no evidence: at most it holds the gate.

    passed: False keeps the attempt from being made. reasons: why, or what is worth saying.
    failing: episodes for the replay bank. references: the records that it wrote.
    """

    passed: bool = True
    reasons: tuple[str, ...] = ()
    failing: tuple[Judged, ...] = ()
    references: tuple[Reference, ...] = ()


class BeforeAttempt(Protocol):
    """A check between a passed screen and an attempt. It draws no seed of the certify stream."""

    def check(self, policy: Policy, epoch: int) -> Checked:
        """Look at a frozen policy. The same policy on the same epoch gives the same answer."""
        ...


def checked_by_all(checks: Sequence[BeforeAttempt], policy: Policy, epoch: int) -> Checked:
    """Run checks in order until one does not pass; what they found, joined."""
    found = Checked()
    for check in checks:
        one = check.check(policy, epoch)
        found = Checked(
            one.passed,
            (*found.reasons, *one.reasons),
            (*found.failing, *one.failing),
            (*found.references, *one.references),
        )
        if not one.passed:
            break
    return found
