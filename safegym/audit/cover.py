"""Steps 6 and 7 of verification: the files that records name, and the records they name."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from safegym.audit import layout
from safegym.audit.artifacts import digest_stream
from safegym.audit.basis import Leaf, basis_fault, leaf_of
from safegym.audit.bundle_file import claims_text
from safegym.audit.examine import Examination, Finding
from safegym.audit.record import AuditRecord
from safegym.audit.references import LeafIndex, LiveLeaves, named_artifacts
from safegym.digest import PREFIX
from safegym.errors import AuditError

SHOWN = 6


def artifacts(examined: Examination) -> Iterator[Finding]:
    """Step 6: every file that a live record names is there, with its size and digest."""
    gone = superseded_indices(examined.records)
    wanted, tombstones = _wanted(examined.records, gone)
    yield from _self_described(examined)
    note = examined.bundle
    left_out = {} if note is None or note.left_out is None else note.left_out
    total, apart = 0, list[str]()
    for name, (index, artifact) in sorted(wanted.items()):
        total += artifact["size"]
        if artifact["size"] > examined.limits.artifact_bytes:
            raise AuditError(f"{name} exceeds {examined.limits.artifact_bytes} bytes.")
        if total > examined.limits.total_bytes:
            raise AuditError(f"The artifacts exceed {examined.limits.total_bytes} bytes.")
        if not examined.files.has(name):
            if name in left_out and name not in tombstones:
                apart.append(name)
                continue
            yield Finding("incomplete", _missing(name, index, artifact, tombstones))
            continue
        _check_file(examined, name, index, artifact)
        examined.covered.add(name)
    if apart:
        why = "; ".join(sorted({left_out[name] for name in apart}))
        yield Finding("incomplete", f"{len(apart)} files were left out of this bundle: {why}")
    yield from _outside(examined, set(wanted))
    yield Finding("note", f"{len(examined.covered)} artifacts, {total} bytes")


def _self_described(examined: Examination) -> Iterator[Finding]:
    """What a bundle says of itself must fit the log that it holds."""
    note, records, files = examined.bundle, examined.records, examined.files
    if note is None or note.later or not records:
        return
    size = len(records) if examined.slice is None else examined.slice.size
    said = (note.run, note.size, note.root)
    if said != (records[0].run, size, PREFIX + examined.root.hex()):
        raise AuditError(
            f"{layout.BUNDLE} speaks of another log than the bundle holds.", step="artifacts"
        )
    if files.has(layout.CLAIMS_TEXT):
        told = files.read(layout.CLAIMS_TEXT, examined.limits.log_bytes)
        if told != claims_text(records):
            raise AuditError(
                f"{layout.CLAIMS_TEXT} is not the text of the claims that the log registers.",
                step="artifacts",
            )
    yield Finding("note", f"{layout.BUNDLE} fits the log")


def superseded_indices(records: Iterable[AuditRecord]) -> frozenset[int]:
    """Indices that resumptions set aside."""
    live = LiveLeaves()
    for record in records:
        if record.kind == "run_resumed":
            live.cut(record.payload["from"]["size"])
        live.add(record.index)
    return live.superseded


Wanted = dict[str, tuple[int, dict[str, Any]]]


def _wanted(records: list[AuditRecord], gone: frozenset[int]) -> tuple[Wanted, dict[str, str]]:
    """Artifacts of live records by path, and why some were removed."""
    wanted: Wanted = {}
    tombstones: dict[str, str] = {}
    for record in records:
        if record.kind == "tombstone":  # a person's word, which no resumption sets aside
            removed = record.payload["removed"]
            tombstones[removed["artifact"]] = f"{record.payload['who']}: {record.payload['why']}"
        if record.index in gone:
            continue
        for artifact in named_artifacts(record.payload):
            name = artifact["artifact"]
            first, known = wanted.setdefault(name, (record.index, artifact))
            if (known["digest"], known["size"]) != (artifact["digest"], artifact["size"]):
                raise AuditError(
                    f"Records {first} and {record.index} name {name} with different digests.",
                    step="artifacts",
                )
    return wanted, tombstones


def _missing(name: str, index: int, artifact: dict[str, Any], tombstones: dict[str, str]) -> str:
    if name in tombstones:
        return f"{name} (record {index}) was removed on purpose by {tombstones[name]}"
    return f"{name} (record {index}, {artifact['digest']}) is missing"


def _check_file(examined: Examination, name: str, index: int, artifact: dict[str, Any]) -> None:
    with examined.files.open(name) as file:
        digest, size = digest_stream(file)
    if (digest, size) != (artifact["digest"], artifact["size"]):
        raise AuditError(
            f"{name} is not the file that record {index} names: {size} bytes, {digest} instead "
            f"of {artifact['size']} bytes, {artifact['digest']}.",
            step="artifacts",
        )


def _outside(examined: Examination, wanted: set[str]) -> Iterator[Finding]:
    own = layout.COPIED if examined.bundle is None else layout.OWN
    if examined.slice is not None:
        own = layout.OWN
    names = [n for n in examined.files.names() if n not in wanted and n not in own]
    beside = [name for name in names if _shard_of(name) in wanted]
    if beside:
        told = f"{len(beside)} indexes and seals beside trace shards were not read"
        yield Finding("note", f"{told}: they only repeat what the shards hold")
    others = sorted(set(names) - set(beside))
    if others:
        shown = ", ".join(_grouped(others))
        them = "it" if len(others) == 1 else "them"
        yield Finding("warning", f"The log does not cover {shown}: do not rely on {them}.")


def _shard_of(name: str) -> str:
    """The trace shard that a file's name belongs to, "" for other files."""
    for suffix in (".index.parquet", ".seal.json"):
        if name.endswith(suffix):
            return name.removesuffix(suffix) + ".arrow"
    return ""


def _grouped(names: Sequence[str]) -> list[str]:
    """Each name at the top of the run, and how many lie in each folder."""
    inside = Counter(name.partition("/")[0] for name in names if "/" in name)
    above = [name for name in names if "/" not in name]
    more = [f"{len(above) - SHOWN} more"] if len(above) > SHOWN else []
    folders = [
        f"{count} file{'s' * (count > 1)} in {folder}/" for folder, count in sorted(inside.items())
    ]
    return [*above[:SHOWN], *more, *folders]


def references(examined: Examination) -> Iterator[Finding]:
    """Step 7: every record rests on earlier live records that can carry it."""
    index, before = LeafIndex(), list[Leaf]()
    for record in examined.records:
        try:
            leaves = index.resolve(record.payload)
        except AuditError as error:
            raise AuditError(f"Record {record.index}: {error}", step="references") from error
        wrong = basis_fault(record.kind, record.payload, leaves, before)
        if leaves != record.leaves:
            wrong = f"it lists the leaves {list(record.leaves)}, its payload names {list(leaves)}"
        if wrong is not None:
            raise AuditError(f"Record {record.index} ({record.kind}): {wrong}.", step="references")
        index.add(record.kind, record.payload_digest, record.payload)
        before.append(leaf_of(record.kind, record.payload, leaves))
    _check_attempts(examined.records)
    examined.superseded = index.superseded
    yield from _superseded_warning(examined)
    check_policy(examined)


def _check_attempts(records: list[AuditRecord]) -> None:
    """A number is spent once: also attempts that a resumption set aside count."""
    spent: dict[tuple[str, str, int], tuple[int, str]] = {}
    for record in records:
        if record.kind != "attempt_started":
            continue
        payload = record.payload
        name = (payload["scenario"], payload["claims"], payload["attempt"])
        first, policy = spent.setdefault(name, (record.index, payload["policy"]))
        if policy != payload["policy"]:
            raise AuditError(
                f"Record {record.index} spends attempt {payload['attempt']} on another policy than "
                f"record {first}: its level was spent.",
                step="references",
            )


def _superseded_warning(examined: Examination) -> Iterator[Finding]:
    gone = examined.superseded
    if gone:
        attempts = sum(examined.records[i].kind == "attempt_started" for i in gone)
        yield Finding(
            "warning",
            f"Resumptions set aside {len(gone)} records, {attempts} started attempts among them "
            "(which still count).",
        )


def check_policy(examined: Examination) -> None:
    """Raise AuditError unless the log is about the policy that was asked about."""
    if examined.policy is None:
        return
    for record in examined.records:
        if examined.policy in (record.payload.get("policy"), record.payload.get("to")):
            return
    raise AuditError(f"The log is not about policy {examined.policy}.", step="references")
