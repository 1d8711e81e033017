"""The run folder of a training: lock, settings, checkpoints, and the last decision.

training.json: what the run is (settings, scenario, claims, versions), written once.
checkpoints/epoch-NNNNN: checkpoint folders. last.json: the last epoch boundary and the policy
digest of each kept checkpoint. decision.json: the gate's answer at the last boundary.
"""

import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from safegym.digest import canonical_json
from safegym.errors import RunFolderError
from safegym.policy.sb3.folder import replace_file

IDENTITY = "training.json"
LAST = "last.json"
DECISION = "decision.json"
LOCK = "training.lock"
CHECKPOINTS = "checkpoints"
_EPOCH = re.compile(r"epoch-(\d{5,})")


class RunFolder:
    """A run folder, locked by this process from `open` to `close`."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = FileLock(self.path / LOCK, timeout=0)

    def open(self, *, new: bool) -> None:
        """Lock the folder: a new run, or one to go on with.

        Raises RunFolderError when it is in use, not writable, already a run (new) or none (not
        new).
        """
        if not new and not (self.path / IDENTITY).is_file():
            raise self.not_a_run()
        try:
            (self.path / CHECKPOINTS).mkdir(parents=True, exist_ok=True)
            if not os.access(self.path, os.W_OK):
                raise PermissionError(13, "Permission denied")
            self._lock.acquire()
        except Timeout as error:
            raise RunFolderError(
                f"{self.path} is in use by another training process; wait for it, or choose "
                "another folder."
            ) from error
        except OSError as error:
            raise RunFolderError(
                f"{self.path} cannot be written: {error.strerror or error}; choose another folder."
            ) from error
        if new and (self.path / IDENTITY).exists():
            self.close()
            raise RunFolderError(
                f"{self.path} already holds a run; go on with it (safegym train --resume "
                f"{self.path}) or choose another folder."
            )
        self._sweep()

    def not_a_run(self) -> RunFolderError:
        """The error for a folder without a run."""
        return RunFolderError(
            f"{self.path} holds no training run ({IDENTITY} is missing); start one with "
            f"--out {self.path}."
        )

    def close(self) -> None:
        """Release the lock."""
        self._lock.release()

    def write(self, name: str, document: Mapping[str, Any]) -> None:
        """Put a JSON file in place durably."""
        replace_file(self.path / name, canonical_json(dict(document)) + b"\n")

    def read(self, name: str) -> dict[str, Any] | None:
        """A JSON file of the folder, None if there is none. Raises RunFolderError if malformed."""
        path = self.path / name
        if not path.is_file():
            return None
        try:
            document = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise RunFolderError(f"{path} cannot be read: {error}.") from error
        if not isinstance(document, dict):
            raise RunFolderError(f"{path} does not hold a JSON object.")
        return document

    def checkpoint(self, epoch: int) -> Path:
        """Where the checkpoint of that epoch stands."""
        return self.path / CHECKPOINTS / f"epoch-{epoch:05d}"

    def epochs(self) -> list[int]:
        """Epochs with a checkpoint on disk, ascending."""
        names = [_EPOCH.fullmatch(entry.name) for entry in (self.path / CHECKPOINTS).iterdir()]
        return sorted(int(match.group(1)) for match in names if match is not None)

    def delete(self, epoch: int) -> Path:
        """Delete a checkpoint; returns where it stood."""
        path = self.checkpoint(epoch)
        shutil.rmtree(path, ignore_errors=True)
        return path

    def _sweep(self) -> None:
        """Clear what a killed process left half-written."""
        for place in (self.path, self.path / CHECKPOINTS):
            for entry in place.glob(".*.part"):
                if entry.is_dir():
                    shutil.rmtree(entry, ignore_errors=True)
                else:
                    entry.unlink(missing_ok=True)
            for entry in place.glob(".*.old"):
                shutil.rmtree(entry, ignore_errors=True)
