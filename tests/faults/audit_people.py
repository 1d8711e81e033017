"""A closed run to which people added: a waiver, a signed review, a cosignature, a tombstone."""

import functools
import tempfile
from pathlib import Path

from audit_forge import CLAIM, Files, Ticking, good_run, read_folder, signer, write_folder

from safegym.audit import layout
from safegym.audit.cosign import take_note
from safegym.audit.log import AuditLog
from safegym.audit.note import cosigned
from safegym.audit.read import read_checkpoint_file
from safegym.audit.reviews import sign_review

REMOVED = "policies/aa/policy.json"
WITNESS = "example.org/ann"


def peopled_run(*, removed: bool = False) -> Files:
    """The run with all of it; removed: with a tombstone, and without the file that it names."""
    return dict(_peopled_run(removed))


@functools.cache
def _peopled_run(removed: bool) -> Files:
    ann, clock = signer("ann"), Ticking()
    clock.ticks = 100
    with tempfile.TemporaryDirectory() as name:
        folder = write_folder(Path(name) / "run", good_run())
        sealed = read_checkpoint_file(folder)[-1]
        take_note(folder, cosigned(sealed, WITNESS, ann))
        log = AuditLog.open(
            folder, signer=signer(), resume_from="end", reason="people", clocks=clock.clocks()
        )
        waiver = {"claim_id": "no-collision", "claim_digest": CLAIM, "who": "A. Person"}
        log.append("waiver", {**waiver, "why": "rig only", "expiry": "2026-12-31"})
        review = sign_review(
            sealed,
            log.run,
            who="R. Eviewer",
            statement="Claims and plan read.",
            found="intact",
            derived=False,
            time="2026-01-02T00:00:00Z",
            signer=ann,
        )
        log.append("review_signature", review.payload())
        if removed:
            stone = {"removed": log.artifact(REMOVED), "who": "A. Person", "why": "space"}
            log.append("tombstone", {**stone, "cost": []})
        log.close("certified")
        files = read_folder(folder)
    if removed:
        del files[REMOVED]
    return {n: data for n, data in files.items() if n != layout.LOCK}
