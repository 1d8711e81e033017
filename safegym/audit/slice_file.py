"""The file slice.json: which records a slice has, and the proofs of where they stood in the log."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from safegym.audit.envelope import decode_base64
from safegym.audit.note import Checkpoint
from safegym.audit.proofs import ProofTree
from safegym.audit.record import AuditRecord, leaf_bytes
from safegym.audit.schema import COUNT, DIGEST_FIELD, Fields, Items, Nullable, Number, Text
from safegym.audit.slicing import About
from safegym.audit.values import canonical, parse
from safegym.digest import PREFIX
from safegym.errors import AuditError

FORMAT = 1
MOST_STEPS = 64
"""No audit path is longer: it would be of a tree of more than 2^64 leaves."""
Proof = tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """What a slice says of itself, still to be checked.

    size, root: of the log that it was cut from, as its last checkpoint has them. proofs: index of
    a record -> its audit path. prefixes: size of an earlier checkpoint -> consistency proof.
    """

    run: str
    about: About
    size: int
    root: bytes
    proofs: dict[int, Proof]
    prefixes: dict[int, Proof]


def slice_json(
    records: Sequence[AuditRecord],
    indices: Sequence[int],
    checkpoints: Sequence[Checkpoint],
    about: About,
) -> bytes:
    """The file's bytes, for these records of a log that its last checkpoint covers whole."""
    size = len(records)
    tree = ProofTree([leaf_bytes(record.digest) for record in records])
    return canonical(
        {
            "format": FORMAT,
            "run": records[0].run,
            "about": {"policy": about.policy, "claim": about.claim},
            "size": size,
            "root": PREFIX + tree.root(size).hex(),
            "records": [{"index": i, "proof": _text(tree.inclusion(i, size))} for i in indices],
            "checkpoints": [
                {"size": point.size, "proof": _text(tree.consistency(point.size, size))}
                for point in checkpoints
            ],
        }
    )


def read_slice(data: bytes) -> Slice:
    """Read the file. Raises AuditError (step "format")."""
    value = parse(data, what="slice.json")
    if isinstance(value, dict) and value.get("format") != FORMAT:
        raise AuditError(
            f"slice.json is of format {str(value.get('format'))[:20]}, this version reads "
            f"{FORMAT}: verify it with the version that wrote it, or ask for the whole bundle.",
            step="format",
        )
    wrong = _SHAPE.fault(value)
    if wrong is not None:
        raise AuditError(f"slice.json is not what a slice has: {wrong}.", step="format")
    indices = [entry["index"] for entry in value["records"]]
    sizes = [entry["size"] for entry in value["checkpoints"]]
    for rising, what in ((indices, "records"), (sizes, "checkpoints")):
        if any(a >= b for a, b in pairwise(rising)):
            raise AuditError(f"slice.json lists its {what} out of order.", step="format")
    return Slice(
        value["run"],
        About(value["about"]["policy"], value["about"]["claim"]),
        value["size"],
        leaf_bytes(value["root"]),
        {entry["index"]: _proof(entry) for entry in value["records"]},
        {entry["size"]: _proof(entry) for entry in value["checkpoints"]},
    )


def _text(proof: Sequence[bytes]) -> list[str]:
    return [base64.b64encode(step).decode("ascii") for step in proof]


def _proof(entry: dict[str, Any]) -> Proof:
    steps = tuple(decode_base64(step, what="slice.json") for step in entry["proof"])
    if len(steps) > MOST_STEPS or any(len(step) != 32 for step in steps):
        raise AuditError("slice.json has a proof that is none.", step="format")
    return steps


_STEPS = Items(Text("a hash in base64"))
_SHAPE = Fields(
    {
        "format": COUNT,
        "run": Text("a run id"),
        "about": Fields(
            {"policy": Nullable(DIGEST_FIELD), "claim": Nullable(Text("a claim's id"))}, closed=True
        ),
        "size": Number("a whole number from 1", least=1, whole=True),
        "root": DIGEST_FIELD,
        "records": Items(Fields({"index": COUNT, "proof": _STEPS}, closed=True), least=1),
        "checkpoints": Items(Fields({"size": COUNT, "proof": _STEPS}, closed=True), least=1),
    },
    closed=True,
)
