"""Steps 3 and 5 of verification beside the run's own key: stamps, revocations, witnesses."""

from collections.abc import Generator, Iterator

from safegym.audit import examine, layout
from safegym.audit.examine import Examination, Finding
from safegym.audit.kinds import payload_fault
from safegym.audit.merkle import root as tree_root
from safegym.audit.note import check_note, unknown_lines
from safegym.audit.record import AuditRecord, leaf_bytes
from safegym.audit.reviews import review_of
from safegym.audit.stamps import Stamped, available, check_stamp, read_stamps
from safegym.audit.trust_file import stamp as written
from safegym.errors import AuditError

LARGEST = 64 * 1024 * 1024


def signatures(examined: Examination) -> Iterator[Finding]:
    """Step 3: the run's key signed all of it, by then or still trusted; who else signed what."""
    yield from _admitted(examined)
    yield from examine.signatures(examined)
    yield from _cosignatures(examined)
    yield from _reviews(examined)


def tree(examined: Examination) -> Iterator[Finding]:
    """Step 5: the tree, also where a review says what it covers."""
    yield from examine.tree(examined)
    leaves = examined.leaves
    for record in _reviewing(examined):
        covers = record.payload["covers"]
        size, root = covers["size"], leaf_bytes(covers["root"])
        if size > record.index or tree_root(leaves[:size]) != root:
            raise AuditError(
                f"Record {record.index} is a review of another tree of {size} records than this "
                "log has.",
                step="tree",
            )


def _admitted(examined: Examination) -> Iterator[Finding]:
    """Before signatures are checked: time stamps, and what they say for a revoked key."""
    found = yield from _stamps(examined)
    key = examined.envelopes[0].key if examined.envelopes else ""
    if key not in examined.ring.revoked:
        return
    gone = examined.ring.revoked[key][1]
    before = [item for item in found if item.trusted and item.time < gone.on]
    size, total = max((item.size for item in before), default=0), len(examined.text.lines)
    if examined.slice is not None:
        total = examined.slice.size
    if size < total:
        shown = (
            f"a trusted time stamp covers records 0 to {size - 1} only"
            if size
            else ("no trusted time stamp shows that anything was signed before")
        )
        raise AuditError(
            f"The key {examined.ring.name(key)} that signs the records was revoked on "
            f"{written(gone.on)} ({gone.why}), and {shown}.",
            step="signatures",
        )
    examined.ring.reinstate(key)
    yield Finding(
        "warning",
        f"The key {examined.ring.name(key)} was revoked on {written(gone.on)} ({gone.why}); a "
        f"trusted time stamp of {written(max(item.time for item in before if item.size >= total))} "
        "shows that it had signed this log before.",
    )


def _stamps(examined: Examination) -> Generator[Finding, None, tuple[Stamped, ...]]:
    files = examined.files
    if layout.TIMESTAMPS not in files.names():
        return ()
    stamps, torn = read_stamps(files.read(layout.TIMESTAMPS, LARGEST))
    if torn:
        yield Finding("warning", f"The last time stamp is torn ({torn} bytes): it does not count.")
    if stamps and not available():
        yield Finding(
            "warning",
            f"Time stamps not checked: {len(stamps)} (pip install 'safegym[timestamp]').",
        )
        return ()
    found = list[Stamped]()
    for number, stamp in enumerate(stamps):
        what = f"Time stamp {number}"
        found.append(check_stamp(stamp, examined.checkpoints, examined.ring.authorities, what=what))
    trusted = [item for item in found if item.trusted]
    for item in trusted:
        yield Finding(
            "note",
            f"{item.size} records were signed by {written(item.time)}, says {item.authority}",
        )
    if len(trusted) < len(found):
        yield Finding(
            "warning",
            f"Time stamps that fit their checkpoints, but are not by an authority that you trust, "
            f"so that their times do not count: {len(found) - len(trusted)} (--tsa ROOT.pem, or: "
            "safegym keys trust ROOT.pem --tsa).",
        )
    return tuple(found)


def _cosignatures(examined: Examination) -> Iterator[Finding]:
    ring, unknown = examined.ring, 0
    own = examined.envelopes[0].key if examined.envelopes else ""
    last: dict[str, int] = {}
    for position, checkpoint in enumerate(examined.checkpoints):
        signers = check_note(checkpoint, ring, what=f"Checkpoint {position}")
        last |= {key: checkpoint.size for key in signers if key != own}
        unknown += len(unknown_lines(checkpoint, ring))
    for key, size in last.items():
        yield Finding("note", f"{size} records cosigned by {ring.name(key)}")
    if unknown:
        yield Finding(
            "warning",
            f"Cosignatures by keys that you do not trust, not checked and not counted: {unknown}.",
        )


def _reviews(examined: Examination) -> Iterator[Finding]:
    known = {key.keyid for key in examined.ring.attesting}
    for record in _reviewing(examined):
        review = review_of(record.payload, record.run, what=f"Record {record.index}")
        who, size = record.payload["who"], record.payload["covers"]["size"]
        if review is None:
            yield Finding(
                "warning",
                f"Record {record.index} says that {who} reviewed {size} records; only the run's "
                "own key signs that.",
            )
        elif review.key.keyid in known:
            name = examined.ring.name(review.key.keyid)
            yield Finding("note", f"{size} records reviewed by {who}, key {name}")
        else:
            yield Finding(
                "warning",
                f"Record {record.index}: the review by {who} is signed by the key "
                f"{review.key.keyid[:16]}..., which you do not trust, so it does not count.",
            )


def _reviewing(examined: Examination) -> Iterator[AuditRecord]:
    """Records of reviews, but for those of a later version with other fields."""
    for record in examined.records:
        if record.kind == "review_signature" and payload_fault(record.kind, record.payload) is None:
            yield record
