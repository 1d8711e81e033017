"""The units that numbers were recorded in: what can be wrong with them."""

from collections.abc import Iterable, Mapping

from safegym.errors import UnitError
from safegym.trace.names import nearest
from safegym.units import unit


def unit_issues(units: Mapping[str, str], signals: Mapping[str, object]) -> Iterable[str]:
    """A sentence for each unit that cannot be read, or is given for a signal that is not there."""
    for name, text in units.items():
        if name not in signals:
            hint = nearest(name, signals)
            yield f"A unit is given for signal {name}, which the trace lacks; {hint}"
            continue
        try:
            unit(text)
        except UnitError as error:
            yield f"The unit of signal {name} cannot be read. {error}"
