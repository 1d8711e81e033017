"""Which evidence a gate accepts: what holds at the number of episodes at which it stopped."""

from collections.abc import Iterable

from safegym.check.statistics.validity import refuse_in_gate
from safegym.errors import EvidenceError, GateError
from safegym.verdict import Evidence


def refuse_unfit(evidence: Iterable[Evidence]) -> None:
    """Raise GateError if any of it is no ground for a release.

    Observed and proved evidence is `exact`; an estimate must be `anytime`.
    """
    for item in evidence:
        try:
            refuse_in_gate(item.validity, f"Evidence on {item.claim_id} by {item.method}")
        except EvidenceError as error:
            raise GateError(
                f"{error} For a release run safegym.certify(scenario, policy), whose bounds hold "
                "at every peek."
            ) from error
