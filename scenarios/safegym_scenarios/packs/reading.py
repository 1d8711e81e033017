"""Signals that a pack reads: a declared signal, where it comes from, and why it is a hazard."""

from dataclasses import dataclass

from safegym.formula.terms import Signal
from safegym.scenario.adapt.sources import Source
from safegym_scenarios.packs.row import Better


@dataclass(frozen=True)
class Reading:
    """safe: which side of a limit is safe, None for a signal that no claim is made of."""

    signal: Signal
    source: Source
    safe: Better | None
    hazard: str = ""
