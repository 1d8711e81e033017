"""One line of the log: a DSSE envelope with exactly one signature.

Source: DSSE protocol and envelope, version 1 (pre-authentication encoding by securesystemslib).
"""

import base64
import binascii
from dataclasses import dataclass
from typing import Any

from securesystemslib.dsse import Envelope as DsseEnvelope

from safegym.audit.sign import KeyRing, Signer, public_key, sign_bytes
from safegym.audit.values import canonical, parse
from safegym.errors import AuditError

PAYLOAD_TYPE = "application/vnd.in-toto+json"


@dataclass(frozen=True, slots=True)
class Envelope:
    """A signed payload: the statement's bytes, the signing key's fingerprint, the signature."""

    payload: bytes
    payload_type: str
    key: str
    signature: bytes

    def signed_bytes(self) -> bytes:
        """What the signature covers: the pre-authentication encoding of type and payload."""
        return bytes(DsseEnvelope(self.payload, self.payload_type, {}).pae())

    def line(self) -> bytes:
        """The canonical JSON of this envelope, without the line's end."""
        return canonical(
            {
                "payload": base64.b64encode(self.payload).decode("ascii"),
                "payloadType": self.payload_type,
                "signatures": [
                    {"keyid": self.key, "sig": base64.b64encode(self.signature).decode("ascii")}
                ],
            }
        )


def seal(payload: bytes, signer: Signer) -> Envelope:
    """Sign `payload` as an in-toto statement."""
    unsigned = Envelope(payload, PAYLOAD_TYPE, public_key(signer).keyid, b"")
    signature = sign_bytes(signer, unsigned.signed_bytes())
    return Envelope(payload, PAYLOAD_TYPE, unsigned.key, signature)


def read_line(line: bytes, *, what: str) -> Envelope:
    """Read one line of a log. Raises AuditError (step "format"); checks no signature."""
    value = parse(line, what=what)
    if not isinstance(value, dict) or value.keys() != {"payload", "payloadType", "signatures"}:
        raise AuditError(f"{what} is not a DSSE envelope.", step="format")
    if value["payloadType"] != PAYLOAD_TYPE:
        raise AuditError(
            f"{what} has payload type {str(value['payloadType'])[:80]!r} instead of "
            f"{PAYLOAD_TYPE!r}.",
            step="format",
        )
    entry = _only_signature(value["signatures"], what)
    return Envelope(
        decode_base64(value["payload"], what=what),
        PAYLOAD_TYPE,
        entry["keyid"],
        decode_base64(entry["sig"], what=what),
    )


def check_signature(envelope: Envelope, ring: KeyRing, *, what: str) -> None:
    """Raise AuditError (step "signatures") unless a trusted key signed the envelope."""
    if ring.find(envelope.key) is None:
        raise AuditError(
            f"{what} is signed by the key {envelope.key[:16]}..., which you do not trust.",
            step="signatures",
        )
    if not ring.verifies(envelope.key, envelope.signature, envelope.signed_bytes()):
        raise AuditError(f"{what} does not match its signature.", step="signatures")


def decode_base64(text: Any, *, what: str) -> bytes:
    """Decode standard base64 in its one spelling. Raises AuditError (step "format")."""
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (AttributeError, UnicodeEncodeError, binascii.Error) as error:
        raise AuditError(f"{what} holds something that is not base64.", step="format") from error
    if base64.b64encode(data).decode("ascii") != text:
        raise AuditError(f"{what} holds base64 in another than its one spelling.", step="format")
    return data


def _only_signature(entries: Any, what: str) -> dict[str, str]:
    if not isinstance(entries, list) or len(entries) != 1:
        found = len(entries) if isinstance(entries, list) else "no list of"
        raise AuditError(f"{what} carries {found} signatures; exactly 1 is needed.", step="format")
    entry: dict[str, str] = entries[0]
    fits = isinstance(entry, dict) and entry.keys() == {"keyid", "sig"}
    if not fits or not all(isinstance(part, str) for part in entry.values()):
        raise AuditError(f"{what} has a signature that is not {{keyid, sig}}.", step="format")
    return entry
