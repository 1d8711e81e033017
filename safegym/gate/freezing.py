"""Freezing a policy for the record: its digest, and its files beside the log."""

from pathlib import Path
from typing import Protocol, runtime_checkable

from safegym.audit.log import AuditLog
from safegym.audit.record import AuditRecord
from safegym.errors import PolicyError
from safegym.policy.base import Policy
from safegym.policy.tree import FILE, TreePolicy

FOLDER = "policies"


@runtime_checkable
class Savable(Protocol):
    """A policy that can be written to a folder as weights and JSON."""

    def save(self, path: str | Path) -> str:
        """Write the folder; returns its digest."""
        ...


def refuse_unfrozen(policy: Policy, *, sampled: bool = False) -> None:
    """Raise PolicyError if the policy's digest does not fix its behaviour.

    sampled: accept one that draws its actions, if it draws them from each episode's seed: it is
    judged as sampled, and its evidence says so.
    """
    card = policy.card
    moving = moving_normaliser(policy)
    if moving:
        raise PolicyError(
            f"Policy {card.name} acts behind a normaliser ({moving}) that still moves: with each "
            "episode it would become another policy, and no evidence could name it. Freeze it with "
            "the statistics as they stand: safegym.freeze(model), or set "
            "model.get_vec_normalize_env().training = False and freeze then."
        )
    if not card.is_known:
        raise PolicyError(
            f"Policy {card.name} ({card.kind}, digest {card.digest!r}) is an object whose weights "
            "safegym cannot digest, so no evidence could name it. Freeze it "
            "(safegym.freeze(model)), or wrap a function: safegym.ScriptedPolicy(name, function)."
        )
    drawn = sampled and card.mode == "sampled" and hasattr(policy, "begin")
    if card.mode != "deterministic" and not drawn:
        raise PolicyError(
            f"Policy {card.name} acts in {card.mode} mode; the gate judges deterministic policies. "
            "Freeze it with deterministic actions."
        )


def moving_normaliser(policy: Policy) -> str:
    """Type name of a normaliser that updates its statistics as it acts, "" if there is none.

    Found through stable-baselines3's own door, `get_vec_normalize_env`, on the wrapped model.
    """
    model = getattr(policy, "_model", policy)
    door = getattr(model, "get_vec_normalize_env", None)
    normaliser = door() if callable(door) else None
    moves = bool(getattr(normaliser, "training", False) and getattr(normaliser, "norm_obs", False))
    return type(normaliser).__name__ if moves else ""


def policy_folder(run: Path, digest: str) -> Path:
    """Where a run keeps a frozen policy."""
    return run / FOLDER / digest.partition(":")[2][:16]


def record_frozen(
    log: AuditLog, policy: Policy, epoch: int, *, sampled: bool = False
) -> AuditRecord:
    """Keep the policy's files in the run folder and append policy_frozen; returns the record.

    sampled: as for `refuse_unfrozen`. Scripted policies have no files: their code is named by the
    digest alone.
    """
    refuse_unfrozen(policy, sampled=sampled)
    card = policy.card
    folder = policy_folder(log.folder, card.digest)
    if isinstance(policy, Savable) and not folder.exists():
        folder.parent.mkdir(exist_ok=True)
        _save(policy, folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return log.append(
        "policy_frozen",
        {
            "policy": card.digest,
            "epoch": epoch,
            "files": [log.artifact(path.absolute()) for path in files],
            "name": card.name,
            "kind": card.kind,
            "mode": card.mode,
            "width": card.width,
            **({"assumptions": list(card.assumptions)} if card.assumptions else {}),
        },
    )


def _save(policy: Savable, folder: Path) -> None:
    """A tree saves one file; the folder is made for it."""
    if not isinstance(policy, TreePolicy):
        policy.save(folder)
        return
    folder.mkdir()
    policy.save(folder / FILE)
