"""The units that numbers were recorded in: what can be wrong with them."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from safegym.errors import UnitError
from safegym.units import unit


def unit_issues(units: Mapping[str, str], signals: Mapping[str, object]) -> Iterable[str]:
    """A sentence for each unit that cannot be read, or is given for a signal that is not there."""
    for name, text in units.items():
        if name not in signals:
            near = get_close_matches(name, signals, n=3, cutoff=0.5)
            known = ", ".join(signals)
            hint = f"did you mean {' or '.join(near)}?" if near else f"it has {known}."
            yield f"A unit is given for signal {name}, which the trace lacks; {hint}"
            continue
        try:
            unit(text)
        except UnitError as error:
            yield f"The unit of signal {name} cannot be read. {error}"
