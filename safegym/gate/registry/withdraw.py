"""Taking a released policy back: one more record in the run's own log."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from safegym.audit.afterwards import person, reopened
from safegym.audit.log import AuditLog
from safegym.audit.read import read_checkpoint_file
from safegym.audit.record import AuditRecord
from safegym.audit.sign import Signer, public_key, signer_for
from safegym.errors import GateError
from safegym.gate.registry.derive import entries
from safegym.gate.registry.entry import PolicyEntry, PolicyRegistry
from safegym.gate.registry.reading import read_registry


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
    folder = Path(run)
    signer = signer_for(folder) if signer is None else signer
    key = public_key(signer)
    if not why.strip():
        raise GateError('Say why it is withdrawn, for the record: why="drifts in gusts".')
    digest = _released(read_registry(folder, keys=[key]), policy).digest
    with reopened(folder, signer=signer, reason="a policy is withdrawn") as log:
        _append(log, digest, who or person(), why)
    after = read_registry(folder, keys=[key])
    return Withdrawn(after.find(digest), after.current, after)


def _append(log: AuditLog, digest: str, who: str, why: str) -> None:
    """Withdraw by the log as it stands now that nobody else writes it."""
    records, sealed = log.records(), read_checkpoint_file(log.folder)[-1].size
    registry = PolicyRegistry(
        log.folder, log.run, "", entries(log.folder, records, log.superseded, sealed), "", (), False
    )
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
