"""RFC 3161 time-stamp tokens over checkpoints: asked for, kept beside the log, checked.

A token covers the checkpoint as the run's key signed it (text and signature line), so it shows
that this signature existed at the token's time. `timestamps.jsonl` holds one canonical JSON line a
token: {"size", "token"}. Source: RFC 3161; requests, answers and their verification come from
rfc3161-client (`pip install 'safegym[timestamp]'`).
"""

import base64
import hashlib
import importlib.util
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cryptography.x509 import Certificate, load_der_x509_certificate

from safegym.audit.der_order import with_sorted_certificates
from safegym.audit.envelope import decode_base64
from safegym.audit.note import Checkpoint, own_line
from safegym.audit.schema import COUNT, Fields, Text
from safegym.audit.values import canonical, parse
from safegym.errors import AuditError

if TYPE_CHECKING:
    from rfc3161_client import TimeStampRequest, TimeStampResponse


class MovedStamp(AuditError):
    """A token that covers another text than the checkpoint it is said to cover."""


LARGEST_TOKEN = 256 * 1024
MOST_TOKENS = 10_000
_HASHES = {
    "2.16.840.1.101.3.4.2.1": "sha256",
    "2.16.840.1.101.3.4.2.2": "sha384",
    "2.16.840.1.101.3.4.2.3": "sha512",
}
_LINE = Fields({"size": COUNT, "token": Text("a token in base64")}, closed=True)


@dataclass(frozen=True, slots=True)
class Stamp:
    """One token of a log. size: of the checkpoint that it is said to cover. token: DER."""

    size: int
    token: bytes

    def line(self) -> bytes:
        """The line of timestamps.jsonl, without its end."""
        return canonical({"size": self.size, "token": base64.b64encode(self.token).decode()})


@dataclass(frozen=True, slots=True)
class Stamped:
    """A token that fits its checkpoint. trusted: by an authority that the reader trusts."""

    size: int
    time: datetime
    authority: str
    trusted: bool


def stamped_bytes(checkpoint: Checkpoint) -> bytes:
    """What a token covers: the note with the run's own signature line only."""
    return own_line(checkpoint).note().encode("utf-8")


def read_stamps(data: bytes) -> tuple[tuple[Stamp, ...], int]:
    """Read timestamps.jsonl; also how many bytes at its end are torn.

    Raises AuditError (step "format").
    """
    end = data.rfind(b"\n") + 1
    lines = data[:end].split(b"\n")[:-1]
    if len(lines) > MOST_TOKENS:
        raise AuditError(f"timestamps.jsonl has more than {MOST_TOKENS} lines.", step="format")
    stamps = tuple(_stamp(line, f"Time stamp {number}") for number, line in enumerate(lines))
    return stamps, len(data) - end


def request_for(checkpoint: Checkpoint) -> "TimeStampRequest":
    """A time-stamp request over a checkpoint (SHA-512, with a nonce, asking for certificates).

    Raises AuditError where rfc3161-client is not installed.
    """
    builder = _client().TimestampRequestBuilder().data(stamped_bytes(checkpoint))
    request: TimeStampRequest = builder.nonce(nonce=True).cert_request(cert_request=True).build()
    return request


def answered(token: bytes, request: "TimeStampRequest | None" = None) -> "TimeStampResponse":
    """Read an authority's answer; with the request, it must be the answer to that one.

    Raises AuditError (step "signatures") for what is no granted answer, or one to another request.
    """
    client = _client()
    try:
        answer: TimeStampResponse = client.decode_timestamp_response(
            with_sorted_certificates(token)
        )
        granted = answer.status == client.PKIStatus.GRANTED
        nonce = answer.tst_info.nonce if granted else None
    except ValueError as error:
        raise AuditError(
            f"This is not an answer to a time-stamp request (RFC 3161): {error}.", step="signatures"
        ) from error
    if not granted:
        raise AuditError(
            f"The time-stamp authority refused: {'; '.join(answer.status_string) or 'no reason'}.",
            step="signatures",
        )
    if request is not None and request.nonce != nonce:
        raise AuditError("The answer is to another request (its nonce differs).", step="signatures")
    return answer


def available() -> bool:
    """Whether rfc3161-client is installed."""
    return importlib.util.find_spec("rfc3161_client") is not None


def check_stamp(
    stamp: Stamp,
    checkpoints: Sequence[Checkpoint],
    authorities: Sequence[Certificate],
    *,
    what: str,
) -> Stamped:
    """Check a token against its checkpoint, and against the authorities.

    Raises AuditError (step "signatures") if it covers another text than that checkpoint, or claims
    one of the authorities and does not verify. Without a claim on any of them it is not trusted.
    """
    checkpoint = next((c for c in checkpoints if c.size == stamp.size), None)
    if checkpoint is None:
        raise AuditError(
            f"{what} covers a checkpoint of {stamp.size} records, which the log does not have.",
            step="signatures",
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd certificates: they verify, or they do not
            return _checked(stamp, stamped_bytes(checkpoint), authorities, what)
    except AuditError:
        raise
    except Exception as error:  # the parsers of hostile certificates raise all sorts of errors
        raise AuditError(f"{what} cannot be read: {error}.", step="signatures") from error


def _checked(
    stamp: Stamp, message: bytes, authorities: Sequence[Certificate], what: str
) -> Stamped:
    answer = answered(stamp.token)
    _check_imprint(answer, message, what)
    when, authority = answer.tst_info.gen_time, _authority(answer)
    claimed = _claimed(answer, authorities)
    if claimed:
        _check_chain(answer, message, claimed, what)
    return Stamped(stamp.size, when, authority, bool(claimed))


def _stamp(line: bytes, what: str) -> Stamp:
    value = parse(line, what=what)
    wrong = _LINE.fault(value)
    if wrong is not None:
        raise AuditError(f"{what} is not a line of timestamps.jsonl: {wrong}.", step="format")
    token = decode_base64(value["token"], what=what)
    if len(token) > LARGEST_TOKEN:
        raise AuditError(f"{what} is larger than {LARGEST_TOKEN} bytes.", step="format")
    return Stamp(value["size"], token)


def _check_imprint(answer: "TimeStampResponse", message: bytes, what: str) -> None:
    imprint = answer.tst_info.message_imprint
    name = _HASHES.get(imprint.hash_algorithm.dotted_string)
    if name is None or hashlib.new(name, message).digest() != imprint.message:
        raise MovedStamp(
            f"{what} is the time stamp of another text than this checkpoint: it was moved.",
            step="signatures",
        )


def _claimed(answer: "TimeStampResponse", authorities: Sequence[Certificate]) -> list[Certificate]:
    """The authorities that the token's certificates name as their issuers."""
    held = _held(answer)
    issuers = {c.issuer for c in held} | {c.subject for c in held}
    return [root for root in authorities if root.subject in issuers]


def _check_chain(
    answer: "TimeStampResponse", message: bytes, roots: Sequence[Certificate], what: str
) -> None:
    client = _client()
    between = [c for c in _held(answer) if c not in roots]
    verifier = client.VerifierBuilder(roots=list(roots), intermediates=between).build()
    try:
        verifier.verify_message(answer, message)
    except (client.VerificationError, ValueError) as error:
        raise AuditError(
            f"{what} does not verify against the time-stamp authority that it names: {error}.",
            step="signatures",
        ) from error


def _authority(answer: "TimeStampResponse") -> str:
    """How the authority names itself; no proof of anything."""
    signers = list(answer.signed_data.signer_infos)
    if len(signers) != 1:
        return "unnamed"
    issuer, number = signers[0].issuer, signers[0].serial_number
    for certificate in _held(answer):
        if (certificate.issuer, certificate.serial_number) == (issuer, number):
            return str(certificate.subject.rfc4514_string())
    return f"a key that {issuer.rfc4514_string()} certified"


def _held(answer: "TimeStampResponse") -> list[Certificate]:
    return [load_der_x509_certificate(der) for der in sorted(answer.signed_data.certificates)]


def _client() -> Any:
    try:
        import rfc3161_client
    except ImportError as error:
        raise AuditError(
            "Time stamps need rfc3161-client: pip install 'safegym[timestamp]'.", step="signatures"
        ) from error
    return rfc3161_client
