"""Builds good runs byte for byte, and forges bad ones as an attacker (or the owner) would."""

import base64
import functools
import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from safegym.audit import layout, merkle
from safegym.audit.archive import write_stored
from safegym.audit.envelope import Envelope, seal
from safegym.audit.log import AuditLog, Clocks
from safegym.audit.note import sign_checkpoint
from safegym.audit.sign import public_key, signer_of
from safegym.digest import canonical_json, digest_bytes

Files = dict[str, bytes]
TRACE = "sha256:" + "7" * 64
POLICY = "sha256:" + "a" * 64
OTHER_POLICY = "sha256:" + "b" * 64
SCENARIO = "sha256:" + "c" * 64
CLAIM = "sha256:" + "d" * 64
RUN = "0123456789abcdef0123456789abcdef"


def signer(name: str = "owner"):
    """A key pair for tests only, the same at every call."""
    return signer_of(Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest()))


class Ticking:
    """Clocks that move one second a reading, so that runs are equal byte for byte."""

    def __init__(self) -> None:
        self.ticks = 0

    def wall(self) -> datetime:
        self.ticks += 1
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.ticks)

    def monotonic(self) -> int:
        return self.ticks * 1_000_000_000

    def clocks(self) -> Clocks:
        return Clocks(self.wall, self.monotonic)


def evidence(basis: Iterable[Any], **changes: Any) -> dict[str, Any]:
    return {
        "claim_id": "no-collision",
        "claim_digest": CLAIM,
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
        "rests_on": [record.reference() for record in basis],
        **changes,
    }


def fill(log: AuditLog, policy: str = POLICY) -> None:
    """The records of a small run that certifies one policy."""
    folder = log.folder
    (folder / "traces").mkdir(exist_ok=True)
    (folder / "policies" / "aa").mkdir(parents=True, exist_ok=True)
    (folder / "traces" / "certify-0001.arrow").write_bytes(b"two traces\n" * 20)
    (folder / "policies" / "aa" / "policy.json").write_bytes(b'{"layers":[64,64]}\n')
    claim = {"id": "no-collision", "text": "always (clearance > 0)", "digest": CLAIM}
    log.append("spec_registered", {"claims": [claim], "digest": CLAIM})
    log.append("scenario_registered", {"name": "drone/corridor-v0", "digest": SCENARIO})
    log.append("plan_registered", {"plan": {"level": 0.05, "seed": 7}, "digest": SCENARIO})
    log.checkpoint()
    files = [log.artifact("policies/aa/policy.json")]
    log.append("policy_frozen", {"policy": policy, "epoch": 3, "files": files})
    started = log.append(
        "attempt_started",
        {
            "attempt": 1,
            "policy": policy,
            "scenario": SCENARIO,
            "claims": CLAIM,
            "levels": {"no-collision": 0.03},
        },
    )
    shard = log.append(
        "trace_shard",
        {
            "shard": log.artifact("traces/certify-0001.arrow"),
            "traces": [TRACE, SCENARIO],
            "first_index": 0,
            "stream": "certify",
            "policy": policy,
            "scenario": SCENARIO,
        },
    )
    rows = [{"trace": TRACE, "status": "satisfied"}, {"trace": SCENARIO, "status": "satisfied"}]
    verdict = log.append(
        "verdict",
        {
            "claim_id": "no-collision",
            "claim_digest": CLAIM,
            "policy": policy,
            "stream": "certify",
            "verdicts": rows,
            "rests_on": [shard.reference()],
        },
    )
    found = log.append("evidence", evidence([started, verdict], policy=policy))
    log.append(
        "attempt_closed",
        {
            "attempt": 1,
            "outcome": "certified",
            "episodes": 2,
            "rests_on": [started.reference(), found.reference()],
        },
    )
    decision = log.append(
        "gate_decision",
        {
            "action": "promote",
            "epoch": 3,
            "policy": policy,
            "reasons": ["certified at attempt 1"],
            "rests_on": [found.reference()],
        },
    )
    log.append("promotion", {"policy": policy, "rests_on": [decision.reference()]})


def read_folder(folder: Path) -> Files:
    names = (p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("."))
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in names}


def write_folder(folder: Path, files: Files) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def write_bundle(target: Path, files: Files) -> Path:
    with target.open("wb") as out:
        write_stored(out, list(files.items()))
    return target


def good_run(*, run: str = RUN, policy: str = POLICY) -> Files:
    """A closed run."""
    return dict(_good_run(run, policy))


def resumed_run() -> Files:
    """A run that was killed in its third epoch, resumed, and closed."""
    return dict(_resumed_run())


@functools.cache
def _good_run(run: str, policy: str) -> Files:
    return _built(lambda log: fill(log, policy), run)


@functools.cache
def _resumed_run() -> Files:

    def work(log: AuditLog) -> None:
        fill(log)
        log.checkpoint()
        log.append("checkpoint", {"epoch": 4, "steps": 80_000})
        log.release()

    return _built(work, RUN, resume=True)


def _built(work: Callable[[AuditLog], None], run: str, *, resume: bool = False) -> Files:
    with tempfile.TemporaryDirectory() as name:
        folder, clock = Path(name) / "run", Ticking()
        log = AuditLog.create(folder, signer=signer(), run=run, clocks=clock.clocks())
        work(log)
        if resume:
            with (folder / layout.LOG).open("ab") as file:
                file.write(b'{"payload":"eyJ')
            log = AuditLog.open(folder, signer=signer(), clocks=clock.clocks())
            log.append("checkpoint", {"epoch": 4, "steps": 80_000})
        log.close("certified")
        files = read_folder(folder)
        shutil.rmtree(folder)
        return files


def lines_of(files: Files) -> list[bytes]:
    return files[layout.LOG].split(b"\n")[:-1]


def with_lines(files: Files, lines: Iterable[bytes]) -> Files:
    return {**files, layout.LOG: b"".join(line + b"\n" for line in lines)}


def statements(files: Files) -> list[dict[str, Any]]:
    return [json.loads(base64.b64decode(json.loads(line)["payload"])) for line in lines_of(files)]


def payload_of(statement: dict[str, Any]) -> dict[str, Any]:
    return statement["predicate"]["payload"]


def notes_of(files: Files) -> list[str]:
    blocks = files[layout.CHECKPOINTS].decode().removesuffix("\n").split("\n\n")
    return [f"{blocks[i]}\n\n{blocks[i + 1]}\n" for i in range(0, len(blocks), 2)]


def with_notes(files: Files, notes: Iterable[str]) -> Files:
    return {**files, layout.CHECKPOINTS: "\n".join(notes).encode()}


def forged(
    files: Files,
    changed: list[dict[str, Any]],
    *,
    key: str = "owner",
    checkpoints: tuple[int, ...] | None = None,
    spelled: Callable[[int, bytes], bytes] = lambda index, data: data,
) -> Files:
    """Sign and chain `changed` statements anew, all digests recomputed, as the key's owner could.

    checkpoints: sizes to sign, those of the run and its end by default; () keeps the old file.
    spelled: rewrites a statement's bytes before they are signed.
    """
    owner = signer(key)
    previous, lines = "sha256:" + merkle.EMPTY_ROOT.hex(), []
    for index, statement in enumerate(changed):
        predicate = statement["predicate"]
        digest = digest_bytes(canonical_json(predicate["payload"]))
        predicate["payload_digest"] = digest
        statement["subject"][0]["digest"]["sha256"] = digest.removeprefix("sha256:")
        predicate["envelope"].update(
            previous=previous, sequence=index, actor=public_key(owner).keyid
        )
        line = seal(spelled(index, canonical_json(statement)), owner).line()
        lines.append(line)
        previous = "sha256:" + merkle.leaf_hash(line).hex()
    built = with_lines(files, lines)
    if checkpoints == ():
        return built
    return with_notes(built, signed_notes(lines, changed, checkpoints or (3, len(lines)), key))


def signed_notes(
    lines: list[bytes], changed: list[dict[str, Any]], sizes: Iterable[int], key: str = "owner"
) -> list[str]:
    run = changed[0]["predicate"]["envelope"]["run"]
    leaves = [merkle.leaf_hash(line) for line in lines]
    return [
        sign_checkpoint(run, size, merkle.root(leaves[:size]), signer(key)).note() for size in sizes
    ]


def resealed(line: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """A line whose envelope object was changed, in canonical form."""
    envelope = json.loads(line)
    change(envelope)
    return canonical_json(envelope)


def signed_as(payload: bytes, payload_type: str, key: str = "owner") -> bytes:
    """A line of another payload type, rightly signed."""
    owner = signer(key)
    unsigned = Envelope(payload, payload_type, public_key(owner).keyid, b"")
    signature = bytes.fromhex(owner.sign(unsigned.signed_bytes()).signature)
    return Envelope(payload, payload_type, unsigned.key, signature).line()
