"""The trace store: Arrow IPC shards, one row an episode, each with index and seal beside it."""

from safegym.trace.store.index import IndexEntry, index_path, read_index
from safegym.trace.store.limits import Limits
from safegym.trace.store.read import iterate_shard, read_shard, read_signals, shard_digest
from safegym.trace.store.seal import Seal, read_seal, seal_path
from safegym.trace.store.write import Shard, ShardWriter

__all__ = [
    "IndexEntry",
    "Limits",
    "Seal",
    "Shard",
    "ShardWriter",
    "index_path",
    "iterate_shard",
    "read_index",
    "read_seal",
    "read_shard",
    "read_signals",
    "seal_path",
    "shard_digest",
]
