"""A proof in an audit trail of its own: what was asked, the policy, the answer, the certificate."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from safegym.audit.log import AuditLog
from safegym.audit.record import AuditRecord
from safegym.check.neural.proof import Proof
from safegym.digest import digest_json
from safegym.errors import RunFolderError
from safegym.formula.claim import Claim
from safegym.gate.evidence import evidence_json
from safegym.gate.freezing import record_frozen
from safegym.gate.proof_posed import region_told
from safegym.gate.proof_recount import ABOUT, LOGGED
from safegym.gate.setting import versions
from safegym.policy.base import Policy

CERTIFICATE = "certificate"


def proof_folder(folder: str | Path) -> Path:
    """The run folder that a proof will be written to; where its certificate goes is inside.

    Raises RunFolderError for a folder that is there already and not empty.
    """
    place = Path(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise RunFolderError(
            f"A proof's audit trail goes into a new folder; {place} is there already and not "
            "empty. Name another: --out runs/proof-2."
        )
    place.mkdir(parents=True, exist_ok=True)
    return place


def log_proof(
    folder: str | Path,
    proof: Proof,
    policy: Policy,
    claim: Claim | None,
    *,
    fields: Mapping[str, int | str] | None = None,
) -> Path:
    """Write the log of one proof; its certificate must lie in `folder`/certificate.

    claim: what was proved, None for a ready property, of which the log holds the words. fields: as
    `prove` was given them. Returns the folder. Raises RunFolderError for a folder in use,
    PolicyError for a policy that is not frozen.
    """
    place = Path(folder)
    with AuditLog.create(place) as log:
        log.append("spec_registered", _asked(proof, claim))
        frozen = record_frozen(log, policy, epoch=0)
        answer = log.append("proof", _answer(log, proof, fields or {}, frozen))
        log.checkpoint()
        _append_evidence(log, proof, policy, answer)
        log.close(proof.standing.lower())
    return place


def _asked(proof: Proof, claim: Claim | None) -> dict[str, Any]:
    stated = {} if claim is None else {"claim": claim.to_json()}
    entry = {
        "id": proof.evidence().claim_id,
        "text": proof.text,
        "digest": proof.claim_digest,
        **stated,
    }
    return {"claims": [entry], "digest": digest_json([proof.claim_digest]), "about": ABOUT}


def _answer(
    log: AuditLog, proof: Proof, fields: Mapping[str, int | str], frozen: AuditRecord
) -> dict[str, Any]:
    told, evidence = proof.to_json(), proof.evidence()
    kept = ("standing", "semantics", "region", "shares", "boxes", "reason", "limits", "equivalence")
    return {
        "claim_id": evidence.claim_id,
        "claim_digest": proof.claim_digest,
        "policy": proof.policy_digest,
        "result": LOGGED[proof.result],
        "method": evidence.method,
        **{name: told[name] for name in kept},
        "fields": dict(fields),
        "regions": [region_told(each.region) for each in proof.problems],
        "witness": told["witness"],
        "second_opinions": told["second_opinions"],
        "notes": told["notes"],
        "certificates": _certificates(log, proof),
        "versions": versions(),
        "rests_on": [frozen.reference()],
    }


def _certificates(log: AuditLog, proof: Proof) -> list[dict[str, Any]]:
    """Each part's files and the digest of what it states."""
    return [
        {
            "statement": each.statement,
            "complete": each.complete,
            "reason": each.reason,
            "files": _files(log, each.folder),
        }
        for each in proof.certificates
    ]


def _files(log: AuditLog, folder: Path) -> Sequence[Mapping[str, Any]]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [log.artifact(path.absolute()) for path in paths]


def _append_evidence(log: AuditLog, proof: Proof, policy: Policy, answer: AuditRecord) -> None:
    payload = {**evidence_json(proof.evidence()), "policy": policy.card.digest}
    log.append("evidence", {**payload, "rests_on": [answer.reference()]})
