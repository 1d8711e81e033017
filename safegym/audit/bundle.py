"""Bundles: one file with a run's log, checkpoints, public key and every artifact it names."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from safegym.audit import layout
from safegym.audit.archive import write_stored
from safegym.audit.artifacts import relative_name
from safegym.audit.bundle_file import bundle_json, claims_text
from safegym.audit.chain import read_checkpoints, read_records, split_log
from safegym.audit.cover import superseded_indices
from safegym.audit.limits import Limits
from safegym.audit.merkle import root
from safegym.audit.note import Checkpoint
from safegym.audit.record import AuditRecord, leaf_bytes
from safegym.audit.references import named_artifacts
from safegym.audit.sampling import passing_left_out
from safegym.audit.slice_file import slice_json
from safegym.audit.slicing import About, chosen, full_digest
from safegym.audit.source import FolderSource
from safegym.digest import PREFIX
from safegym.errors import AuditError, SafegymError

Traces = Literal["all", "sampled"]
Reporter = Callable[[Path, Path], object]
"""Writes the report of a run folder to a file: (run folder, where)."""
Files = dict[str, Path | bytes]


def export(
    run_folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    include: Iterable[str | os.PathLike[str]] = (),
    traces: Traces = "all",
    report: Reporter | None = None,
) -> Path:
    """Write the bundle of a run to `out`: the same run gives the same bytes. Returns `out`.

    include: further files of the run folder, which the log does not cover. traces: "all", or
    "sampled": of shards outside certification in which every episode passed, one in ten (chosen by
    digest); the bundle then says what was left out, and verifying it is incomplete by that.
    report: writes the run's report, which becomes report.html; not covered by the log.
    Raises AuditError (step "export") if an artifact is missing without a tombstone, or the files
    exceed one zip archive; an existing `out` is replaced only once the new one is whole.
    """
    folder, target = Path(run_folder), Path(out)
    log = _read(folder)
    left_out = passing_left_out(log.records) if traces == "sampled" else {}
    covered = _covered(folder, log.records, left_out)
    names = set(covered) | {relative_name(folder, Path(path)) for path in include}
    files: Files = {name: folder / name for name in names}
    files |= {name: folder / name for name in layout.COPIED if (folder / name).is_file()}
    files |= {
        layout.BUNDLE: bundle_json(log.run, len(log.records), log.root, left_out),
        layout.CLAIMS_TEXT: claims_text(log.records),
    }
    with _reported(folder, report) as page:
        if page is not None:
            files[layout.REPORT] = page
        _write(files, target)
    return target


def export_slice(
    run_folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    policy: str | None = None,
    claim: str | None = None,
) -> Path:
    """Write a slice: the records about one policy or claim, what they rest on, and their files.

    policy: a digest, or how it begins. claim: a claim's id. With both, records about both. Each
    record comes with the proof that it stands in the log of the last signed checkpoint; the rest of
    the log is left out. `verify.verify` reads slices too. Returns `out`.
    Raises AuditError (step "export") if the log has no such record or no checkpoint, or a file that
    the slice needs is missing.
    """
    if policy is None and claim is None:
        raise AuditError(
            "Say what the slice is about: policy=DIGEST or claim=ID (--policy, --claim).",
            step="export",
        )
    folder, target = Path(run_folder), Path(out)
    log = _read(folder)
    if not log.checkpoints:
        raise AuditError(
            f"The log in {folder} has no signed checkpoint yet, so nothing could prove where the "
            "records of a slice stood. Export the whole bundle.",
            step="export",
        )
    records = log.records[: log.checkpoints[-1].size]
    about = About(None if policy is None else full_digest(records, policy), claim)
    indices = chosen(records, about)
    kept = [records[index] for index in indices]
    proofs = slice_json(records, indices, log.checkpoints, about)
    sealed = PREFIX + log.checkpoints[-1].root.hex()
    files: Files = {name: folder / name for name in _covered(folder, kept, {})}
    files |= {
        layout.SLICE_LOG: b"".join(log.lines[index] + b"\n" for index in indices),
        layout.SLICE: proofs,
        layout.BUNDLE: bundle_json(log.run, len(records), sealed, {}),
        layout.CLAIMS_TEXT: claims_text(kept),
    }
    beside = [name for name in layout.COPIED if name != layout.LOG]
    files |= {name: folder / name for name in beside if (folder / name).is_file()}
    _write(files, target)
    return target


class _Log:
    """A run's log as the export reads it."""

    def __init__(
        self,
        lines: Sequence[bytes],
        records: Sequence[AuditRecord],
        checkpoints: Sequence[Checkpoint],
    ) -> None:
        self.lines, self.records, self.checkpoints = lines, records, checkpoints
        self.run = records[0].run
        self.root = PREFIX + root([leaf_bytes(record.digest) for record in records]).hex()


def _read(folder: Path) -> _Log:
    if not (folder / layout.LOG).is_file():
        kind = "a bundle already" if folder.is_file() else "no run folder"
        raise AuditError(
            f"{folder} is {kind}: it holds no {layout.LOG}. Give the folder of a run.",
            step="export",
        )
    limits = Limits()
    source = FolderSource(folder, limits)
    text = split_log(source.read(layout.LOG, limits.log_bytes), limits)
    notes = b""
    if source.has(layout.CHECKPOINTS):
        notes = source.read(layout.CHECKPOINTS, limits.checkpoint_bytes)
    records = read_records(text)[1]
    if not records:
        raise AuditError(
            f"The log in {folder} is empty: there is nothing to export yet.", step="export"
        )
    return _Log(text.lines, records, read_checkpoints(notes)[0])


def _covered(
    folder: Path, records: Sequence[AuditRecord], left_out: Mapping[str, str]
) -> list[str]:
    gone = superseded_indices(records)
    removed = {r.payload["removed"]["artifact"] for r in records if r.kind == "tombstone"}
    names: list[str] = []
    for record in records:
        for artifact in named_artifacts(record.payload):
            name = str(artifact["artifact"])
            if name in left_out:
                continue
            if (folder / name).is_file():
                names.append(relative_name(folder, Path(name)))
            elif record.index not in gone and name not in removed:
                raise AuditError(
                    f"{name} (record {record.index}) is missing from {folder}, so the bundle "
                    "would be incomplete. Put it back, or record a tombstone that says why.",
                    step="export",
                )
    return names


@contextlib.contextmanager
def _reported(folder: Path, report: Reporter | None) -> Generator[Path | None]:
    """The report in a temporary place, or None without one."""
    if report is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="safegym-export-") as name:
        page = Path(name) / layout.REPORT
        try:
            report(folder, page)
        except SafegymError as error:
            raise AuditError(
                f"The run's report cannot be written, so the bundle would lack it: {error} "
                "Export without it: --no-report.",
                step="export",
            ) from error
        yield page


def _write(files: Files, target: Path) -> None:
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with draft.open("xb") as file:
            write_stored(file, sorted(files.items()))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError as error:
        raise AuditError(
            f"The bundle {target} cannot be written: {error.strerror}. Nothing was left behind; "
            "free space, or name another place with --out.",
            step="export",
        ) from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
