#!/usr/bin/env python3
"""Check a safegym audit trail with one file and one dependency (`pip install cryptography`).

    python verify_single.py RUN_FOLDER_OR_BUNDLE --key KEY.pub.pem [--pin SIZE:sha256:ROOT]

Checks signatures, Merkle tree, checkpoints, sequence and artifact digests, offline, as
audit-format.md describes them. It does not check payload fields and references, and does not
derive verdicts again: `safegym audit verify` does. It reads slices of a log too.
Exit code: 0 intact, 1 broken, 3 incomplete.
Written apart from safegym's own verifier, so that each is a second opinion on the other.
"""

import argparse
import base64
import hashlib
import json
import os
import re
import struct
import sys
import unicodedata
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_public_key,
)

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:safegym:audit-record:1"
EMPTY = "sha256:" + hashlib.sha256(b"").hexdigest()
LATER = re.compile(r"urn:safegym:audit-record:([2-9]|[1-9][0-9]{1,8})")
LOG, NOTES, PUBLIC = "log.jsonl", "checkpoints.txt", "public.pem"
SLICE_LOG, SLICE = "slice.jsonl", "slice.json"
LARGEST = 4 << 30
DEPTH = 32
ENVELOPE = {
    "actor", "durability", "leaves", "monotonic", "previous", "run", "sequence", "session", "time",
}  # fmt: skip


class BrokenTrail(Exception):
    """The trail contradicts itself or its keys."""


class Raw(str):
    """A JSON number, kept as it was written."""

    __slots__ = ()


def need(condition: bool, message: str) -> None:
    """Raise BrokenTrail with this message unless the condition holds."""
    if not condition:
        raise BrokenTrail(message)


# --- JSON in its one spelling ------------------------------------------------------------------


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object; refuse a key that occurs twice."""
    need(len(dict(pairs)) == len(pairs), "an object has a key twice")
    return dict(pairs)


def number(text: str) -> Raw:
    """Keep a number's spelling; refuse what float64 or RFC 8785 does not have."""
    need(abs(float(text)) < float("inf"), f"{text[:20]} is beyond float64")
    need(not re.fullmatch(r"-0(\.0*)?([eE].*)?", text), "negative zero")
    return Raw(text)


def constant(name: str) -> None:
    """Refuse NaN and infinities."""
    raise BrokenTrail(f"{name} is not a JSON number")


def spell(value: Any, depth: int = 0) -> str:
    """RFC 8785 text of a value whose numbers are already in that form."""
    need(depth <= DEPTH, "nested too deeply")
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, str):
        need(unicodedata.is_normalized("NFC", value), "text outside Unicode normal form C")
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ",".join(spell(item, depth + 1) for item in value) + "]"
    keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
    return "{" + ",".join(f"{spell(k)}:{spell(value[k], depth + 1)}" for k in keys) + "}"


def read_json(data: bytes) -> Any:
    """Parse canonical JSON, and refuse every other spelling."""
    value = json.loads(
        data.decode("utf-8"),
        object_pairs_hook=unique,
        parse_int=number,
        parse_float=number,
        parse_constant=constant,
    )
    need(spell(value).encode("utf-8") == data, "JSON in another than its canonical form")
    return value


def unbase64(text: str) -> bytes:
    """Decode standard base64 in its one spelling."""
    data = base64.b64decode(text, validate=True)
    need(base64.b64encode(data).decode() == text, "base64 in another than its one spelling")
    return data


# --- files -------------------------------------------------------------------------------------


def check_path(name: str) -> None:
    """Refuse paths that could lead out of the folder."""
    parts = name.split("/")
    plain = all(
        part not in ("", ".", "..") and not re.search(r"[\x00-\x1f\\:]", part) for part in parts
    )
    need(plain and len(name) <= 480, f"the path {name[:60]!r} is refused")


class Folder:
    """A run folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str) -> bytes | None:
        """The file's bytes, or None if it is missing; links are refused."""
        check_path(name)
        place = self.path
        for part in name.split("/"):
            place = place / part
            need(not place.is_symlink(), f"{name} goes through a link")
        if not place.exists():
            return None
        need(place.is_file() and place.stat().st_size <= LARGEST, f"{name} is no small enough file")
        return place.read_bytes()


class Bundle:
    """A bundle: stored zip entries in one fixed layout, so that every byte is checked."""

    def __init__(self, path: Path) -> None:
        need(path.stat().st_size <= LARGEST, "the bundle is too large")
        data, self.files = path.read_bytes(), dict[str, bytes]()
        position, central = 0, b""
        while data[position : position + 4] == b"PK\x03\x04":
            fields = struct.unpack_from("<4s5H3I2H", data, position)
            crc, size, length = fields[6], fields[8], fields[9]
            raw = data[position + 30 : position + 30 + length]
            content = data[position + 30 + length : position + 30 + length + size]
            fixed = (10, 0x0800, 0, 0, 0x21, crc, size, size, length, 0)
            need(fields[1:] == fixed, "an entry is not stored as a bundle's are")
            need(
                len(content) == size and zlib.crc32(content) == crc, "an entry has a wrong checksum"
            )
            name = raw.decode("utf-8")
            check_path(name)
            need(
                not self.files or raw > max(self.files).encode("utf-8"), "entries are out of order"
            )
            self.files[name] = content
            central += struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 0x314, *fixed[:5], crc, size, size,
                                   length, 0, 0, 0, 0, 0o100644 << 16, position) + raw  # fmt: skip
            position += 30 + length + size
        count = len(self.files)
        end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(central), position, 0)
        need(data[position:] == central + end, "the archive's directory is not a bundle's")

    def read(self, name: str) -> bytes | None:
        """The file's bytes, or None if it is missing."""
        check_path(name)
        return self.files.get(name)


# --- records -----------------------------------------------------------------------------------


def read_line(line: bytes, keys: dict[str, Ed25519PublicKey]) -> dict[str, Any]:
    """Check one line's envelope, signature and statement; return its predicate.

    {} for a record of a later format: it is signed, and cannot be read.
    """
    envelope = read_json(line)
    need(set(envelope) == {"payload", "payloadType", "signatures"}, "not a DSSE envelope")
    need(envelope["payloadType"] == PAYLOAD_TYPE, "another payload type")
    need(len(envelope["signatures"]) == 1, "not exactly one signature")
    signature = envelope["signatures"][0]
    need(set(signature) == {"keyid", "sig"}, "not a DSSE signature")
    payload, kind = unbase64(envelope["payload"]), PAYLOAD_TYPE.encode()
    pae = b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
    key = keys.get(signature["keyid"])
    if key is None:
        raise BrokenTrail("signed by a key that you do not trust")
    key.verify(unbase64(signature["sig"]), pae)
    statement = read_json(payload)
    if isinstance(statement, dict) and LATER.fullmatch(str(statement.get("predicateType"))):
        return {}
    need(set(statement) == {"_type", "subject", "predicateType", "predicate"}, "no statement")
    need(statement["_type"] == STATEMENT, "another statement type")
    need(statement["predicateType"] == PREDICATE, "another predicate type")
    predicate: dict[str, Any] = statement["predicate"]
    fields = {"envelope", "kind", "payload", "payload_digest"}
    need(set(predicate) == fields and set(predicate["envelope"]) == ENVELOPE, "other fields")
    need(predicate["envelope"]["actor"] == signature["keyid"], "the actor is not the signer")
    digest = hashlib.sha256(spell(predicate["payload"]).encode("utf-8")).hexdigest()
    need(predicate["payload_digest"] == "sha256:" + digest, "the payload digest is wrong")
    return predicate


def check_sequence(index: int, previous: str, now: dict[str, Any], before: Any) -> None:
    """One run, one key, no gap; a new session only by run_resumed."""
    own, kind = now["envelope"], now["kind"]
    need(own["sequence"] == str(index), "its number is another")
    need(own["previous"] == previous, "it does not follow the record before it")
    if kind == "run_closed":
        need(now["payload"]["records"] == str(index), "it closes another number of records")
    if before is None:
        need(own["session"] == "0" and kind != "run_resumed", "the log's beginning is missing")
        return
    old = before["envelope"]
    need(own["run"] == old["run"], "it belongs to another run")
    need(own["actor"] == old["actor"], "it is signed by another key than the one before")
    if kind == "run_resumed":
        start, gone = int(now["payload"]["from"]["size"]), int(now["payload"]["superseded"])
        need(start >= 1 and start + gone == index, "it supersedes an impossible range")
        need(int(own["session"]) == int(old["session"]) + 1, "its session is another")
        return
    need(own["session"] == old["session"], "its session is another")
    need(before["kind"] != "run_closed", "it follows a closed run")
    need(int(own["monotonic"]) >= int(old["monotonic"]), "its counter went back")


def leaf(data: bytes) -> bytes:
    """RFC 6962 leaf hash."""
    return hashlib.sha256(b"\x00" + data).digest()


class Tree:
    """RFC 6962 tree that grows by leaves."""

    def __init__(self) -> None:
        self.stack: list[tuple[int, bytes]] = []

    def add(self, item: bytes) -> None:
        """Append a leaf hash, joining full subtrees of equal height."""
        height = 0
        while self.stack and self.stack[-1][0] == height:
            item = hashlib.sha256(b"\x01" + self.stack.pop()[1] + item).digest()
            height += 1
        self.stack.append((height, item))

    def root(self) -> bytes:
        """The root over the leaves so far."""
        if not self.stack:
            return hashlib.sha256(b"").digest()
        result = self.stack[-1][1]
        for _, left in reversed(self.stack[:-1]):
            result = hashlib.sha256(b"\x01" + left + result).digest()
        return result


def join(left: bytes, right: bytes) -> bytes:
    """RFC 6962 hash of an inner node."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def half(size: int) -> int:
    """Largest power of two below a size of at least 2."""
    return 1 << ((size - 1).bit_length() - 1)


def root_above(item: bytes, index: int, size: int, path: list[bytes]) -> bytes:
    """The root of a tree of `size` that has this leaf at `index`, by its audit path."""
    if size == 1:
        need(not path, "an audit path is too long")
        return item
    need(bool(path), "an audit path is too short")
    cut = half(size)
    if index < cut:
        return join(root_above(item, index, cut, path[:-1]), path[-1])
    return join(path[-1], root_above(item, index - cut, size - cut, path[:-1]))


def both_roots(
    first: int, size: int, path: list[bytes], known: bytes | None
) -> tuple[bytes, bytes]:
    """Roots of the first leaves and of all, by a consistency proof; `known`: of the first."""
    if first == size and known is not None:
        need(not path, "a consistency proof is too long")
        return known, known
    need(bool(path), "a consistency proof is too short")
    if first == size:
        need(len(path) == 1, "a consistency proof is too long")
        return path[0], path[0]
    cut = half(size)
    if first <= cut:
        old, new = both_roots(first, cut, path[:-1], known)
        return old, join(new, path[-1])
    old, new = both_roots(first - cut, size - cut, path[:-1], None)
    return join(path[-1], old), join(path[-1], new)


# --- checkpoints -------------------------------------------------------------------------------

NOTE = re.compile(
    r"(?P<text>(?P<origin>[!-~]+)\n(?P<size>0|[1-9][0-9]*)\n(?P<root>[A-Za-z0-9+/=]+)\n)\n"
    r"(?P<signatures>(?:\u2014 [!-~]+ [A-Za-z0-9+/=]+\n)+)"
)


def read_notes(
    text: str, keys: dict[str, Ed25519PublicKey], actor: str
) -> Iterator[tuple[str, int, bytes]]:
    """Yield (origin, size, root) of notes that stand one after another, each signed by `actor`."""
    position = 0
    while position < len(text):
        if position:
            need(text[position] == "\n", "the checkpoints are not parted by blank lines")
            position += 1
        note = NOTE.match(text, position)
        if note is None:
            raise BrokenTrail("the checkpoint file is not a row of signed notes")
        signers = check_note(note, keys)
        need(not actor or actor in signers, "a checkpoint is not by the key that signs the records")
        yield note["origin"], int(note["size"]), unbase64(note["root"])
        position = note.end()


def check_note(note: re.Match[str], keys: dict[str, Ed25519PublicKey]) -> set[str]:
    """The trusted keys that signed, each once; lines by other keys count for nothing."""
    signers: set[str] = set()
    seen: set[tuple[str, bytes]] = set()
    for line in note["signatures"].splitlines():
        _, name, blob = line.split(" ")
        data = unbase64(blob)
        need((name, data[:4]) not in seen, "a checkpoint is signed twice by one key")
        seen.add((name, data[:4]))
        for fingerprint, key in keys.items():
            if key_hash(name, key) == data[:4]:
                need(fingerprint not in signers, "a checkpoint is signed twice by one key")
                key.verify(data[4:], note["text"].encode("utf-8"))
                signers.add(fingerprint)
    need(bool(signers), "a checkpoint is signed by no key that you trust")
    return signers


def raw_key(key: Ed25519PublicKey) -> bytes:
    """The key's 32 bytes."""
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def key_hash(name: str, key: Ed25519PublicKey) -> bytes:
    """C2SP signed-note key hash."""
    return hashlib.sha256(name.encode("utf-8") + b"\n\x01" + raw_key(key)).digest()[:4]


# --- the whole ---------------------------------------------------------------------------------


def artifacts(value: Any) -> Iterator[dict[str, Any]]:
    """Every {"artifact", "digest", "size"} inside a payload."""
    if isinstance(value, dict) and "artifact" in value:
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from artifacts(item)
    elif isinstance(value, list):
        for item in value:
            yield from artifacts(item)


def check_artifacts(files: Folder | Bundle, records: list[dict[str, Any]]) -> list[str]:
    """Compare the files that live records name; return what is missing."""
    gone = {
        index
        for record in records
        if record["kind"] == "run_resumed"
        for index in range(
            int(record["payload"]["from"]["size"]), int(record["envelope"]["sequence"])
        )
    }
    missing: list[str] = []
    for record in records:
        index = int(record["envelope"]["sequence"])
        for item in artifacts(record["payload"]) if index not in gone else ():
            content = files.read(item["artifact"])
            if content is None:
                missing.append(f"{item['artifact']} is missing")
                continue
            digest = "sha256:" + hashlib.sha256(content).hexdigest()
            same = (digest, str(len(content))) == (item["digest"], item["size"])
            need(same, f"{item['artifact']} is not the file that record {index} names")
    return missing


def read_records(lines: list[bytes], keys: dict[str, Ed25519PublicKey]) -> list[dict[str, Any]]:
    """Check every line and its place; [] where a later format than this one's is among them."""
    records: list[dict[str, Any]] = []
    previous, later = EMPTY, False
    for index, line in enumerate(lines):
        try:
            records.append(read_line(line, keys))
            later = later or not records[-1]
            if not later:
                check_sequence(index, previous, records[-1], records[-2] if index else None)
        except InvalidSignature:
            raise BrokenTrail(f"record {index}: it does not match its signature") from None
        except BrokenTrail as error:
            raise BrokenTrail(f"record {index}: {error}") from None
        previous = "sha256:" + leaf(line).hex()
    return [] if later else records


def check_roots(
    lines: list[bytes],
    records: list[dict[str, Any]],
    notes: list[tuple[str, int, bytes]],
    pin: tuple[int, bytes] | None,
) -> bytes:
    """Compare the tree with checkpoints, resumptions and the pinned checkpoint; return the root."""
    wanted = [(size, root) for _, size, root in notes]
    sizes = [size for size, _ in wanted]
    need(sizes == sorted(set(sizes)), "two checkpoints of one size, or out of order")
    for origin, _, _ in notes:
        named = not records or origin == "safegym.audit/" + records[0]["envelope"]["run"]
        need(named, "a checkpoint of another log")
    for record in records:
        if record["kind"] == "run_resumed":
            start = record["payload"]["from"]
            wanted.append(
                (int(start["size"]), bytes.fromhex(start["root"].removeprefix("sha256:")))
            )
    wanted += [pin] if pin else []
    tree, roots = Tree(), [hashlib.sha256(b"").digest()]
    for line in lines:
        tree.add(leaf(line))
        roots.append(tree.root())
    for size, root in wanted:
        need(
            size < len(roots), f"a checkpoint of {size} records, the log has {len(lines)}: cut off"
        )
        need(roots[size] == root, f"a checkpoint commits to other records than the first {size}")
    return roots[-1]


def check_copy(
    copy: bytes | None, records: list[dict[str, Any]], keys: dict[str, Ed25519PublicKey]
) -> None:
    """The key that lies beside the log, as information, must be the one that signs."""
    if copy is not None and records:
        key = keys[records[0]["envelope"]["actor"]]
        pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        need(copy == pem, f"{PUBLIC} is another key than the one that signs")


def slice_records(
    lines: list[bytes], told: dict[str, Any], root: bytes, keys: dict[str, Ed25519PublicKey]
) -> list[dict[str, Any]]:
    """Check a slice's lines, each against its proof and the one before it."""
    entries, size = told["records"], int(told["size"])
    need(len(entries) == len(lines) > 0, "the slice's lines are not those that it lists")
    need(entries[-1]["index"] == str(size - 1), "the log's last record is not in the slice")
    records: list[dict[str, Any]] = []
    for line, entry in zip(lines, entries, strict=True):
        index, path = int(entry["index"]), [unbase64(step) for step in entry["proof"]]
        try:
            records.append(read_line(line, keys))
        except InvalidSignature:
            raise BrokenTrail(f"record {index}: it does not match its signature") from None
        need(bool(records[-1]), f"record {index} is of a later format than this file reads")
        own = records[-1]["envelope"]
        need(own["sequence"] == str(index) and own["run"] == told["run"], "a record of elsewhere")
        stands = root_above(leaf(line), index, size, path) == root
        need(stands, f"record {index} does not stand in the log of the last checkpoint")
        if len(records) > 1:
            check_gap(index, records[-1], records[-2])
    resumed = sum(record["kind"] == "run_resumed" for record in records)
    need(str(resumed) == records[-1]["envelope"]["session"], "a resumption was left out")
    return records


def check_gap(index: int, now: dict[str, Any], before: dict[str, Any]) -> None:
    """Two records that follow each other in a slice, with or without others between."""
    own, old = now["envelope"], before["envelope"]
    need(int(own["sequence"]) > int(old["sequence"]), f"record {index} is out of order")
    need(own["actor"] == old["actor"], f"record {index} is signed by another key")
    same = own["session"] == old["session"]
    rising = int(own["session"]) > int(old["session"])
    need(rising or (same and int(own["monotonic"]) >= int(old["monotonic"])), "time goes back")


def examine_slice(
    files: Folder | Bundle,
    log: bytes,
    keys: dict[str, Ed25519PublicKey],
    pin: tuple[int, bytes] | None,
) -> tuple[str, list[str]]:
    """Return ("intact" or "incomplete", what was found) of a slice."""
    *lines, torn = log.split(b"\n")
    need(not torn, "the slice's last line is torn")
    told = read_json(files.read(SLICE) or b"")
    need(told["format"] == "1", "a slice of another format")
    size, root = int(told["size"]), bytes.fromhex(told["root"].removeprefix("sha256:"))
    actor = read_line(lines[0], keys).get("envelope", {}).get("actor", "") if lines else ""
    notes = list(read_notes((files.read(NOTES) or b"").decode("utf-8"), keys, actor))
    need(bool(notes) and notes[-1][1:] == (size, root), "no checkpoint commits to the slice's log")
    sizes = [note[1] for note in notes]
    need(sizes == sorted(set(sizes)), "two checkpoints of one size, or out of order")
    need(sizes == [int(entry["size"]) for entry in told["checkpoints"]], "other checkpoints")
    for (origin, first, known), entry in zip(notes, told["checkpoints"], strict=True):
        need(origin == "safegym.audit/" + told["run"], "a checkpoint of another log")
        path = [unbase64(step) for step in entry["proof"]]
        need(both_roots(first, size, path, known) == (known, root), "checkpoints contradict")
    records = slice_records(lines, told, root, keys)
    check_copy(files.read(PUBLIC), records, keys)
    missing = check_artifacts(files, records)
    if records[-1]["kind"] != "run_closed":
        missing.append("the run was not closed")
    if pin is not None:
        need(pin[0] <= size, "the slice is of an older log than your checkpoint, or was cut off")
        roots = {note[1]: note[2] for note in notes}
        need(roots.get(pin[0], pin[1]) == pin[1], "your checkpoint commits to other records")
        missing += [] if pin[0] in roots else ["there is no proof about your checkpoint"]
    found = [f"a slice: {len(lines)} of {size} records, root sha256:{root.hex()}", *missing]
    return ("incomplete" if missing else "intact"), found


def examine(
    path: Path, keys: dict[str, Ed25519PublicKey], pin: tuple[int, bytes] | None
) -> tuple[str, list[str]]:
    """Return ("intact" or "incomplete", what was found). Raises BrokenTrail and others."""
    files = Folder(path) if path.is_dir() else Bundle(path)
    log, notes_file = files.read(LOG), files.read(NOTES) or b""
    part = files.read(SLICE_LOG)
    if (log is None) == (part is None):
        raise BrokenTrail(f"there is no {LOG}, or a slice beside it")
    if log is None:
        return examine_slice(files, part or b"", keys, pin)
    *lines, torn = log.split(b"\n")
    records = read_records(lines, keys)
    actor = records[0]["envelope"]["actor"] if records else ""
    notes = list(read_notes(notes_file.decode("utf-8"), keys, actor))
    root = check_roots(lines, records, notes, pin)
    copy = files.read(PUBLIC)
    check_copy(copy, records, keys)
    missing = check_artifacts(files, records)
    if lines and not records:
        missing.append("a later version wrote the records: their fields were not read")
    if torn:
        missing.append("the last line is torn")
    if not records or records[-1]["kind"] != "run_closed":
        missing.append("the run is not closed")
    if not notes or notes[-1][1] < len(lines):
        missing.append("the last records are under no signed checkpoint")
    found = [f"{len(lines)} records, root sha256:{root.hex()}", *missing]
    return ("incomplete" if missing else "intact"), found


def verify_single(
    path: str | os.PathLike[str], pems: list[bytes], pin: tuple[int, str] | None = None
) -> tuple[str, list[str]]:
    """Check a run folder or bundle with these public keys (PEM).

    Returns the result (intact, broken, incomplete) and what was found, in words.
    """
    keys: dict[str, Ed25519PublicKey] = {}
    for pem in pems:
        key = load_pem_public_key(pem)
        if not isinstance(key, Ed25519PublicKey):
            raise ValueError("Trusted keys are Ed25519 keys.")
        keys[hashlib.sha256(raw_key(key)).hexdigest()] = key
    pinned = (pin[0], bytes.fromhex(pin[1].removeprefix("sha256:"))) if pin else None
    try:
        return examine(Path(path), keys, pinned)
    except Exception as error:  # whatever hostile bytes provoke, the trail is broken
        return "broken", [f"{type(error).__name__}: {error}"]


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="Check a safegym audit trail.")
    parser.add_argument("bundle")
    parser.add_argument("--key", action="append", required=True, help="trusted public key (PEM)")
    parser.add_argument("--pin", help="SIZE:sha256:ROOT of a checkpoint that you noted earlier")
    chosen = parser.parse_args()
    try:
        size, _, root = (chosen.pin or "").partition(":")
        pin = (int(size), root) if chosen.pin else None
        pems = [Path(key).read_bytes() for key in chosen.key]
        result, found = verify_single(chosen.bundle, pems, pin)
    except (OSError, ValueError) as error:
        print(f"bad input: {error}", file=sys.stderr)
        return 2
    print(result, *found, sep="\n  ")
    return {"intact": 0, "broken": 1, "incomplete": 3}[result]


if __name__ == "__main__":
    sys.exit(main())
