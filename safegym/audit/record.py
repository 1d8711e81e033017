"""The record, and its in-toto statement.

Source: in-toto attestation framework, Statement version 1.
"""

from dataclasses import dataclass
from typing import Any

from safegym.audit import merkle
from safegym.audit.envelope import Envelope
from safegym.audit.kinds import check_payload
from safegym.audit.newer import Newer, refuse_later_statement
from safegym.audit.schema import (
    COUNT,
    DIGEST_FIELD,
    Fields,
    Items,
    Table,
    Text,
)
from safegym.audit.values import canonical, parse, spelled
from safegym.digest import PREFIX, digest_bytes
from safegym.errors import AuditError

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:safegym:audit-record:1"
FIRST_PREVIOUS = PREFIX + merkle.EMPTY_ROOT.hex()
"""`previous` of record 0: the root of the empty tree."""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One record of a log.

    index: position in the log, from 0. time: claimed wall clock, UTC. kind: one of `kinds.KINDS`.
    payload: what is compared between runs. payload_digest: of its RFC 8785 bytes.
    previous: digest of the record before (of the empty tree for record 0).
    digest: RFC 6962 leaf hash of the signed line, "sha256:...".
    run: the run's id. actor: fingerprint of the signing key. session: how often the log had been
    opened again. monotonic: microseconds since this session opened the log. durability: "record"
    if the line was forced to disk before append returned, "epoch" if at the next checkpoint.
    leaves: indices of the records that the payload names, ascending.
    """

    index: int
    time: str
    kind: str
    payload: dict[str, Any]
    payload_digest: str
    previous: str
    digest: str
    run: str = ""
    actor: str = ""
    session: int = 0
    monotonic: int = 0
    durability: str = "record"
    leaves: tuple[int, ...] = ()

    def reference(self) -> dict[str, str]:
        """How another record's payload names this one: {"kind", "record"}."""
        return {"kind": self.kind, "record": self.payload_digest}


def statement_bytes(record: AuditRecord) -> bytes:
    """The statement to sign, in canonical form; `record.digest` is not part of it."""
    return canonical(
        {
            "_type": STATEMENT_TYPE,
            "subject": _subjects(record.payload, record.payload_digest),
            "predicateType": PREDICATE_TYPE,
            "predicate": {
                "envelope": {
                    "actor": record.actor,
                    "durability": record.durability,
                    "leaves": list(record.leaves),
                    "monotonic": record.monotonic,
                    "previous": record.previous,
                    "run": record.run,
                    "sequence": record.index,
                    "session": record.session,
                    "time": record.time,
                },
                "kind": record.kind,
                "payload": record.payload,
                "payload_digest": record.payload_digest,
            },
        }
    )


def record_of(
    envelope: Envelope, line: bytes, *, what: str, newer: Newer | None = None
) -> AuditRecord:
    """Read the record inside a line's envelope. Raises AuditError (step "format").

    newer: takes in kinds and fields of a later version; without it they are errors.
    """
    statement = parse(envelope.payload, what=f"{what}: the statement")
    refuse_later_statement(statement, PREDICATE_TYPE, what)
    wrong = _STATEMENT.fault(statement)
    if wrong is not None:
        raise AuditError(f"{what} is not an audit statement: {wrong}.", step="format")
    predicate = statement["predicate"]
    claimed, payload = predicate["envelope"], predicate["payload"]
    try:
        check_payload(predicate["kind"], payload, step="format")
    except AuditError as error:
        told = f"{what}: {error}"
        if newer is None or not newer.takes(predicate["kind"], payload, told):
            raise AuditError(told, step="format") from error
    record = AuditRecord(
        index=claimed["sequence"],
        time=claimed["time"],
        kind=predicate["kind"],
        payload=payload,
        payload_digest=predicate["payload_digest"],
        previous=claimed["previous"],
        digest=leaf_digest(line),
        run=claimed["run"],
        actor=claimed["actor"],
        session=claimed["session"],
        monotonic=claimed["monotonic"],
        durability=claimed["durability"],
        leaves=tuple(claimed["leaves"]),
    )
    _check_derived(record, statement, envelope, what)
    return record


def _check_derived(
    record: AuditRecord, statement: dict[str, Any], envelope: Envelope, what: str
) -> None:
    """Fields that follow from others must say the same."""
    if digest_bytes(spelled(record.payload)) != record.payload_digest:
        raise AuditError(f"{what}: the payload digest is not the payload's.", step="format")
    if statement["subject"] != _subjects(record.payload, record.payload_digest):
        raise AuditError(f"{what}: the subjects are not the payload's.", step="format")
    if record.actor != envelope.key:
        raise AuditError(f"{what}: the actor is not the key that signs.", step="format")


def leaf_digest(line: bytes) -> str:
    """RFC 6962 leaf hash of a log line (without its end), as a digest."""
    return PREFIX + merkle.leaf_hash(line).hex()


def leaf_bytes(digest: str) -> bytes:
    """The 32 bytes of a digest "sha256:<hex>"."""
    return bytes.fromhex(digest.removeprefix(PREFIX))


def _subjects(payload: dict[str, Any], payload_digest: str) -> list[dict[str, Any]]:
    """The payload itself, then what it names under `subjects`, by name."""
    named = sorted(payload.get("subjects", {}).items())
    pairs = [("payload", payload_digest), *named]
    return [{"name": name, "digest": dict([digest.split(":", 1)])} for name, digest in pairs]


_ENVELOPE = Fields(
    {
        "actor": Text("a key fingerprint"),
        "durability": Text("record or epoch", ("record", "epoch")),
        "leaves": Items(COUNT),
        "monotonic": COUNT,
        "previous": DIGEST_FIELD,
        "run": Text("a run id"),
        "sequence": COUNT,
        "session": COUNT,
        "time": Text("a time"),
    },
    closed=True,
)
_PREDICATE = Fields(
    {
        "envelope": _ENVELOPE,
        "kind": Text("a kind"),
        "payload": Table(),
        "payload_digest": DIGEST_FIELD,
    },
    closed=True,
)
_STATEMENT = Fields(
    {
        "_type": Text(STATEMENT_TYPE, (STATEMENT_TYPE,)),
        "subject": Items(Table(), least=1),
        "predicateType": Text(PREDICATE_TYPE, (PREDICATE_TYPE,)),
        "predicate": _PREDICATE,
    },
    closed=True,
)
