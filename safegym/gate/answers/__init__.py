"""What people ask of an audit trail, each answered from its verified log alone."""

from safegym.gate.answers.changed import Change, Changes, changes
from safegym.gate.answers.derivation import Derived
from safegym.gate.answers.derived import derive
from safegym.gate.answers.opened import Opened, open_log
from safegym.gate.answers.released import ReleasedPolicy, released
from safegym.gate.answers.waived import Waived, waived
from safegym.gate.answers.worst import WorstEpisode, worst

__all__ = [
    "Change",
    "Changes",
    "Derived",
    "Opened",
    "ReleasedPolicy",
    "Waived",
    "WorstEpisode",
    "changes",
    "derive",
    "open_log",
    "released",
    "waived",
    "worst",
]
