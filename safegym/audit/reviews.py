"""Reviews: a person says of a checkpoint what they looked at, signed with a key of their own.

A review is a DSSE envelope around an in-toto Statement about the checkpoint's root. It can be made
from a bundle, by somebody who cannot write the log; the owner of the run takes it into the log as a
`review_signature` record that carries the envelope.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from safegym.audit.envelope import Envelope, decode_base64, read_line, seal
from safegym.audit.key import PublicKey, Signer, public_key, raw_bytes, signed_by, trusted_key
from safegym.audit.note import Checkpoint
from safegym.audit.record import STATEMENT_TYPE
from safegym.audit.schema import COUNT, DATE, DIGEST_FIELD, Fields, Items, Table, Text, Truth
from safegym.audit.values import canonical, parse
from safegym.digest import PREFIX
from safegym.errors import AuditError

PREDICATE_TYPE = "urn:safegym:review:1"
SIGNED = "signed"
"""Field of a review_signature payload that carries the reviewer's envelope."""


@dataclass(frozen=True, slots=True)
class Review:
    """What somebody says of a log. covers: size and root ("sha256:...") of a checkpoint.

    found: how the log verified for them. derived: whether verdicts were derived again.
    time: as claimed, UTC. envelope: signed by `key`, their own public key.
    """

    who: str
    statement: str
    run: str
    size: int
    root: str
    found: str
    derived: bool
    time: str
    key: PublicKey
    envelope: Envelope

    def payload(self) -> dict[str, Any]:
        """The payload of the review_signature record that takes it into a log."""
        return {
            "who": self.who,
            "statement": self.statement,
            "covers": {"size": self.size, "root": self.root},
            SIGNED: self.envelope.line().decode("utf-8"),
        }


def sign_review(
    checkpoint: Checkpoint,
    run: str,
    *,
    who: str,
    statement: str,
    found: str,
    derived: bool,
    time: str,
    signer: Signer,
) -> Review:
    """Sign a review of the log up to `checkpoint`."""
    root = PREFIX + checkpoint.root.hex()
    key = public_key(signer)
    predicate = {
        "who": who,
        "statement": statement,
        "run": run,
        "size": checkpoint.size,
        "root": root,
        "found": found,
        "derived": derived,
        "time": time,
        "public_key": base64.b64encode(raw_bytes(key)).decode("ascii"),
    }
    text = {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": "checkpoint", "digest": {"sha256": checkpoint.root.hex()}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate,
    }
    return read_review(seal(canonical(text), signer).line(), what="The review")


def read_review(line: bytes, *, what: str) -> Review:
    """Read a review and check its signature by the key that it names.

    Whether that key is the reviewer's is another question, which a trust file answers.
    Raises AuditError (step "format" or "signatures").
    """
    envelope = read_line(line, what=what)
    statement = parse(envelope.payload, what=what)
    wrong = _STATEMENT.fault(statement)
    if wrong is not None:
        raise AuditError(f"{what} is not a review: {wrong}.", step="format")
    told = statement["predicate"]
    digest = told["root"].removeprefix(PREFIX)
    if statement["subject"] != [{"name": "checkpoint", "digest": {"sha256": digest}}]:
        raise AuditError(f"{what} is about something else than its checkpoint.", step="format")
    key = _key(told["public_key"], what)
    if key.keyid != envelope.key:
        raise AuditError(f"{what} names another key than the one that signs.", step="signatures")
    if not signed_by(key, envelope.signature, envelope.signed_bytes()):
        raise AuditError(f"{what} does not match its signature.", step="signatures")
    names = ("who", "statement", "run", "size", "root", "found", "derived", "time")
    return Review(**{name: told[name] for name in names}, key=key, envelope=envelope)


def review_of(payload: Mapping[str, Any], run: str, *, what: str) -> Review | None:
    """The review that a review_signature record carries, None for one without a signature.

    Raises AuditError (step "format" or "signatures") where record and review differ.
    """
    if SIGNED not in payload:
        return None
    if not isinstance(payload[SIGNED], str):
        raise AuditError(f"{what} carries something else than a review.", step="format")
    review = read_review(payload[SIGNED].encode("utf-8"), what=what)
    said = {name: payload[name] for name in ("who", "statement", "covers", SIGNED)}
    if review.payload() != said or review.run != run:
        raise AuditError(f"{what} says something else than the review it carries.", step="format")
    return review


def _key(text: str, what: str) -> PublicKey:
    raw = decode_base64(text, what=what)
    if len(raw) != 32:
        raise AuditError(f"{what} names no Ed25519 key.", step="format")
    return trusted_key(Ed25519PublicKey.from_public_bytes(raw))


_PREDICATE = Fields(
    {
        "who": Text("a name"),
        "statement": Text("a statement"),
        "run": Text("a run id"),
        "size": COUNT,
        "root": DIGEST_FIELD,
        "found": Text("intact or incomplete", ("intact", "incomplete")),
        "derived": Truth(),
        "time": Text("a time", pattern=DATE),
        "public_key": Text("a key in base64"),
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
