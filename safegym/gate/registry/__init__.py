"""The policy registry of a run: which policies it froze, what was found, what counts as released.

The audit log is the registry: nothing else is read, and nothing else can release or withdraw.
"""

from safegym.gate.registry.entry import (
    ClaimCount,
    PolicyEntry,
    PolicyRegistry,
    Release,
    Trial,
    Withdrawal,
)
from safegym.gate.registry.reading import read_registry
from safegym.gate.registry.withdraw import Withdrawn, withdraw

__all__ = [
    "ClaimCount",
    "PolicyEntry",
    "PolicyRegistry",
    "Release",
    "Trial",
    "Withdrawal",
    "Withdrawn",
    "read_registry",
    "withdraw",
]
