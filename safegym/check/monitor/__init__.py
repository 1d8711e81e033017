"""The trace monitor: offline and online judging of formulas on traces."""

from safegym.check.monitor.judge import judge
from safegym.check.monitor.judge_batch import judge_batch
from safegym.check.monitor.measure import measure
from safegym.check.monitor.online import Monitor, Outcome, Update
from safegym.check.monitor.robustness import robustness, satisfaction
from safegym.check.monitor.settling import Settling, settling
from safegym.check.monitor.support import support

__all__ = [
    "Monitor",
    "Outcome",
    "Settling",
    "Update",
    "judge",
    "judge_batch",
    "measure",
    "robustness",
    "satisfaction",
    "settling",
    "support",
]
