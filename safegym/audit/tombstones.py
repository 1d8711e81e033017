"""Tombstones: an artifact is removed on purpose, and the log says who did it and why.

The record is on disk before the file goes. Verifying the run is then incomplete, by that
tombstone, and not broken.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safegym.audit.afterwards import person, reopened, standing
from safegym.audit.artifacts import relative_name
from safegym.audit.cover import superseded_indices
from safegym.audit.durable import sync_folder
from safegym.audit.paths import path_fault
from safegym.audit.read import read_log
from safegym.audit.record import AuditRecord
from safegym.audit.references import named_artifacts
from safegym.audit.sign import Signer
from safegym.errors import AuditError

BESIDE = (".index.parquet", ".seal.json")
"""Endings of files beside a trace shard (.arrow) that repeat what it holds."""


@dataclass(frozen=True, slots=True)
class Removal:
    """What removing an artifact does. files: those that go, relative to the run folder.

    cost: what can no longer be shown without it, in words; empty if nothing rests on it. record:
    index of the tombstone, -1 before it is written. recorded: there was a tombstone before.
    """

    artifact: dict[str, Any]
    files: tuple[str, ...]
    cost: tuple[str, ...]
    record: int = -1
    recorded: bool = False

    def to_json(self) -> dict[str, Any]:
        """The removal as JSON."""
        return {
            "artifact": self.artifact,
            "files": list(self.files),
            "cost": list(self.cost),
            "record": self.record,
        }


def removal_of(run: str | os.PathLike[str], name: str) -> Removal:
    """What removing this artifact would do; nothing is changed.

    name: its path in the run folder, as records name it. Raises AuditError if no live record names
    it: then it is no artifact, and the log says nothing of it.
    """
    return _removal(Path(run), read_log(run), name)


def remove(
    run: str | os.PathLike[str],
    name: str,
    *,
    why: str,
    at_cost: bool = False,
    who: str | None = None,
    signer: Signer | None = None,
) -> Removal:
    """Record a tombstone in the run's log, then remove the artifact and what repeats it beside.

    at_cost: remove it although evidence rests on it. who: None for this computer's user name.
    signer: as in `afterwards.reopened`. Where a tombstone was recorded but the file is still there
    (a crash in between), only the file is removed.
    Raises AuditError for a path that no record names, for one that evidence rests on unless
    `at_cost`, and as `reopened` does.
    """
    folder = Path(run)
    if not why.strip():
        raise AuditError('Say why it is removed, for the record: --why "personal data".')
    found = removal_of(folder, name)
    if found.recorded and not found.files:
        raise AuditError(f"{name} was removed before; its tombstone is record {found.record}.")
    if found.cost and not at_cost:
        raise AuditError(
            f"Removing {name} has a cost: {'; '.join(found.cost)}. If that is meant, say --at-cost."
        )
    if not found.recorded:
        found = _record(folder, found, who or person(), why, signer)
    _delete(folder, found.files)
    return found


def _record(folder: Path, found: Removal, who: str, why: str, signer: Signer | None) -> Removal:
    with reopened(folder, signer=signer, reason="an artifact is removed") as log:
        payload = {"removed": found.artifact, "who": who, "why": why, "cost": list(found.cost)}
        record = log.append("tombstone", payload)
    return Removal(found.artifact, found.files, found.cost, record.index)


def _removal(folder: Path, records: Sequence[AuditRecord], name: str) -> Removal:
    live = standing(records, superseded_indices(records))
    naming = [
        (record, artifact)
        for record in live
        for artifact in named_artifacts(record.payload)
        if artifact["artifact"] == name
    ]
    holders = [record for record, _ in naming if record.kind != "tombstone"]
    if path_fault(name) is not None or not holders:
        raise AuditError(
            f"No record in force names an artifact {name!r}, so there is nothing to record. Give "
            "its path in the run folder, such as traces/certify-0001.arrow."
        )
    stones = [record for record, _ in naming if record.kind == "tombstone"]
    artifact = {key: naming[0][1][key] for key in ("artifact", "digest", "size")}
    there = [f for f in (name, *_beside(name)) if os.path.lexists(folder / f)]
    files = tuple(relative_name(folder, Path(f)) for f in there)
    cost = tuple(line for record in holders for line in _cost(record, live))
    return Removal(artifact, files, cost, stones[0].index if stones else -1, bool(stones))


def _beside(name: str) -> tuple[str, ...]:
    if not name.endswith(".arrow"):
        return ()
    return tuple(name.removesuffix(".arrow") + ending for ending in BESIDE)


def _cost(holder: AuditRecord, live: Sequence[AuditRecord]) -> list[str]:
    """What cannot be shown any more without an artifact of this record."""
    above = _resting(holder, live)
    kinds = {record.kind for record in above}
    lines = list[str]()
    claims = sorted({str(r.payload["claim_id"]) for r in above if r.kind == "evidence"})
    count = len(holder.payload["traces"]) if holder.kind == "trace_shard" else 0
    if holder.kind == "trace_shard" and holder.payload["stream"] == "certify":
        lines.append(
            f"it holds {count} certification traces: the verdicts on them cannot be derived again"
        )
    if claims:
        lines.append(f"evidence for {', '.join(claims)} rests on it and stays the log's word alone")
    if "promotion" in kinds:
        lines.append("a promotion rests on that evidence")
    if holder.kind == "policy_frozen":
        policy = holder.payload["policy"]
        promoted = any(r.kind == "promotion" and r.payload["policy"] == policy for r in live)
        released = ", which was released," if promoted else ""
        lines.append(f"policy {policy[:19]}{released} cannot be loaded or its digest checked again")
    if holder.kind == "proof":
        lines.append(
            f"the certificate of claim {holder.payload['claim_id']} cannot be checked again"
        )
    return lines


def _resting(holder: AuditRecord, live: Sequence[AuditRecord]) -> list[AuditRecord]:
    """The live records that rest on this one, directly or through others."""
    reached = {holder.index}
    above = list[AuditRecord]()
    for record in live:
        if reached.intersection(record.leaves):
            reached.add(record.index)
            above.append(record)
    return above


def _delete(folder: Path, files: Sequence[str]) -> None:
    """Remove files durably. Raises AuditError (step "artifacts")."""
    for name in files:
        path = folder / name
        try:
            path.unlink(missing_ok=True)
            sync_folder(path.parent)
        except OSError as error:
            raise AuditError(
                f"The tombstone is recorded, but {name} could not be removed: {error.strerror}. "
                "Run the command again.",
                step="artifacts",
            ) from error
