"""Reading the registry of a run: the log is verified first, and only then believed."""

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from safegym.audit.examine import Pinned
from safegym.audit.sign import PublicKey, keys_for
from safegym.audit.verify import verify
from safegym.audit.verify_report import VerifyReport
from safegym.audit.waivers import waivers_of
from safegym.errors import AuditError
from safegym.gate.registry.derive import entries
from safegym.gate.registry.entry import PolicyRegistry


def read_registry(
    run: str | os.PathLike[str],
    *,
    keys: Iterable[PublicKey] | None = None,
    rederive: bool = False,
    pinned: Pinned | None = None,
) -> PolicyRegistry:
    """The policies of the run in folder `run`, as its verified log tells of them.

    keys: public keys that you trust, None for your own. rederive: also derive every verdict again
    from the stored traces (slower; as `safegym audit verify` does). pinned: a checkpoint noted
    earlier; without one, a log cut back to before a withdrawal cannot be told from one that never
    had it. Raises AuditError where the folder is no run, or its log is broken: then nothing that
    it says of policies counts.
    """
    from safegym.gate.rederive import rederive as derive_again

    folder = Path(run)
    trusted = keys_for(folder, ()) if keys is None else keys
    report = verify(
        folder, keys=trusted, rederive=derive_again if rederive else None, pinned=pinned
    )
    broken = report.broken
    if broken is not None:
        raise AuditError(
            f"The log of {folder} is broken at step {broken.number}, {broken.name}: "
            f"{broken.detail}. Nothing that it says of policies counts; see: safegym audit verify "
            f"{folder}",
            step=broken.name,
        )
    if report.slice is not None:
        raise AuditError(
            f"{folder} is a slice about {report.slice.about}: it cannot show that nothing was "
            "withdrawn or released since, so no registry is read from it. Ask for the whole "
            "bundle; what the slice shows: safegym audit verify",
            step="references",
        )
    return _registry(folder, report, rederived=rederive)


def _registry(folder: Path, report: VerifyReport, *, rederived: bool) -> PolicyRegistry:
    sealed = report.checkpoints[-1].size if report.checkpoints else 0
    named = [r.payload["name"] for r in report.records if r.kind == "scenario_registered"]
    return PolicyRegistry(
        run=folder,
        run_id=report.run,
        scenario=str(named[0]) if named else "",
        policies=entries(folder, report.records, report.superseded, sealed),
        verification=report.result,
        missing=report.missing,
        rederived=rederived,
        waivers=waivers_of(report.records, datetime.now(UTC)),
    )
