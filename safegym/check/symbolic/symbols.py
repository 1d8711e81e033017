"""Signals at samples as free z3 reals, and atoms over them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from safegym.check.symbolic.engine import Bool, Real, z3
from safegym.check.symbolic.terms import comparison, term_real
from safegym.formula.nodes import Atom
from safegym.formula.terms import Signal, signals_of
from safegym.trace.conversion import rational_factor
from safegym.units import factor_between


def symbol(name: str, component: int, at: int) -> Real:
    """The real of one component of a signal at a sample (component 0 of a scalar)."""
    return z3.Real(f"{name}[{component}]@{at}")


@dataclass(frozen=True, slots=True)
class Symbols:
    """Atoms over signals that are declared once, whatever unit an atom reads them in.

    slack: by how much each atom must clear its limit. The reals are in the units of `signals`; an
    atom that declares another unit reads them times the exact factor (one with pi within 2^-250).
    """

    signals: Sequence[Signal]
    slack: Fraction = Fraction(0)

    def atom(self, node: Atom, at: int) -> Bool:
        """The comparison at a sample, in real arithmetic."""
        factors = self._factors(node)

        def read(name: str, component: int) -> Real:
            value = self.real(name, component, at)
            return value * factors[name] if name in factors else value

        left, right = term_real(node.left, read), term_real(node.right, read)
        if not self.slack:
            return comparison(node, left, right)
        slack = z3.Q(self.slack.numerator, self.slack.denominator)
        upward = node.comparison in (">", ">=")
        return comparison(node, left - slack if upward else left + slack, right)

    def real(self, name: str, component: int, at: int) -> Real:
        """The real that an atom reads for a signal."""
        return symbol(name, component, at)

    def _factors(self, node: Atom) -> Mapping[str, Real]:
        """Signal name -> factor, for the signals that the atom reads in another unit."""
        found: dict[str, Real] = {}
        declared = {signal.name: signal.unit for signal in self.signals}
        for signal in signals_of(node):
            factor = factor_between(declared[signal.name], signal.unit)
            if not factor.is_one:
                near = rational_factor(factor)
                found[signal.name] = z3.Q(near.numerator, near.denominator)
        return found
