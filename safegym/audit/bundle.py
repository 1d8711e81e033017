"""Bundles: one file with a run's log, checkpoints, public key and every artifact it names."""

import os
from collections.abc import Iterable
from pathlib import Path

from safegym.audit import layout
from safegym.audit.archive import write_stored
from safegym.audit.artifacts import relative_name
from safegym.audit.cover import superseded_indices
from safegym.audit.read import read_log
from safegym.audit.references import named_artifacts
from safegym.errors import AuditError


def export(
    run_folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    include: Iterable[str | os.PathLike[str]] = (),
) -> Path:
    """Write the bundle of a run to `out`: the same run gives the same bytes. Returns `out`.

    include: further files of the run folder (such as report.html), which the log does not cover.
    Raises AuditError (step "export") if an artifact is missing without a tombstone, or the files
    exceed one zip archive; an existing `out` is replaced only once the new one is whole.
    """
    folder, target = Path(run_folder), Path(out)
    names = set(_covered(folder)) | {relative_name(folder, Path(path)) for path in include}
    own = [name for name in layout.OWN if (folder / name).is_file()]
    files = [(name, folder / name) for name in sorted({*own, *names})]
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with draft.open("xb") as file:
            write_stored(file, files)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError as error:
        raise AuditError(
            f"The bundle {target} cannot be written: {error.strerror}.", step="export"
        ) from error
    finally:
        draft.unlink(missing_ok=True)
    return target


def _covered(folder: Path) -> list[str]:
    records = read_log(folder)
    gone = superseded_indices(list(records))
    removed = {r.payload["removed"]["artifact"] for r in records if r.kind == "tombstone"}
    names: list[str] = []
    for record in records:
        for artifact in named_artifacts(record.payload):
            name = str(artifact["artifact"])
            if (folder / name).is_file():
                names.append(relative_name(folder, Path(name)))
            elif record.index not in gone and name not in removed:
                raise AuditError(
                    f"{name} (record {record.index}) is missing from {folder}, so the bundle "
                    "would be incomplete. Put it back, or record a tombstone that says why.",
                    step="export",
                )
    return names
