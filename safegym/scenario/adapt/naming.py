"""Names of drafted signals: each once, none that the drafted file uses for something else."""

import re
from collections.abc import Sequence
from typing import Protocol

RESERVED = frozenset({"name", "horizon", "dt", "reads", "claims", "scenarios"})
"""The drafted file's own constants, in lower case."""


class Named(Protocol):
    """What has a name that can be changed."""

    name: str


def signal_name(text: str) -> str:
    """The text as a signal's name: ASCII letters, digits and underscores, a letter first."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_").lower()
    return name if name and not name[0].isdigit() else f"signal_{name}".rstrip("_")


def distinct(signals: Sequence[Named]) -> None:
    """Renames those whose name is taken: speed, speed_2, speed_3."""
    taken = set(RESERVED)
    for each in signals:
        first, count = each.name, 1
        while each.name in taken:
            count += 1
            each.name = f"{first}_{count}"
        taken.add(each.name)
