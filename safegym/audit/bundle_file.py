"""The files that a bundle has beside its log's own: what it is of, and its claims as text."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from safegym.audit.record import AuditRecord
from safegym.audit.schema import COUNT, DIGEST_FIELD, Fields, Items, RelativePath, Text
from safegym.audit.values import canonical, parse
from safegym.errors import AuditError

FORMAT = 1
_UNSEEN = {
    code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), *range(127, 160)) if code != 10
}
"""Control characters, which a terminal must not be sent."""


@dataclass(frozen=True, slots=True)
class BundleNote:
    """What bundle.json says; unsigned, so it is compared with the log and otherwise a hint.

    later: "" or the format of a later version, of which nothing else was read. left_out: artifact
    -> why the export left it out.
    """

    run: str = ""
    size: int = 0
    root: str = ""
    left_out: Mapping[str, str] | None = None
    later: str = ""


def bundle_json(run: str, size: int, root: str, left_out: Mapping[str, str]) -> bytes:
    """The bytes of bundle.json. size, root: of the log that the bundle holds, or was cut from."""
    return canonical(
        {
            "format": FORMAT,
            "run": run,
            "size": size,
            "root": root,
            "left_out": [{"artifact": name, "why": why} for name, why in sorted(left_out.items())],
        }
    )


def read_bundle_note(data: bytes) -> BundleNote:
    """Read bundle.json. Raises AuditError (step "format")."""
    value = parse(data, what="bundle.json")
    said = value.get("format") if isinstance(value, dict) else None
    if isinstance(said, int) and not isinstance(said, bool) and said > FORMAT:
        return BundleNote(later=str(said))
    wrong = _SHAPE.fault(value)
    if wrong is None and said != FORMAT:
        wrong = f"format {said!r} is not known"
    if wrong is not None:
        raise AuditError(f"bundle.json is not what a bundle has: {wrong}.", step="format")
    left_out = {entry["artifact"]: entry["why"] for entry in value["left_out"]}
    return BundleNote(value["run"], value["size"], value["root"], left_out)


def claims_text(records: Iterable[AuditRecord]) -> bytes:
    """The claims that a log registers, as text for people: the same log gives the same bytes."""
    parts = [
        _claim(entry)
        for record in records
        if record.kind == "spec_registered"
        for entry in record.payload["claims"]
    ]
    return "\n".join(parts).encode("utf-8")


def _claim(entry: Mapping[str, object]) -> str:
    stated = entry.get("claim")
    told = stated if isinstance(stated, dict) else {}
    lines: Sequence[str] = [
        str(entry["text"]).rstrip("\n"),
        f"digest: {entry['digest']}",
        *(f"{name}: {told[name]}" for name in ("hazard", "source", "severity") if told.get(name)),
    ]
    return "".join(f"{line}\n" for line in lines).translate(_UNSEEN)


_SHAPE = Fields(
    {
        "format": COUNT,
        "run": Text("a run id"),
        "size": COUNT,
        "root": DIGEST_FIELD,
        "left_out": Items(
            Fields({"artifact": RelativePath(), "why": Text("a reason")}, closed=True)
        ),
    },
    closed=True,
)
