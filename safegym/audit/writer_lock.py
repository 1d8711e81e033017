"""One writer a run: the lock on its folder."""

from pathlib import Path

from filelock import FileLock, Timeout

from safegym.audit import layout
from safegym.errors import RunFolderError


def writer_lock(folder: Path, *, make: bool) -> FileLock:
    """Take the run folder's writer lock. Raises RunFolderError if it is taken, or no folder."""
    try:
        if make:
            folder.mkdir(parents=True, exist_ok=True)
        elif not (folder / layout.LOG).is_file():
            raise RunFolderError(f"{folder} holds no {layout.LOG}: it is not a run folder.")
        lock = FileLock(folder / layout.LOCK, timeout=0, thread_local=False)
        lock.acquire()
    except Timeout as error:
        raise RunFolderError(
            f"The run folder {folder} is in use by another process; wait for it, or choose "
            "another folder."
        ) from error
    except OSError as error:
        if isinstance(error, RunFolderError):
            raise
        raise RunFolderError(
            f"The run folder {folder} cannot be used: {error.strerror}."
        ) from error
    return lock
