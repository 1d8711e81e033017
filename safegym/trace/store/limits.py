"""How much of an untrusted file is read."""

from dataclasses import dataclass
from pathlib import Path

from safegym.errors import TraceError


@dataclass(frozen=True, slots=True)
class Limits:
    """max_bytes: largest file, in bytes. max_rows: most episodes in one."""

    max_bytes: int = 2**30
    max_rows: int = 100_000

    def check_file(self, path: Path) -> int:
        """The size of a regular file in bytes. Raises TraceError if it is missing or too large."""
        try:
            if not path.is_file():
                raise TraceError(f"There is no file {path}.")
            size = path.stat().st_size
        except OSError as error:
            raise TraceError(f"Cannot read {path}: {error.strerror or error}.") from error
        if size > self.max_bytes:
            raise TraceError(
                f"{path.name} has {size} bytes; at most {self.max_bytes} are read. Pass "
                f"limits=Limits(max_bytes={size}) if you trust it."
            )
        return size
