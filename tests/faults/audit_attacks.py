"""The attacks of the design page, each as a forged bundle with what verification must say.

`source` is the number in the page's list. `single` is what the single-file verifier must say.
"""

import base64
import copy
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from audit_forge import (
    OTHER_POLICY,
    Files,
    forged,
    good_run,
    lines_of,
    notes_of,
    payload_of,
    resealed,
    resumed_run,
    signed_as,
    signed_notes,
    signer,
    statements,
    with_lines,
    with_notes,
    write_bundle,
)
from audit_people import peopled_run
from audit_slices import good_slice, lines_of_slice, told, without

from safegym.audit import layout
from safegym.audit.bundle_file import bundle_json
from safegym.audit.note import cosigned, parse_note
from safegym.audit.sign import public_key, public_pem
from safegym.digest import canonical_json, digest_bytes


@dataclass(frozen=True)
class Attack:
    """result and step: what the verifier says. single: what the single-file verifier says.

    write: makes the bundle file at a path.
    """

    name: str
    source: int
    result: str
    step: str
    single: str
    write: Callable[[Path], object]


RUNTIME = {
    17: "time-stamp token moved: tests/unit/audit/test_time_stamps.py",
    24: "two writers: tests/faults/test_audit_crash.py",
}
"""Attacks on a living run, or with tools of their own, rather than on a bundle alone."""

ATTACKS: list[Attack] = []


def attack(
    name: str, source: int, result: str, step: str, *, single: str = ""
) -> Callable[[Callable[[], Files]], Callable[[], Files]]:
    def keep(make: Callable[[], Files]) -> Callable[[], Files]:
        ATTACKS.append(
            Attack(
                name, source, result, step, single or result, lambda out: write_bundle(out, make())
            )
        )
        return make

    return keep


def raw_attack(name: str, source: int, step: str) -> Callable[[Callable[[Path], object]], object]:
    def keep(write: Callable[[Path], object]) -> object:
        ATTACKS.append(Attack(name, source, "broken", step, "broken", write))
        return write

    return keep


@attack("byte-flip-in-payload", 1, "broken", "signatures")
def _() -> Files:
    """A letter inside a JSON string, so that only the signature can notice."""
    files = good_run()
    lines, changed = lines_of(files), statements(files)
    payload_of(changed[1])["name"] = "drone/corridor-v1"
    changed[1]["predicate"]["payload_digest"] = "sha256:" + (hexed := _digest(changed[1])[7:])
    changed[1]["subject"][0]["digest"]["sha256"] = hexed
    lines[1] = resealed(lines[1], _payload_setter(changed[1]))
    return with_lines(files, lines)


@attack("byte-flip-in-signature", 1, "broken", "signatures")
def _() -> Files:
    files = good_run()
    lines = lines_of(files)

    def flip(envelope: dict) -> None:
        sig = envelope["signatures"][0]["sig"]
        envelope["signatures"][0]["sig"] = ("A" if sig[0] != "A" else "B") + sig[1:]

    lines[4] = resealed(lines[4], flip)
    return with_lines(files, lines)


@attack("byte-flip-in-checkpoint-root", 1, "broken", "signatures")
def _() -> Files:
    files = good_run()
    notes = notes_of(files)
    lines = notes[1].split("\n")
    lines[2] = ("A" if lines[2][0] != "A" else "B") + lines[2][1:]
    return with_notes(files, [notes[0], "\n".join(lines)])


@attack("changed-verdict-recomputed-leaf", 2, "broken", "signatures")
def _() -> Files:
    """An outsider changes a verdict and rebuilds everything that needs no key."""
    files = good_run()
    changed = statements(files)
    payload_of(changed[6])["verdicts"][0]["status"] = "violated"
    outsider = forged(files, changed, key="outsider")
    keyid = public_key(signer()).keyid
    lines = [
        resealed(line, lambda envelope: envelope["signatures"][0].update(keyid=keyid))
        for line in lines_of(outsider)
    ]
    return _actors(with_lines(files, lines), keyid)


def _actors(files: Files, keyid: str) -> Files:
    """Write the owner as actor into every statement, signatures left as they are."""
    lines = []
    for line, statement in zip(lines_of(files), statements(files), strict=True):
        statement["predicate"]["envelope"]["actor"] = keyid
        lines.append(resealed(line, _payload_setter(statement)))
    return with_lines(files, lines)


def _payload_setter(statement: dict) -> Callable[[dict], None]:
    text = base64.b64encode(canonical_json(statement)).decode()
    return lambda envelope: envelope.update(payload=text)


@attack("rebuilt-log-old-checkpoints", 3, "broken", "tree")
def _() -> Files:
    """The key's owner rewrites history, and keeps the checkpoints that others have seen."""
    files = good_run()
    changed = statements(files)
    payload_of(changed[2])["plan"]["level"] = 0.5
    return forged(files, changed, checkpoints=())


@attack("middle-record-deleted", 4, "broken", "sequence")
def _() -> Files:
    files = good_run()
    lines = lines_of(files)
    return with_lines(files, lines[:5] + lines[6:])


@attack("records-swapped", 5, "broken", "sequence")
def _() -> Files:
    files = good_run()
    lines = lines_of(files)
    lines[1], lines[2] = lines[2], lines[1]
    return with_lines(files, lines)


@attack("tail-cut", 6, "broken", "tree")
def _() -> Files:
    files = good_run()
    return with_lines(files, lines_of(files)[:-2])


@attack("tail-and-last-checkpoint-cut", 6, "incomplete", "sequence")
def _() -> Files:
    """Without the checkpoint it is not broken, but the run is not closed."""
    files = good_run()
    return with_notes(with_lines(files, lines_of(files)[:-2]), notes_of(files)[:1])


@attack("rolled-back-to-first-checkpoint", 7, "incomplete", "sequence")
def _() -> Files:
    files = good_run()
    return with_notes(with_lines(files, lines_of(files)[:3]), notes_of(files)[:1])


@attack("checkpoints-of-another-run", 8, "broken", "tree")
def _() -> Files:
    other = good_run(run="f" * 32)
    return {**good_run(), layout.CHECKPOINTS: other[layout.CHECKPOINTS]}


@attack("evidence-of-another-policy", 8, "broken", "references", single="intact")
def _() -> Files:
    """The owner signs a promotion of one policy on the evidence of another."""
    files = good_run()
    changed = statements(files)
    for statement in changed[9:11]:
        payload_of(statement)["policy"] = OTHER_POLICY
    return forged(files, _renamed(changed, 9, 10))


def _renamed(changed: list[dict], target: int, user: int) -> list[dict]:
    """Let record `user` name record `target` by its new payload digest."""
    payload_of(changed[user])["rests_on"][0]["record"] = _digest(changed[target])
    return changed


@attack("record-spliced-from-another-run", 9, "broken", "sequence")
def _() -> Files:
    files, other = good_run(), good_run(run="f" * 32, policy=OTHER_POLICY)
    lines = lines_of(files)
    lines[6] = lines_of(other)[6]
    return with_lines(files, lines)


@attack("resigned-by-a-new-key", 10, "broken", "signatures")
def _() -> Files:
    files = good_run()
    built = forged(files, statements(files), key="outsider")
    return {**built, layout.PUBLIC_KEY: public_pem(public_key(signer("outsider")))}


@attack("key-file-swapped", 11, "broken", "signatures")
def _() -> Files:
    return {**good_run(), layout.PUBLIC_KEY: public_pem(public_key(signer("outsider")))}


@attack("signature-stripped", 12, "broken", "format")
def _() -> Files:
    files = good_run()
    lines = lines_of(files)
    lines[3] = resealed(lines[3], lambda envelope: envelope.update(signatures=[]))
    return with_lines(files, lines)


@attack("algorithm-changed", 12, "broken", "format")
def _() -> Files:
    files = good_run()
    lines = lines_of(files)
    lines[3] = resealed(lines[3], lambda envelope: envelope["signatures"][0].update(scheme="none"))
    return with_lines(files, lines)


@attack("payload-type-changed", 13, "broken", "format")
def _() -> Files:
    files = good_run()
    lines = lines_of(files)
    lines[3] = resealed(lines[3], lambda envelope: envelope.update(payloadType="text/plain"))
    return with_lines(files, lines)


@attack("payload-type-changed-and-signed", 13, "broken", "format")
def _() -> Files:
    files = good_run()
    lines = lines_of(files)
    payload = base64.b64decode(json.loads(lines[3])["payload"])
    lines[3] = signed_as(payload, "application/json")
    return with_lines(files, lines)


@attack("two-signatures-by-one-key", 14, "broken", "format")
def _() -> Files:
    files = good_run()
    lines = lines_of(files)
    lines[3] = resealed(
        lines[3], lambda envelope: envelope.update(signatures=envelope["signatures"] * 2)
    )
    return with_lines(files, lines)


@attack("checkpoint-signed-twice-by-one-key", 14, "broken", "signatures")
def _() -> Files:
    files = good_run()
    notes = notes_of(files)
    last = notes[-1].split("\n")[-2]
    return with_notes(files, [notes[0], notes[1] + last + "\n"])


@attack("checkpoint-cosigned-twice-by-one-key", 14, "broken", "signatures")
def _() -> Files:
    """A witness's line stands twice, so that it looks like two witnesses."""
    files = good_run()
    notes = notes_of(files)
    point = cosigned(parse_note(notes[1], what="checkpoint"), "example.org/ann", signer("ann"))
    line = point.note().split("\n")[-2]
    return with_notes(files, [notes[0], point.note() + line + "\n"])


@attack("checkpoint-signed-only-by-another-key", 14, "broken", "signatures")
def _() -> Files:
    files = good_run()
    notes = notes_of(files)
    point = parse_note(notes[1], what="checkpoint")
    alone = cosigned(replace(point, signatures=()), "example.org/ann", signer("ann"))
    return with_notes(files, [notes[0], alone.note()])


def _spelling(old: bytes, new: bytes) -> Files:
    """The owner signs a statement in another spelling; everything else is right."""
    files = good_run()
    seen = []

    def spelled(index: int, data: bytes) -> bytes:
        if index == 2:
            assert old in data
            seen.append(index)
            return data.replace(old, new)
        return data

    return forged(files, statements(files), spelled=spelled)


@attack("duplicate-json-key", 15, "broken", "format")
def _() -> Files:
    return _spelling(b'"level":0.05', b'"level":0.01,"level":0.05')


@attack("not-a-number", 15, "broken", "format")
def _() -> Files:
    return _spelling(b'"level":0.05', b'"level":NaN')


@attack("negative-zero", 15, "broken", "format")
def _() -> Files:
    return _spelling(b'"seed":7', b'"seed":-0')


@attack("number-beyond-float64", 15, "broken", "format")
def _() -> Files:
    return _spelling(b'"seed":7', b'"seed":1e400')


@attack("other-number-spelling", 15, "broken", "format")
def _() -> Files:
    return _spelling(b'"seed":7', b'"seed":7.0')


@attack("other-unicode-form", 15, "broken", "format")
def _() -> Files:
    """Text in normal form D: canonical JSON all the same, so a rule of its own refuses it."""
    files = good_run()
    changed = statements(files)
    payload_of(changed[1])["place"] = "cafe\u0301"
    return forged(files, changed)


@attack("escaped-text", 15, "broken", "format")
def _() -> Files:
    return _spelling(b'"level"', b'"\\u006cevel"')


@attack("clock-set-back", 16, "intact", "sequence")
def _() -> Files:
    """A claimed clock cannot be proved wrong; it is reported as a warning."""
    files = good_run()
    changed = statements(files)
    changed[6]["predicate"]["envelope"]["time"] = "2025-12-31T00:00:00.000000Z"
    return forged(files, changed)


@attack("counter-set-back", 16, "broken", "sequence")
def _() -> Files:
    files = good_run()
    changed = statements(files)
    changed[6]["predicate"]["envelope"]["monotonic"] = 0
    return forged(files, changed)


@attack("artifact-swapped", 18, "broken", "artifacts")
def _() -> Files:
    files = good_run()
    name = "traces/certify-0001.arrow"
    return {**files, name: files[name].replace(b"two", b"too", 1)}


@attack("artifact-removed-by-tombstone", 19, "incomplete", "artifacts")
def _() -> Files:
    return peopled_run(removed=True)


@attack("artifact-missing", 19, "incomplete", "artifacts")
def _() -> Files:
    files = good_run()
    del files["traces/certify-0001.arrow"]
    return files


@attack("artifact-path-climbs-out", 20, "broken", "format")
def _() -> Files:
    """The owner signs a record that names a file outside."""
    files = good_run()
    changed = statements(files)
    payload_of(changed[3])["files"][0]["artifact"] = "../../etc/passwd"
    return forged(files, changed)


def _foreign_zip(out: Path, name: str, **options: object) -> None:
    with zipfile.ZipFile(out, "w") as archive:
        for entry, data in sorted(good_run().items()):
            archive.writestr(entry, data)
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.external_attr = int(str(options.get("mode", 0o100644 << 16)))
        info.compress_type = int(str(options.get("method", zipfile.ZIP_STORED)))
        archive.writestr(info, options.get("data", b"x"))  # type: ignore[arg-type]


@raw_attack("zip-entry-climbs-out", 20, "bounded reads")
def _(out: Path) -> None:
    _foreign_zip(out, "../outside.txt")


@raw_attack("zip-entry-absolute", 20, "bounded reads")
def _(out: Path) -> None:
    _foreign_zip(out, "/etc/passwd")


@raw_attack("zip-entry-is-a-link", 20, "bounded reads")
def _(out: Path) -> None:
    _foreign_zip(out, "zz-link", mode=0o120777 << 16, data=b"/etc/passwd")


@raw_attack("zip-bomb", 21, "bounded reads")
def _(out: Path) -> None:
    _foreign_zip(out, "zz-bomb", method=zipfile.ZIP_DEFLATED, data=bytes(50_000_000))


@raw_attack("zip-with-something-appended", 21, "bounded reads")
def _(out: Path) -> None:
    write_bundle(out, good_run())
    out.write_bytes(out.read_bytes() + b"more")


@raw_attack("zip-with-a-name-twice", 21, "bounded reads")
def _(out: Path) -> None:
    first, second = io.BytesIO(), out
    with zipfile.ZipFile(first, "w") as archive:
        archive.writestr("a", b"1")
    write_bundle(second, {"a": b"1", "b": b"2"})
    second.write_bytes(second.read_bytes().replace(b"b2", b"a2").replace(b"b\x00", b"a\x00"))


@attack("deep-nesting", 21, "broken", "format")
def _() -> Files:
    depth = 5_000
    return _spelling(b'"seed":7', b'"seed":' + b"[" * depth + b"]" * depth)


@attack("nesting-just-too-deep", 21, "broken", "format")
def _() -> Files:
    files = good_run()
    changed = statements(files)
    value: object = 0
    for _ in range(40):
        value = [value]
    payload_of(changed[1])["nest"] = value
    return forged(files, changed)


@attack("two-checkpoints-of-one-size", 22, "broken", "tree")
def _() -> Files:
    """The owner signs two histories of one length."""
    files = good_run()
    changed = statements(files)
    lines = lines_of(files)
    payload_of(changed[2])["plan"]["level"] = 0.5
    other = lines_of(forged(files, copy.deepcopy(changed), checkpoints=()))
    both = [
        *signed_notes(lines, changed, (3,)),
        *signed_notes(other, changed, (3,)),
        *signed_notes(lines, changed, (len(lines),)),
    ]
    return with_notes(files, both)


@attack("torn-append", 23, "broken", "tree")
def _() -> Files:
    """The last record of a closed run is torn: a checkpoint knows that it was whole."""
    files = good_run()
    return {**files, layout.LOG: files[layout.LOG][:-40]}


@attack("torn-append-of-an-open-run", 23, "incomplete", "format")
def _() -> Files:
    files = good_run()
    lines = lines_of(files)
    torn = b"".join(line + b"\n" for line in lines[:5]) + lines[5][:100]
    return with_notes({**files, layout.LOG: torn}, notes_of(files)[:1])


@attack("decision-without-its-verdicts", 25, "broken", "references", single="intact")
def _() -> Files:
    """The owner drops the verdict record and signs the rest anew."""
    files = good_run()
    changed = statements(files)
    del changed[6]
    changed[-1]["predicate"]["payload"]["records"] -= 1
    return forged(files, changed)


@attack("decision-on-nothing", 25, "broken", "format", single="intact")
def _() -> Files:
    files = good_run()
    changed = statements(files)
    payload_of(changed[9])["rests_on"] = []
    return forged(files, _renamed(changed, 9, 10))


@attack("promotion-on-violated-evidence", 25, "broken", "references", single="intact")
def _() -> Files:
    files = good_run()
    changed = statements(files)
    payload_of(changed[7])["status"] = "violated"
    for user, entry in ((8, 1), (9, 0)):
        payload_of(changed[user])["rests_on"][entry]["record"] = _digest(changed[7])
    return forged(files, _renamed(changed, 9, 10))


def _digest(statement: dict) -> str:
    return digest_bytes(canonical_json(payload_of(statement)))


@attack("superseded-range-of-a-resumption-changed", 7, "broken", "tree")
def _() -> Files:
    """The owner claims that the run was resumed from elsewhere."""
    files = resumed_run()
    changed = statements(files)
    index = next(i for i, s in enumerate(changed) if s["predicate"]["kind"] == "run_resumed")
    payload_of(changed[index])["from"]["size"] -= 1
    payload_of(changed[index])["superseded"] += 1
    return forged(files, changed, checkpoints=(3, len(changed)))


@attack("slice-without-a-record-that-another-rests-on", 4, "broken", "references", single="intact")
def _() -> Files:
    return without(good_slice(), 6)


@attack("slice-without-the-log-s-last-record", 6, "broken", "sequence")
def _() -> Files:
    """The end, a withdrawal in it perhaps, is hidden."""
    return without(good_slice(), -1)


@attack("slice-without-a-resumption", 7, "broken", "sequence")
def _() -> Files:
    """What a resumption set aside would look as if it still counted."""
    return without(good_slice(resumed=True), -2)


@attack("slice-with-a-record-moved", 5, "broken", "format")
def _() -> Files:
    """A record is said to stand elsewhere, with the proof of that other place."""
    return told(good_slice(), lambda value: value["records"][6].update(index=8))


@attack("slice-with-another-record-s-proof", 5, "broken", "tree")
def _() -> Files:
    def swap(value: dict) -> None:
        first, second = value["records"][5], value["records"][6]
        first["proof"], second["proof"] = second["proof"], first["proof"]

    return told(good_slice(), swap)


@attack("slice-about-another-policy", 8, "broken", "references", single="intact")
def _() -> Files:
    """What a slice is about is unsigned: it is renamed to a policy that passes elsewhere."""
    files = good_slice(claim=None)
    return told(files, lambda value: value["about"].update(policy=OTHER_POLICY))


@attack("slice-with-a-line-of-another-run", 9, "broken", "sequence")
def _() -> Files:
    files, other = good_slice(), lines_of(good_run(run="f" * 32))
    lines = [*lines_of_slice(files)[:-1], other[-1]]
    return {**files, layout.SLICE_LOG: b"".join(line + b"\n" for line in lines)}


@attack("slice-of-a-forged-log-with-the-old-checkpoint", 3, "broken", "sequence")
def _() -> Files:
    """The key's owner rewrites a record; the checkpoint that others have seen does not know it."""
    files = good_slice()
    changed = statements(good_run())
    payload_of(changed[2])["plan"]["level"] = 0.5
    lines = lines_of_slice(files)
    lines[2] = lines_of(forged(good_run(), changed, checkpoints=()))[2]
    return {**files, layout.SLICE_LOG: b"".join(line + b"\n" for line in lines)}


@attack("slice-with-another-root", 22, "broken", "tree")
def _() -> Files:
    return told(good_slice(), lambda value: value.update(root="sha256:" + "0" * 64))


@attack("slice-with-a-forged-earlier-checkpoint", 22, "broken", "tree")
def _() -> Files:
    """The owner signs another history for an earlier size; no consistency proof leads from it."""
    files = good_slice()
    changed = statements(good_run())
    payload_of(changed[1])["name"] = "other"
    other = lines_of(forged(good_run(), changed, checkpoints=()))
    return with_notes(files, [*signed_notes(other, changed, (3,)), notes_of(files)[1]])


@attack("slice-beside-its-log", 20, "broken", "bounded reads")
def _() -> Files:
    return {**good_run(), **good_slice()}


@attack("slice-artifact-swapped", 18, "broken", "artifacts")
def _() -> Files:
    files = good_slice()
    name = "traces/certify-0001.arrow"
    return {**files, name: files[name].replace(b"two", b"too", 1)}


@attack("slice-artifact-missing", 19, "incomplete", "artifacts")
def _() -> Files:
    files = good_slice()
    del files["traces/certify-0001.arrow"]
    return files


@attack("bundle-note-of-another-run", 8, "broken", "artifacts", single="intact")
def _() -> Files:
    """bundle.json is unsigned, so it is compared with the log."""
    return {**good_run(), layout.BUNDLE: bundle_json("f" * 32, 12, "sha256:" + "0" * 64, {})}


@attack("claims-text-of-other-claims", 18, "broken", "artifacts", single="intact")
def _() -> Files:
    files = good_slice()
    return {**files, layout.CLAIMS_TEXT: files[layout.CLAIMS_TEXT].replace(b"always", b"never")}
