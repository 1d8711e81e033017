"""When a bound holds, as a check that runs: fixed n is for a number declared beforehand."""

from typing import Final

from safegym.check.statistics.exact import one_of
from safegym.errors import EvidenceError
from safegym.verdict import Validity

MEANING: Final[dict[Validity, str]] = {
    "exact": "counted or proved; nothing is estimated",
    "fixed_n": "only at a number of episodes that was fixed before the first one",
    "anytime": "at every number of episodes, however and for whatever reason one stops",
    "asymptotic": "in the limit of many episodes; at no finite number for certain",
}
"""What each `Validity` promises."""


def refuse_in_gate(validity: Validity, method: str) -> None:
    """Raise EvidenceError unless a gate may rest on a bound of this validity.

    A gate looks after every episode and stops when it likes: only `anytime` survives that (and
    `exact`, which estimates nothing).
    """
    if not one_of(validity, MEANING):
        raise EvidenceError(f"validity = {validity!r} is not one of {', '.join(MEANING)}.")
    if validity not in ("exact", "anytime"):
        raise EvidenceError(
            f"{method} is {validity}: it holds {MEANING[validity]}, and a gate stops when it has "
            "seen enough. Use an anytime method: EProcess(threshold, level), or "
            'interval(k, n, method="e-process").'
        )


def running_refusal(what: object) -> EvidenceError:
    """The error for a fixed-n bound asked of something that is not a completed fixed sample."""
    return EvidenceError(
        f"A fixed-n bound was asked of {type(what).__name__}, whose number of episodes was not "
        "declared before the first one. Declare FixedSample(n) or FixedValues(n, low=, high=) "
        "beforehand, or use an anytime method: "
        'process_interval(process, method="e-process") or mean_limits(values, level=).'
    )


def incomplete(seen: int, declared: int) -> EvidenceError:
    """The error for a fixed-n bound asked before the declared number is reached."""
    return EvidenceError(
        f"{seen} of the declared {declared} episodes are in: a fixed-n bound holds at the declared "
        f"number only. Feed the other {declared - seen}, or use an anytime method: "
        'interval(k, n, method="e-process").'
    )


def overfull(declared: int) -> EvidenceError:
    """The error for an episode beyond the declared number."""
    return EvidenceError(
        f"All {declared} declared episodes are in; more would let the number be chosen by looking. "
        "Declare a new sample, or use EProcess, which takes any number."
    )
