"""How each kind of claim is counted: one small class a kind, behind one protocol."""

from safegym.gate.counts.count import Count, Figures
from safegym.gate.counts.making import make_count
from safegym.gate.counts.seen import Seen

__all__ = ["Count", "Figures", "Seen", "make_count"]
