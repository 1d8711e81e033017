"""Stored episodes that the report draws: read from their shards, checked by digest, not run."""

import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from safegym.audit.artifacts import PIECE
from safegym.audit.limits import Limits
from safegym.audit.report.model import Campaign, Shard
from safegym.audit.source import Source, open_source
from safegym.errors import AuditError, TraceError
from safegym.trace.model import Trace


@dataclass(slots=True)
class Episodes:
    """Reads traces of a run folder or bundle. missing: shards that are not there."""

    source: Source
    place: Path
    scratch: Path
    missing: list[str] = field(default_factory=list[str])

    def find(self, campaign: Campaign, digest: str) -> Trace | None:
        """The trace of that digest, None if its shard is missing. Raises AuditError."""
        for shard in campaign.shards:
            if digest in shard.traces:
                rows = islice(self._rows(shard), shard.traces.index(digest), None)
                return next(rows, None)
        return None

    def first(self, campaign: Campaign, most: int) -> Iterator[Trace]:
        """The first `most` traces in index order. Raises AuditError."""
        for shard in campaign.shards:
            for trace in islice(self._rows(shard), max(most, 0)):
                most -= 1
                yield trace

    def _rows(self, shard: Shard) -> Iterator[Trace]:
        """The traces of a shard; each must be the one that the log names in its place."""
        if not self.source.has(shard.path):
            if shard.path not in self.missing:
                self.missing.append(shard.path)
            return
        from safegym.trace.store import iterate_shard  # loads pyarrow

        path = self._local(shard)
        try:
            rows = iterate_shard(path, digest=shard.digest)
            for (_, trace), named in zip(rows, shard.traces, strict=False):
                if trace.digest != named:
                    raise AuditError(
                        f"{shard.path} holds other traces than the log names.", step="artifacts"
                    )
                yield trace
        except TraceError as error:
            raise AuditError(f"{shard.path}: {error}", step="artifacts") from error

    def _local(self, shard: Shard) -> Path:
        """The shard as a file: its own in a run folder, a copy of a bundle's."""
        if self.place.is_dir():
            return self.place / shard.path
        target = self.scratch / shard.digest.partition(":")[2]
        if not target.exists():
            with self.source.open(shard.path) as file, target.open("xb") as copy:
                while piece := file.read(PIECE):
                    copy.write(piece)
        return target


@contextmanager
def open_episodes(place: Path) -> Generator[Episodes]:
    """Open the traces of a run folder or bundle. Raises AuditError."""
    source = open_source(place, Limits())
    try:
        with tempfile.TemporaryDirectory(prefix="safegym-report-") as name:
            yield Episodes(source, place, Path(name))
    finally:
        source.close()
