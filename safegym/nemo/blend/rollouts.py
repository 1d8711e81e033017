"""Rollouts as NeMo Gym leaves them: what names their task, and where their rewards stand."""

import struct
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from safegym.errors import BlendError
from safegym.nemo.rows.lines import text_of

TASK_INDEX, ROLLOUT_INDEX = "_ng_task_index", "_ng_rollout_index"
INDEX = struct.Struct(">Q")


def key_of(record: Mapping[str, Any], by: str, where: str) -> bytes:
    """Bytes that name a task: its index, or the digest of the value of `by`. Raises BlendError."""
    if not by:
        return whole(record.get(TASK_INDEX), where)
    found = value_at(record, by)
    if found is None:
        raise BlendError(f"{where}: there is no {by} to join by.")
    return sha256(text_of({"": found})).digest()[:16]


def value_at(record: Mapping[str, Any], dotted: str) -> Any:
    """The value under a dotted key such as verifier_metadata.seed; None if there is none."""
    value: Any = record
    for name in dotted.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def whole(value: Any, where: str) -> bytes:
    """An index as 8 bytes that compare as it does. Raises BlendError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**64:
        raise BlendError(
            f"{where}: {TASK_INDEX} and {ROLLOUT_INDEX} are whole numbers, found {value!r:.40}; "
            "or join by a key of the rows: --by task_id."
        )
    return INDEX.pack(value)


def infos_of(record: Mapping[str, Any], where: str) -> list[Mapping[str, Any]]:
    """The rollouts of a profile. Raises BlendError if they are no list of objects."""
    infos = record["rollout_infos"]
    if not isinstance(infos, list) or not all(isinstance(info, Mapping) for info in infos):
        raise BlendError(f"{where}: rollout_infos is a list of objects.")
    return infos


def refuse_twice(index: Any, seen: set[Any], where: str) -> None:
    """Raises BlendError if a rollout's number was seen already."""
    if index is not None and not isinstance(index, list | dict):
        if index in seen:
            raise BlendError(f"{where}: {ROLLOUT_INDEX} {index} is there twice.")
        seen.add(index)
