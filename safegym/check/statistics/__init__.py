"""What may be claimed from episodes: e-processes, intervals, levels, plans, the attempt ledger."""

from safegym.check.statistics.confidence_sequence import ConfidenceSequence
from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.eprocesses import EProcesses, codes_of
from safegym.check.statistics.fixed_sample import FixedSample, FixedValues
from safegym.check.statistics.intervals import (
    VALIDITY,
    Interval,
    interval,
    labelled_interval,
    process_interval,
)
from safegym.check.statistics.ledger import (
    Attempt,
    AttemptLedger,
    AttemptOutcome,
    AttemptRecord,
)
from safegym.check.statistics.levels import (
    claim_level,
    holm,
    holm_adjusted,
    joint_statement,
    p_value,
    release_level,
    spent_level,
)
from safegym.check.statistics.limits import lower_limit, lower_limits, upper_limit, upper_limits
from safegym.check.statistics.mean import MeanEProcess
from safegym.check.statistics.mean_limits import mean_limits
from safegym.check.statistics.operating import (
    Operating,
    operating,
    power,
    screen_pass_probability,
)
from safegym.check.statistics.outcomes import Decision, Outcome, outcome_of
from safegym.check.statistics.planning import (
    CertificationPlan,
    Outlook,
    certification_plan,
    joint_power,
    mean_plan,
    plan_text,
)
from safegym.check.statistics.robustness_bounds import (
    dkw_radius,
    episodes_for_quantile,
    quantile_band,
    quantile_limits,
    worst_mean_limits,
)
from safegym.check.statistics.screen import Screen
from safegym.check.statistics.statements import mean_statement, observed_statement, statement
from safegym.check.statistics.strata import (
    StratifiedEProcess,
    StratumCount,
    read_weights,
    stratified_limits,
    stratum_of,
)
from safegym.check.statistics.two_sided import TwoSidedEProcess, two_one_sided
from safegym.check.statistics.validity import refuse_in_gate

__all__ = [
    "VALIDITY",
    "Attempt",
    "AttemptLedger",
    "AttemptOutcome",
    "AttemptRecord",
    "CertificationPlan",
    "ConfidenceSequence",
    "Decision",
    "EProcess",
    "EProcesses",
    "FixedSample",
    "FixedValues",
    "Interval",
    "MeanEProcess",
    "Operating",
    "Outcome",
    "Outlook",
    "Screen",
    "StratifiedEProcess",
    "StratumCount",
    "TwoSidedEProcess",
    "certification_plan",
    "claim_level",
    "codes_of",
    "dkw_radius",
    "episodes_for_quantile",
    "holm",
    "holm_adjusted",
    "interval",
    "joint_power",
    "joint_statement",
    "labelled_interval",
    "lower_limit",
    "lower_limits",
    "mean_limits",
    "mean_plan",
    "mean_statement",
    "observed_statement",
    "operating",
    "outcome_of",
    "p_value",
    "plan_text",
    "power",
    "process_interval",
    "quantile_band",
    "quantile_limits",
    "read_weights",
    "refuse_in_gate",
    "release_level",
    "screen_pass_probability",
    "spent_level",
    "statement",
    "stratified_limits",
    "stratum_of",
    "two_one_sided",
    "upper_limit",
    "upper_limits",
    "worst_mean_limits",
]
