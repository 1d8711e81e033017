"""How a training run ended."""

from dataclasses import dataclass
from pathlib import Path

from safegym.gate.trainer.boundary import last_boundary
from safegym.gate.trainer.folder import RunFolder
from safegym.gate.trainer.kept import KeptCheckpoints
from safegym.gate.trainer.record import DecisionRecord


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended.

    status: "promoted" (a policy was released), "finished" (steps used up), "stopped" (by the gate)
    or "interrupted" (Ctrl-C; go on with `resume`). policy_digest: of the promoted policy, else "".
    checkpoint: the promoted checkpoint, else the last one.
    """

    status: str
    epoch: int
    steps: int
    checkpoint: Path
    policy_digest: str = ""
    reasons: tuple[str, ...] = ()
    resume: str = ""


def interrupted(folder: RunFolder) -> Outcome:
    """The outcome of a run that was broken off: what is kept, and how to go on."""
    command = f"safegym train --resume {folder.path}"
    last = last_boundary(folder)
    epoch = 0 if last is None else last.epoch
    return Outcome(
        status="interrupted",
        epoch=epoch,
        steps=0 if last is None else last.report.steps,
        checkpoint=folder.checkpoint(epoch),
        reasons=(f"interrupted; the checkpoint of epoch {epoch} is kept", command),
        resume=command,
    )


def ended(record: DecisionRecord, folder: RunFolder, kept: KeptCheckpoints, steps: int) -> Outcome:
    """The outcome of a run that this decision ends."""
    promoted = bool(record.policy_digest)
    status = "promoted" if promoted else "finished" if record.at_end else "stopped"
    epoch = kept.epoch_of(record.policy_digest) if promoted else record.epoch
    return Outcome(
        status=status,
        epoch=record.epoch,
        steps=steps,
        checkpoint=folder.checkpoint(epoch),
        policy_digest=record.policy_digest if promoted else "",
        reasons=record.reasons,
    )
