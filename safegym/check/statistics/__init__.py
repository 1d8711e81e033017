"""What may be claimed from episodes: e-processes, intervals, levels, plans, the attempt ledger."""

from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.intervals import VALIDITY, Interval, interval, labelled_interval
from safegym.check.statistics.ledger import (
    Attempt,
    AttemptLedger,
    AttemptOutcome,
    AttemptRecord,
)
from safegym.check.statistics.levels import (
    claim_level,
    holm,
    joint_statement,
    release_level,
    spent_level,
)
from safegym.check.statistics.limits import lower_limit, lower_limits, upper_limit, upper_limits
from safegym.check.statistics.mean import MeanEProcess
from safegym.check.statistics.mean_limits import mean_limits
from safegym.check.statistics.outcomes import Decision, Outcome
from safegym.check.statistics.planning import (
    CertificationPlan,
    Operating,
    certification_plan,
    operating,
    power,
    screen_pass_probability,
)
from safegym.check.statistics.screen import Screen
from safegym.check.statistics.statements import mean_statement, observed_statement, statement

__all__ = [
    "VALIDITY",
    "Attempt",
    "AttemptLedger",
    "AttemptOutcome",
    "AttemptRecord",
    "CertificationPlan",
    "Decision",
    "EProcess",
    "Interval",
    "MeanEProcess",
    "Operating",
    "Outcome",
    "Screen",
    "certification_plan",
    "claim_level",
    "holm",
    "interval",
    "joint_statement",
    "labelled_interval",
    "lower_limit",
    "lower_limits",
    "mean_limits",
    "mean_statement",
    "observed_statement",
    "operating",
    "power",
    "release_level",
    "screen_pass_probability",
    "spent_level",
    "statement",
    "upper_limit",
    "upper_limits",
]
