"""Making a review of a log, and taking one into the log that it is about."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from safegym.audit.afterwards import reopened
from safegym.audit.bounded import read_bounded
from safegym.audit.cosign import checked
from safegym.audit.limits import Limits
from safegym.audit.merkle import root
from safegym.audit.read import read_log
from safegym.audit.record import AuditRecord, leaf_bytes
from safegym.audit.rederive import Rederive
from safegym.audit.reviews import SIGNED, Review, read_review, sign_review
from safegym.audit.sign import PublicKey, Signer
from safegym.audit.trust_file import stamp
from safegym.audit.verify_report import VerifyReport
from safegym.digest import PREFIX
from safegym.errors import AuditError

STATEMENT = "I have reviewed this log."


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A signed review, and how the log verified before it was signed."""

    review: Review
    report: VerifyReport


def review(
    run_or_bundle: str | os.PathLike[str],
    *,
    who: str,
    signer: Signer,
    keys: Iterable[PublicKey],
    statement: str = STATEMENT,
    rederive: Rederive | None = None,
) -> Reviewed:
    """Verify a log, then sign a review of it up to its last checkpoint; nothing is written.

    who: the reviewer's name. signer: the reviewer's own key. keys: trusted keys of the run.
    rederive: as in `verify.verify`; the review says whether verdicts were derived again.
    Raises AuditError if the log is broken or has no checkpoint.
    """
    if not who.strip() or not statement.strip():
        raise AuditError('Say who reviews, and what: --as "A. Person" --statement "..."')
    report = checked(run_or_bundle, keys, rederive)
    signed = sign_review(
        report.checkpoints[-1],
        report.run,
        who=who,
        statement=statement,
        found=report.result,
        derived=rederive is not None,
        time=stamp(datetime.now(UTC)),
        signer=signer,
    )
    return Reviewed(signed, report)


def read_review_file(path: str | os.PathLike[str]) -> Review:
    """Read a review from a file. Raises AuditError."""
    data = read_bounded(path, "review", Limits().line_bytes)
    return read_review(data.removesuffix(b"\n"), what=str(path))


def take_review(
    run: str | os.PathLike[str], review: Review, *, signer: Signer | None = None
) -> AuditRecord:
    """Take a review into the log that it is about, as a review_signature record.

    signer: as in `afterwards.reopened`. Raises AuditError if the review is of another log, or of
    other records than this log has, or stands in it already.
    """
    wrong = _misfit(read_log(run), review)
    if wrong is not None:
        raise AuditError(f"The review by {review.who} is not taken in: {wrong}.", step="tree")
    with reopened(run, signer=signer, reason="a review is taken in") as log:
        return log.append("review_signature", review.payload())


def _misfit(records: tuple[AuditRecord, ...], review: Review) -> str | None:
    if not records or records[0].run != review.run:
        return f"it is about the run {review.run[:40]!r}"
    leaves = [leaf_bytes(record.digest) for record in records[: review.size]]
    if review.size > len(records) or PREFIX + root(leaves).hex() != review.root:
        return f"it is about another tree of {review.size} records than this log has"
    line = review.payload()[SIGNED]
    if any(r.kind == "review_signature" and r.payload.get(SIGNED) == line for r in records):
        return "it stands in the log already"
    return None
