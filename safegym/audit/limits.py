"""How much a reader of logs and bundles takes in before it refuses."""

from dataclasses import dataclass

GIB = 1 << 30
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds, in bytes unless said otherwise.

    log_bytes, line_bytes, checkpoint_bytes: of log.jsonl, one line of it, checkpoints.txt.
    records, files: counts. artifact_bytes: one artifact; total_bytes: all of them.
    """

    log_bytes: int = GIB
    line_bytes: int = 64 * MIB
    records: int = 1_000_000
    checkpoint_bytes: int = 64 * MIB
    files: int = 65_000
    artifact_bytes: int = 4 * GIB - 1
    total_bytes: int = 64 * GIB
