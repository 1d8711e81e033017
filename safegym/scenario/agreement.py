"""Whether a claim speaks of the signals that a scenario records, and in units that convert."""

from collections.abc import Iterable

from safegym.errors import ScenarioError, UnitError
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.conversion import Conversion, conversion
from safegym.trace.names import nearest


def refuse_other_signals(spec: ScenarioSpec, claim: Claim) -> None:
    """Raise unless each signal of the claim is one that the scenario records.

    ScenarioError for an unknown name (with the nearest) or another shape, UnitError for a unit of
    another dimension: a limit meant in metres must not be compared with radians. Another unit of
    the same dimension is converted where a trace meets the claim. Scale, bounds and hold of the
    claim's own declaration are the claim's business.
    """
    recorded = {signal.name: signal for signal in spec.signals}
    for signal in claim.signals:
        found = recorded.get(signal.name)
        if found is None:
            raise ScenarioError(
                f"Claim {claim.id} reads {signal.name}, which {spec.name} does not record; "
                f"{nearest(signal.name, recorded)}"
            )
        _conversion(spec, claim, signal, found)
        if signal.shape not in (found.shape, (-1,)) or bool(signal.shape) != bool(found.shape):
            raise ScenarioError(
                f"Claim {claim.id} reads {signal.name} with shape {signal.shape}; {spec.name} "
                f"records it with shape {found.shape}. State the claim over the scenario's own "
                f"{found.name}: parse(text, signals=spec.signals)."
            )


def recorded_units(spec: ScenarioSpec) -> dict[str, str]:
    """Returns signal name -> the unit that the scenario records it in."""
    return {signal.name: signal.unit for signal in spec.signals}


def conversions(spec: ScenarioSpec, claims: Iterable[Claim]) -> tuple[Conversion, ...]:
    """Returns the conversions between what a scenario records and what claims read, each once.

    Raises UnitError where no factor leads from one unit to the other.
    """
    recorded = {signal.name: signal for signal in spec.signals}
    found = (
        _conversion(spec, claim, signal, recorded[signal.name])
        for claim in claims
        for signal in claim.signals
        if signal.name in recorded
    )
    return tuple(dict.fromkeys(each for each in found if each is not None))


def _conversion(
    spec: ScenarioSpec, claim: Claim, signal: Signal, found: Signal
) -> Conversion | None:
    try:
        return conversion(signal.name, found.unit, signal.unit)
    except UnitError as error:
        raise UnitError(
            f"Claim {claim.id} reads {signal.name} in {signal.unit}, but {spec.name} records it in "
            f'{found.unit}: {error}. State the claim over Signal("{signal.name}", '
            f'unit="{found.unit}") (in text: parse(text, signals=spec.signals)).'
        ) from None
