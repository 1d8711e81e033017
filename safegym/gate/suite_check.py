"""Running the regression suite on a policy that passed its screen, before an attempt is made."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safegym.gate.attempt import Certifier
from safegym.gate.checks import Checked
from safegym.gate.counterexample import Counterexample
from safegym.gate.events import SuiteDone
from safegym.gate.freezing import policy_folder
from safegym.gate.from_starts import book_of, run_from
from safegym.gate.judging import Judged, Reference
from safegym.gate.suite import RegressionSuite, episodes_of
from safegym.policy.base import Policy

STREAM = "suite"
NAMED = 3
"""Failing starts that the reasons name."""


@dataclass(slots=True)
class SuiteCheck:
    """Holds the gate unless the policy satisfies the claim of every start of the suite.

    suite: gives the suite as it stands. The same policy is run once for the same suite.
    """

    certifier: Certifier
    suite: Callable[[], RegressionSuite]
    _known: dict[tuple[str, int, str], Checked] = field(
        default_factory=dict[tuple[str, int, str], Checked]
    )

    def check(self, policy: Policy, epoch: int) -> Checked:
        """Run the suite; episodes that fail go back to the bank."""
        suite = self.suite()
        key = policy.card.digest, epoch, suite.digest
        if key not in self._known:
            self._known = {**self._known, key: self._checked(policy, epoch, suite)}
        return self._known[key]

    def _checked(self, policy: Policy, epoch: int, suite: RegressionSuite) -> Checked:
        certifier, digest, starts = self.certifier, policy.card.digest, suite.starts
        certifier.ledger.burn(start.seed for start in starts)
        begun = episodes_of(starts)
        book = book_of(certifier.log, certifier.folder, certifier.setting, digest, epoch, STREAM)
        judged = run_from(
            certifier.setting,
            policy,
            begun,
            origin="suite",
            book=book,
            listener=certifier.listener,
        )
        came = {
            start.key: found
            for each, found in zip(begun, judged, strict=True)
            for start in each.starts
        }
        entries = [entry_json(start, came[start.key]) for start in starts]
        lost = tuple(
            start
            for start, entry in zip(starts, entries, strict=True)
            if entry["status"] != "satisfied"
        )
        named = [reference for each in book.references.values() for reference in each]
        written = self._logged(digest, epoch, entries, named, suite.joined)
        certifier.listener(SuiteDone(epoch, digest, len(starts), lost))
        failing = {came[start.key].index: came[start.key] for start in lost}
        reasons = _reasons(lost, len(starts), digest)
        return Checked(not lost, reasons, tuple(failing.values()), written)

    def _logged(
        self,
        digest: str,
        epoch: int,
        entries: Sequence[Mapping[str, Any]],
        rests_on: list[Reference],
        joined: int,
    ) -> tuple[Reference, ...]:
        log = self.certifier.log
        if log is None:
            return ()
        record = log.append(
            "regression",
            {
                "epoch": epoch,
                "policy": digest,
                "scenario": self.certifier.setting.spec.digest,
                "starts": [dict(entry) for entry in entries],
                "joined": joined,
                "passed": all(entry["status"] == "satisfied" for entry in entries),
                "rests_on": rests_on,
            },
        )
        return (record.reference(),)


def entry_json(start: Counterexample, found: Judged) -> dict[str, Any]:
    """How a start came out, as the record says it."""
    status = {verdict.claim_id: verdict.status for verdict in found.verdicts}
    return {
        "claim_id": start.claim_id,
        "seed": str(start.seed),
        "options": dict(start.options),
        "episode": found.index,
        "trace": found.trace.digest,
        "status": status.get(start.claim_id, "inconclusive"),
    }


def _reasons(failed: Sequence[Counterexample], total: int, policy: str) -> tuple[str, ...]:
    if not failed:
        return ()
    named = ", ".join(f"{start.claim_id} from seed {start.seed}" for start in failed[:NAMED])
    more = f" and {len(failed) - NAMED} more" if len(failed) > NAMED else ""
    return (
        f"regression suite: {len(failed)} of {total} starts that were passed before are not "
        f"passed now: {named}{more}",
        f"they are trained on again; a start that no policy passes holds the gate until a full "
        f"suite lets it go: look at it with safegym bank show RUN {failed[0].seed}, or train on "
        f"without a suite: safegym train NAME --start-from {policy_folder(Path('RUN'), policy)} "
        "--set replay.suite=0 --out NEW",
    )
