"""The trace store: Arrow IPC shards, one row an episode, each with an index beside it."""

from safegym.trace.store.index import IndexEntry, ShardIndex, index_path, read_index
from safegym.trace.store.limits import Limits
from safegym.trace.store.read import iterate_shard, read_shard, read_signals, shard_digest
from safegym.trace.store.write import Shard, ShardWriter

__all__ = [
    "IndexEntry",
    "Limits",
    "Shard",
    "ShardIndex",
    "ShardWriter",
    "index_path",
    "iterate_shard",
    "read_index",
    "read_shard",
    "read_signals",
    "shard_digest",
]
