"""Whether a claim speaks of the signals that a scenario records, in the same units."""

from difflib import get_close_matches

from safegym.errors import ScenarioError, UnitError
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.spec import ScenarioSpec
from safegym.units import same_unit


def refuse_other_signals(spec: ScenarioSpec, claim: Claim) -> None:
    """Raise unless each signal of the claim is one that the scenario records.

    ScenarioError for an unknown name (with the nearest) or another shape, UnitError for another
    unit: a limit meant in degrees must not be compared with radians. Scale, bounds and hold of the
    claim's own declaration are the claim's business.
    """
    recorded = {signal.name: signal for signal in spec.signals}
    for signal in claim.signals:
        found = recorded.get(signal.name)
        if found is None:
            near = get_close_matches(signal.name, recorded, n=3, cutoff=0.5)
            hint = (
                f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(recorded)}."
            )
            raise ScenarioError(
                f"Claim {claim.id} reads {signal.name}, which {spec.name} does not record; {hint}"
            )
        _refuse_other_unit(spec, claim, signal, found)
        if signal.shape not in (found.shape, (-1,)) or bool(signal.shape) != bool(found.shape):
            raise ScenarioError(
                f"Claim {claim.id} reads {signal.name} with shape {signal.shape}; {spec.name} "
                f"records it with shape {found.shape}."
            )


def _refuse_other_unit(spec: ScenarioSpec, claim: Claim, signal: Signal, found: Signal) -> None:
    if not same_unit(signal.unit, found.unit):
        raise UnitError(
            f"Claim {claim.id} reads {signal.name} in {signal.unit}, but {spec.name} records it in "
            f"{found.unit}, and nothing is converted silently; state the claim over "
            f'Signal("{signal.name}", unit="{found.unit}") (in text: parse(text, '
            "signals=spec.signals))."
        )
