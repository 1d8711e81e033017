"""The trust file: which keys and time-stamp authorities the user trusts, with names and dates.

`trust.json` in the user's configuration folder. It holds public keys only. Nobody else may write
it: whoever can, decides what verifies.
"""

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from safegym.audit.durable import sync_folder
from safegym.audit.key import PublicKey, parse_key, public_pem
from safegym.audit.ring import Revocation
from safegym.audit.schema import DATE, Fields, Items, Nullable, Number, Text
from safegym.errors import AuditError
from safegym.home import keys_folder

NAME = "trust.json"
FORMAT = 1
LARGEST = 4 * 1024 * 1024
Purpose = Literal["log", "review"]
"""log: may sign logs, and all that "review" may. review: may cosign and review logs."""


@dataclass(frozen=True, slots=True)
class Trusted:
    """One key of the trust file. since: a time (`stamp`). vouched_by: a fingerprint, or ""."""

    name: str
    key: PublicKey
    purpose: Purpose
    since: str
    revocation: Revocation | None = None
    vouched_by: str = ""

    def to_json(self) -> dict[str, Any]:
        """The entry as it stands in the file."""
        gone = self.revocation
        return {
            "name": self.name,
            "fingerprint": self.key.keyid,
            "public_key": public_pem(self.key).decode("ascii"),
            "for": self.purpose,
            "since": self.since,
            "revoked": None if gone is None else {"on": stamp(gone.on), "why": gone.why},
            "vouched_by": self.vouched_by or None,
        }


@dataclass(frozen=True, slots=True)
class Authority:
    """One time-stamp authority of the trust file, by its root certificate."""

    name: str
    certificate: x509.Certificate
    since: str

    def to_json(self) -> dict[str, Any]:
        """The entry as it stands in the file."""
        pem = self.certificate.public_bytes(serialization.Encoding.PEM).decode("ascii")
        return {"name": self.name, "certificate": pem, "since": self.since}


@dataclass(frozen=True, slots=True)
class TrustFile:
    """The whole file, read; empty where there is none."""

    keys: tuple[Trusted, ...] = ()
    authorities: tuple[Authority, ...] = ()

    def find(self, fingerprint: str) -> Trusted | None:
        """The entry of this key, or None."""
        return next((entry for entry in self.keys if entry.key.keyid == fingerprint), None)

    def meant(self, name: str) -> Trusted:
        """The one key of this name, or whose fingerprint begins so. Raises AuditError."""
        found = [e for e in self.keys if e.name == name]
        found = found or [e for e in self.keys if name and e.key.keyid.startswith(name.lower())]
        if len(found) == 1:
            return found[0]
        known = ", ".join(f"{e.name} ({e.key.keyid[:16]})" for e in found or self.keys) or "no key"
        many = "Several keys are" if found else "No key is"
        raise AuditError(f"{many} called {name!r}; your trust file has: {known}.")

    def with_key(self, entry: Trusted) -> "TrustFile":
        """With this entry, in the place of one of the same key."""
        others = tuple(e for e in self.keys if e.key.keyid != entry.key.keyid)
        return replace(self, keys=(*others, entry))

    def with_authority(self, entry: Authority) -> "TrustFile":
        """With this authority, in the place of one of the same certificate."""
        others = tuple(a for a in self.authorities if a.certificate != entry.certificate)
        return replace(self, authorities=(*others, entry))


def trust_path() -> Path:
    """Where the trust file is, or will be."""
    return keys_folder() / NAME


def read_trust() -> TrustFile:
    """Read the user's trust file. Raises AuditError if it is malformed, or others may write it."""
    path = trust_path()
    if not path.exists():
        return TrustFile()
    try:
        if os.name == "posix" and path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise AuditError(f"Others may write your trust file {path}. Run: chmod 600 {path}")
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise AuditError(f"The trust file {path} cannot be read: {error.strerror}.") from error
    try:
        if len(data) > LARGEST:
            raise AuditError(f"it is larger than {LARGEST} bytes")
        return _trust_of(json.loads(data))
    except (ValueError, RecursionError, AuditError) as error:
        raise AuditError(f"{path} is not a trust file: {error}") from error


def write_trust(trust: TrustFile) -> Path:
    """Write the user's trust file: whole or not at all. Raises AuditError."""
    path = trust_path()
    value = {
        "format": FORMAT,
        "keys": [entry.to_json() for entry in trust.keys],
        "authorities": [entry.to_json() for entry in trust.authorities],
    }
    draft = path.with_name(f".{NAME}.{os.getpid()}.draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(json.dumps(value, indent=1, ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise AuditError(f"The trust file {path} cannot be written: {error.strerror}.") from error
    finally:
        draft.unlink(missing_ok=True)
    return path


def stamp(when: datetime) -> str:
    """A time in the form YYYY-MM-DDTHH:MM:SSZ, UTC."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_stamp(text: str) -> datetime:
    """Read a time in that form, or a date (its first moment, UTC). Raises ValueError."""
    return datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=UTC)


def read_certificate(path: str | os.PathLike[str]) -> x509.Certificate:
    """Read a root certificate (PEM). Raises AuditError."""
    try:
        with Path(path).open("rb") as file:
            return x509.load_pem_x509_certificate(file.read(LARGEST))
    except OSError as error:
        raise AuditError(f"The certificate {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise AuditError(f"{path} is not a certificate in PEM form: {error}.") from error


def _trust_of(value: Any) -> TrustFile:
    wrong = _SHAPE.fault(value)
    if wrong is None and value["format"] != FORMAT:
        wrong = f"format {value['format']} is not known; this version reads {FORMAT}"
    if wrong is not None:
        raise AuditError(wrong)
    keys = tuple(_trusted(entry) for entry in value["keys"])
    roots = tuple(_authority(entry) for entry in value["authorities"])
    return TrustFile(keys, roots)


def _trusted(entry: Mapping[str, Any]) -> Trusted:
    key = parse_key(entry["public_key"].encode("utf-8"))
    if key.keyid != entry["fingerprint"]:
        raise AuditError(f"the key of {entry['name']} has another fingerprint than it says")
    gone = entry["revoked"]
    revocation = None if gone is None else Revocation(read_stamp(gone["on"]), gone["why"])
    return Trusted(
        entry["name"], key, entry["for"], entry["since"], revocation, entry["vouched_by"] or ""
    )


def _authority(entry: Mapping[str, Any]) -> Authority:
    certificate = x509.load_pem_x509_certificate(entry["certificate"].encode("utf-8"))
    return Authority(entry["name"], certificate, entry["since"])


_WHEN = Text("a date (YYYY-MM-DD, or with THH:MM:SSZ)", pattern=DATE)
_SHAPE = Fields(
    {
        "format": Number("a whole number from 1", least=1, whole=True),
        "keys": Items(
            Fields(
                {
                    "name": Text("a name"),
                    "fingerprint": Text("a fingerprint"),
                    "public_key": Text("a public key (PEM)"),
                    "for": Text("log or review", ("log", "review")),
                    "since": _WHEN,
                    "revoked": Nullable(Fields({"on": _WHEN, "why": Text("a reason")})),
                    "vouched_by": Nullable(Text("a fingerprint")),
                }
            )
        ),
        "authorities": Items(
            Fields(
                {
                    "name": Text("a name"),
                    "certificate": Text("a certificate (PEM)"),
                    "since": _WHEN,
                }
            )
        ),
    }
)
