"""in-toto Statements about a run's policy, signed as DSSE envelopes with the user's key.

Three predicates: our own with everything, test-result for what counts tests, and svr for what
asks which properties were verified. None says more than the log: a claim whose evidence was
observed alone is a warning, one that is waived or not shown is no passed test and no property.
Source: in-toto attestation framework, Statement v1, predicates test-result v0.1 and svr v0.1.
"""

from datetime import UTC, datetime
from typing import Any, Literal, get_args

from safegym.audit.envelope import Envelope, seal
from safegym.audit.exports.standing import Dossier, Standing
from safegym.audit.exports.told import claim_json, run_json
from safegym.audit.record import STATEMENT_TYPE
from safegym.audit.sign import Signer
from safegym.audit.values import canonical
from safegym.errors import AuditError
from safegym.version import __version__

Predicate = Literal["safegym", "test-result", "svr"]
PREDICATES: tuple[Predicate, ...] = get_args(Predicate)
TYPES: dict[Predicate, str] = {
    "safegym": "urn:safegym:run-evidence:1",
    "test-result": "https://in-toto.io/attestation/test-result/v0.1",
    "svr": "https://in-toto.io/attestation/svr/v0.1",
}
VERIFIER = f"urn:safegym:verify:{__version__}"
Grade = Literal["passed", "warned", "failed"]


def statement_of(
    dossier: Dossier, predicate: Predicate = "safegym", *, at: datetime | None = None
) -> dict[str, Any]:
    """The Statement, unsigned. at: when it is made, None for now.

    Subjects are the policy and its files, by digest. Raises AuditError if the log names no policy.
    """
    made = (at or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = {"safegym": _own, "test-result": _test_result, "svr": _svr}[predicate]
    return {
        "_type": STATEMENT_TYPE,
        "subject": _subjects(dossier),
        "predicateType": TYPES[predicate],
        "predicate": body(dossier, made),
    }


def signed_statement(
    dossier: Dossier,
    predicate: Predicate,
    signer: Signer,
    *,
    at: datetime | None = None,
) -> Envelope:
    """The Statement in a DSSE envelope with one Ed25519 signature. Raises AuditError."""
    return seal(canonical(statement_of(dossier, predicate, at=at)), signer)


def grade(standing: Standing) -> Grade:
    """A claim as a test: "warned" is a claim that held, with something that must be said of it.

    What was observed only, is waived or rests on a suspect link is warned of; what is refuted, not
    shown or not tried has failed, waived or not.
    """
    if standing.result != "satisfied":
        return "failed"
    return "passed" if standing.supported and standing.evidence_kind != "observed" else "warned"


def _subjects(dossier: Dossier) -> list[dict[str, Any]]:
    policy = dossier.outcome.policy
    if not policy:
        raise AuditError(
            f"{dossier.name} has judged no policy, so there is nothing to state anything of. "
            "Export it once a policy was screened.",
            step="format",
        )
    files = [
        (str(file["artifact"]), str(file["digest"]))
        for record in dossier.live()
        if record.kind == "policy_frozen" and record.payload["policy"] == policy
        for file in record.payload["files"]
    ]
    named = {"policy": policy, **dict(sorted(files))}
    return [{"name": name, "digest": _digest_set(digest)} for name, digest in named.items()]


def _digest_set(digest: str) -> dict[str, str]:
    algorithm, _, value = digest.partition(":")
    return {algorithm: value}


def _own(dossier: Dossier, made: str) -> dict[str, Any]:
    return {
        "made": made,
        "verifier": VERIFIER,
        **run_json(dossier),
        "claims": [claim_json(standing) for standing in dossier.standings],
        "gaps": [{"name": gap.name, "detail": gap.detail} for gap in dossier.gaps],
    }


def _test_result(dossier: Dossier, made: str) -> dict[str, Any]:
    grades = {standing.claim.id: grade(standing) for standing in dossier.standings}
    failed = "failed" in grades.values() or not dossier.outcome.certified or not grades
    warned = "warned" in grades.values() or dossier.cautions
    return {
        "result": "FAILED" if failed else "WARNED" if warned else "PASSED",
        "configuration": _configuration(dossier),
        "passedTests": [name for name, found in grades.items() if found == "passed"],
        "warnedTests": [name for name, found in grades.items() if found == "warned"],
        "failedTests": [name for name, found in grades.items() if found == "failed"],
        "safegym_cautions": list(dossier.cautions),
    }


def _configuration(dossier: Dossier) -> list[dict[str, Any]]:
    """What was registered before the run, by digest, and the log itself by its root."""
    kinds = ("scenario_registered", "spec_registered", "plan_registered")
    names = ("scenario", "claims", "plan")
    found = [
        {"name": name, "digest": _digest_set(str(record.payload["digest"]))}
        for name, kind in zip(names, kinds, strict=True)
        if (record := dossier.first(kind)) is not None
    ]
    return [*found, *([_log(dossier)] if dossier.box.root else [])]


def _log(dossier: Dossier) -> dict[str, Any]:
    name = f"log of {dossier.box.records} records (RFC 6962 root)"
    return {"name": name, "digest": _digest_set(dossier.box.root)}


def _svr(dossier: Dossier, made: str) -> dict[str, Any]:
    verifier: dict[str, Any] = {"id": VERIFIER}
    plan = dossier.first("plan_registered")
    if plan is not None:
        digest = _digest_set(str(plan.payload["digest"]))
        verifier["policy"] = {"name": "plan", "digest": digest}
    return {
        "verifier": verifier,
        "timeCreated": made,
        "properties": properties(dossier),
        "safegym_cautions": list(dossier.cautions),
    }


def properties(dossier: Dossier) -> list[str]:
    """What was verified and passes. Of a log from which something is missing: nothing but that.

    Each kind of evidence has a property of its own, so that none is read as another. A claim has
    one only where the policy is released, by a log that a trusted key signed.
    """
    if dossier.box.missing:
        return ["SAFEGYM_WHAT_IS_THERE_OF_THE_LOG_IS_NOT_BROKEN"]
    found = ["SAFEGYM_LOG_INTACT"] if dossier.box.trusted else []
    if dossier.story.closed:
        found.append("SAFEGYM_RUN_CLOSED")
    if dossier.box.derived:
        found.append("SAFEGYM_VERDICTS_DERIVED_AGAIN")
    if not dossier.released or not dossier.box.trusted:
        return found
    return [*found, "SAFEGYM_POLICY_RELEASED"] + [
        f"SAFEGYM_CLAIM_{standing.evidence_kind.upper()}:{standing.claim.id}"
        for standing in dossier.standings
        if standing.supported
    ]
