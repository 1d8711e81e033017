"""A small closed run, as training writes it: one policy, certified on two shards, released."""

import shutil
import tempfile
from functools import cache
from pathlib import Path

from safegym.audit.log import AuditLog
from safegym.audit.own_keys import make_key
from safegym.audit.sign import CryptoSigner, load_signer

DIGESTS = ["sha256:" + character * 64 for character in "0123456789abcdef"]
POLICY, SCENARIO, CLAIMS = DIGESTS[10:13]
FIRST, SECOND = "traces/certify-0.arrow", "traces/certify-1.arrow"
SCREEN, WEIGHTS = "traces/screen-0.arrow", "policies/aa/weights.safetensors"


def closed_run(folder: Path, signer: CryptoSigner) -> Path:
    """The run, at its end; the same files are built only once a signer."""
    built = _built(signer)
    shutil.copytree(built, folder)
    return folder


@cache
def _built(signer: CryptoSigner) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="peopled-")) / "run"
    log = AuditLog.create(folder, signer=signer)
    for name in (FIRST, SECOND, SCREEN, WEIGHTS):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(f"{name}\n".encode() * 9)
    (folder / FIRST.replace(".arrow", ".index.parquet")).write_bytes(b"index")
    _fill(log)
    log.close("certified")
    return folder


def _fill(log: AuditLog) -> None:
    claims = [{"id": name, "text": f"always ({name} > 0)", "digest": CLAIMS} for name in ("a", "b")]
    log.append("spec_registered", {"claims": claims, "digest": CLAIMS})
    log.append("scenario_registered", {"name": "toy", "digest": SCENARIO})
    log.append("plan_registered", {"plan": {"level": 0.05}, "digest": SCENARIO})
    frozen = [log.artifact(WEIGHTS)]
    log.append("policy_frozen", {"policy": POLICY, "epoch": 1, "files": frozen})
    _shard(log, SCREEN, "gate", 0)
    started = log.append(
        "attempt_started",
        {
            "attempt": 1,
            "policy": POLICY,
            "scenario": SCENARIO,
            "claims": CLAIMS,
            "levels": {"a": 0.03},
        },
    )
    log.checkpoint()
    verdicts = []
    for place, name in enumerate((FIRST, SECOND)):
        shard = _shard(log, name, "certify", place)
        rows = [{"trace": DIGESTS[place], "status": "satisfied"}]
        told = {"claim_id": "a", "claim_digest": CLAIMS, "policy": POLICY, "stream": "certify"}
        verdicts.append(
            log.append("verdict", {**told, "verdicts": rows, "rests_on": [shard.reference()]})
        )
    found = log.append(
        "evidence",
        {
            "claim_id": "a",
            "claim_digest": CLAIMS,
            "policy": POLICY,
            "kind": "estimated",
            "status": "satisfied",
            "threshold": 0.01,
            "bound": 0.0093,
            "confidence": 0.95,
            "level": 0.05,
            "episodes": 2,
            "violations": 0,
            "undecided": 0,
            "attempt": 1,
            "validity": "anytime",
            "method": "e-process",
            "rests_on": [r.reference() for r in (started, *verdicts)],
        },
    )
    decision = log.append(
        "gate_decision",
        {
            "action": "promote",
            "epoch": 1,
            "policy": POLICY,
            "reasons": ["certified at attempt 1"],
            "rests_on": [found.reference()],
        },
    )
    log.append("promotion", {"policy": POLICY, "rests_on": [decision.reference()]})


def _shard(log: AuditLog, name: str, stream: str, place: int):
    return log.append(
        "trace_shard",
        {
            "shard": log.artifact(name),
            "traces": [DIGESTS[place]],
            "first_index": place,
            "stream": stream,
            "policy": POLICY,
            "scenario": SCENARIO,
        },
    )


def fresh_signer(path: Path) -> CryptoSigner:
    """A signer with a key of its own, in a file."""
    make_key(path)
    return load_signer(path)
