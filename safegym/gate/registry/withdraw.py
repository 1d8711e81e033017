"""Taking a released policy back: one more record in the run's own log."""

import getpass
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safegym.audit.log import AuditLog
from safegym.audit.read import read_checkpoint_file
from safegym.audit.record import AuditRecord
from safegym.audit.sign import Signer, default_signer, public_key
from safegym.errors import GateError
from safegym.gate.registry.derive import entries
from safegym.gate.registry.entry import PolicyEntry, PolicyRegistry
from safegym.gate.registry.reading import read_registry

AFTER_THE_END = frozenset({"run_resumed", "withdrawal"})
"""Kinds that may follow the end of a run without anything being trained again."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """What a withdrawal did. instead: the released policy that counts now, None if none does."""

    policy: PolicyEntry
    instead: PolicyEntry | None
    registry: PolicyRegistry


def withdraw(
    run: str | os.PathLike[str],
    policy: str | None = None,
    *,
    why: str,
    who: str | None = None,
    signer: Signer | None = None,
) -> Withdrawn:
    """Withdraw a promoted policy and say which released policy counts instead.

    policy: digest or how it begins; None for the current one. why: for the record. who: None for
    this computer's user name. signer: the key that the run was signed with, None for your own.
    The record is on disk before this returns, and stands also where a resumed run sets it aside.
    Raises GateError if no such policy is released; RunFolderError while a run is at work in the
    folder; AuditError if the log is broken or of another key (then nothing is written).
    """
    signer = default_signer() if signer is None else signer
    key, folder = public_key(signer), Path(run)
    if not why.strip():
        raise GateError('Say why it is withdrawn, for the record: why="drifts in gusts".')
    digest = _released(read_registry(folder, keys=[key]), policy).digest
    with AuditLog.open(
        folder, signer=signer, resume_from="end", reason="a policy is withdrawn"
    ) as log:
        _append(log, digest, who or _user(), why)
    after = read_registry(folder, keys=[key])
    return Withdrawn(after.find(digest), after.current, after)


def _append(log: AuditLog, digest: str, who: str, why: str) -> None:
    """Withdraw by the log as it stands now that nobody else writes it; leave it as it was found."""
    records, sealed = log.records(), read_checkpoint_file(log.folder)[-1].size
    registry = PolicyRegistry(
        log.folder, log.run, "", entries(log.folder, records, log.superseded, sealed), "", (), False
    )
    try:
        found = _released(registry, digest)
        promotion = _promotion_of(records, found)
        instead = next((e for e in registry.released if e.digest != found.digest), None)
        log.append(
            "withdrawal",
            {
                "policy": found.digest,
                "who": who,
                "why": why,
                "instead": None if instead is None else instead.digest,
                "rests_on": [promotion.reference()],
            },
        )
    finally:
        _leave(log, records)


def _released(registry: PolicyRegistry, policy: str | None) -> PolicyEntry:
    """The released policy that is meant. Raises GateError."""
    if policy is None:
        if registry.current is None:
            raise GateError(
                f"The run in {registry.run} has no released policy to withdraw; see: safegym "
                f"policy list {registry.run}"
            )
        return registry.current
    found = registry.find(policy)
    if found.withdrawn is not None:
        gone = found.withdrawn
        raise GateError(
            f"Policy {found.short} was withdrawn before, on {gone.time} by {gone.who}: {gone.why}"
        )
    if found.promoted is None:
        raise GateError(
            f"Policy {found.short} was never promoted ({found.status}), so there is nothing to "
            f"withdraw; see: safegym policy show {registry.run} {found.short}"
        )
    return found


def _promotion_of(records: Sequence[AuditRecord], entry: PolicyEntry) -> AuditRecord:
    index = -1 if entry.promoted is None else entry.promoted.record
    return records[index]


def _leave(log: AuditLog, before: Sequence[AuditRecord]) -> None:
    """Close the log again as the run had ended, or seal it for the run to go on."""
    ended = _ending(before)
    if ended is None:
        log.checkpoint()
        log.release()
    else:
        log.close(**ended)


def _ending(records: Sequence[AuditRecord]) -> dict[str, Any] | None:
    """How the run had ended: what its last run_closed record says, unless it went on since."""
    for record in reversed(records):
        if record.kind == "run_closed":
            return {name: value for name, value in record.payload.items() if name != "records"}
        if record.kind not in AFTER_THE_END:
            return None
    return None


def _user() -> str:
    """The user name, "unknown" where the system has none for this process."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
