"""What must hold of a plant, as functions from thresholds to claims."""

from safegym.formula.build import all_of, always, eventually, never
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.rational import Exact


def below(word: str, signal: Signal, limit: float, hazard: str, source: str) -> Claim:
    """The signal never exceeds the limit, in its unit."""
    return Claim(
        id=f"process.{word}",
        statement=always(signal <= limit),
        hazard=hazard,
        source=source,
    )


def above(word: str, signal: Signal, limit: float, hazard: str, source: str) -> Claim:
    """The signal never falls below the limit, in its unit."""
    return Claim(
        id=f"process.{word}",
        statement=always(signal >= limit),
        hazard=hazard,
        source=source,
    )


def not_for_long(
    word: str, signal: Signal, limit: float, lasting: Exact, hazard: str, source: str
) -> Claim:
    """The signal is never above the limit for so long, in s."""
    return Claim(
        id=f"process.{word}",
        statement=never(always(signal > limit, lasting=lasting)),
        hazard=hazard,
        source=source,
    )


def settled(*pairs: tuple[Signal, float], lasting: Exact = 30) -> Claim:
    """At some time every error is, and stays for so long, within its tolerance."""
    near = all_of([signal <= tolerance for signal, tolerance in pairs])
    allowed = ", ".join(f"{tolerance:g} {signal.unit}" for signal, tolerance in pairs)
    return Claim(
        id="process.settled",
        statement=eventually(always(near, lasting=lasting)),
        hazard="the plant does not make what it is there for",
        source=f"chosen: {allowed} is what the next stage of the plant takes",
        severity="marginal",
    )
