"""One claim of an export as JSON: what a machine reads of it in a statement or a matrix."""

from typing import Any

from safegym.audit.exports.standing import Dossier, Standing


def claim_json(standing: Standing) -> dict[str, Any]:
    """The claim with its verdict, evidence, leaf, waiver and suspicions, ready for `json.dumps`.

    episodes, violations, undecided: counts. threshold, bound: as the claim states it. confidence,
    level: in (0, 1). leaf: RFC 6962 leaf hash of the evidence record.
    """
    claim, shown, record = standing.claim, standing.shown, standing.record
    told: dict[str, Any] = {
        "id": claim.id,
        "digest": claim.digest,
        "statement": claim.statement,
        "hazard": standing.hazard,
        "severity": standing.severity,
        "result": standing.result,
        "evidence_kind": standing.evidence_kind,
        "in_words": standing.verdict.text,
        "waiver": None if standing.waiver is None else standing.waiver.to_json(),
        "suspect": list(standing.suspect),
        "evidence": None,
    }
    if shown is not None and record is not None:
        told["evidence"] = {
            "record": record.index,
            "leaf": record.digest,
            "payload_digest": record.payload_digest,
            "method": shown.method,
            "validity": shown.validity,
            "episodes": shown.episodes,
            "violations": shown.violations,
            "undecided": shown.undecided,
            "threshold": shown.threshold,
            "bound": shown.bound,
            "side": shown.side,
            "confidence": shown.confidence,
            "level": shown.level,
            "assumptions": list(shown.assumptions),
        }
    return told


def run_json(dossier: Dossier) -> dict[str, Any]:
    """What the export is of: the run, its log as verified, its policy and outcome."""
    box, outcome = dossier.box, dossier.outcome
    return {
        "run": box.run,
        "scenario": {
            "name": dossier.story.scenario,
            "digest": str(dossier.story.scenario_facts.get("digest", "")),
        },
        "policy": outcome.policy,
        "released": outcome.certified,
        "headline": outcome.headline,
        "log": {
            "records": box.records,
            "root": box.root,
            "key": box.key,
            "key_trusted": box.trusted,
            "closed": dossier.story.closed,
            "missing": list(box.missing),
            "derived_again": box.derived,
        },
        "cautions": list(dossier.cautions),
    }
