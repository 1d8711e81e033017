"""A scenario in words: what `show` prints, for people and for machines."""

from typing import TYPE_CHECKING, Any

from rich.text import Text

from safegym.cli.console import out, plain_table
from safegym.scenario.disturbance import Disturbance

if TYPE_CHECKING:
    from safegym.scenario.spec import Parameter, ScenarioSpec

_MEANING = {
    "sample": "the value at the sample",
    "max": "the largest since the last sample",
    "min": "the smallest since the last sample",
    "any": "whether it occurred since the last sample",
}


def document(spec: "ScenarioSpec") -> dict[str, Any]:
    """The scenario as plain values."""
    return {
        "name": spec.name,
        "summary": spec.summary,
        "digest": spec.digest,
        "dt_s": str(spec.clock.dt),
        "horizon_steps": spec.horizon,
        "signals": [
            {"name": s.name, "unit": s.unit, "shape": list(s.shape), "hold": s.hold}
            for s in spec.signals
        ],
        "parameters": [_parameter(p) for p in spec.parameters],
        "faults": [_parameter(p) for p in spec.faults],
        "disturbances": [_disturbance(d) for d in spec.disturbances],
        "differentiable": spec.model is not None,
        "claims": [claim.to_json() for claim in spec.claims],
        "terminals": dict(spec.terminals),
    }


def print_scenario(spec: "ScenarioSpec") -> None:
    """Print the scenario's tables."""
    out.print(Text.assemble((spec.name, "bold"), f"  {spec.summary}"))
    out.print(
        f"step {float(spec.clock.dt):g} s, horizon {float(spec.horizon * spec.clock.dt):g} s, "
        f"{spec.digest[:23]}"
    )
    signals = plain_table("signals")
    for heading in ("name", "unit", "each sample is"):
        signals.add_column(heading)
    for signal in spec.signals:
        signals.add_row(signal.name, signal.unit, _MEANING[signal.hold])
    out.print(signals)
    _print_inputs(spec)
    claims = plain_table("claims")
    for heading in ("claim", "statement", "confidence", "hazard", "source"):
        claims.add_column(heading, overflow="fold")
    for claim in spec.claims:
        confidence = "" if claim.confidence is None else f"{claim.confidence:g}"
        claims.add_row(claim.id, str(claim.statement), confidence, claim.hazard, claim.source)
    out.print(claims)
    ready = [*(["good"] if spec.good else []), *(f"bad:{key}" for key in spec.bad)]
    out.print("ready policies: " + (", ".join(ready) or "none"))


def _parameter(parameter: "Parameter") -> dict[str, Any]:
    return {
        "name": parameter.name,
        "unit": parameter.unit,
        "low": parameter.low,
        "high": parameter.high,
        "default": parameter.default,
        "role": parameter.role,
        "meaning": parameter.meaning,
    }


def _disturbance(disturbance: Disturbance) -> dict[str, Any]:
    return {
        "name": disturbance.name,
        "unit": disturbance.unit,
        "low": disturbance.low,
        "high": disturbance.high,
        "pieces": disturbance.pieces,
        "neutral": disturbance.neutral,
        "meaning": disturbance.meaning,
    }


def _print_inputs(spec: "ScenarioSpec") -> None:
    """What `reset(options=...)` takes; nothing where it takes nothing."""
    rows: list[tuple[str, Parameter | Disturbance, str]] = [
        *((("start" if p.role == "initial" else "parameter"), p, "") for p in spec.parameters),
        *(("fault", p, "") for p in spec.faults),
        *(("disturbance", d, f"{d.pieces} pieces") for d in spec.disturbances),
    ]
    if not rows:
        return
    table = plain_table("inputs")
    for heading in ("kind", "name", "unit", "from", "to", "at rest", "meaning"):
        table.add_column(heading, overflow="fold")
    for kind, each, pieces in rows:
        rest = each.neutral if isinstance(each, Disturbance) else each.resting
        meaning = "; ".join(text for text in (each.meaning, pieces) if text)
        numbers = (f"{number:g}" for number in (each.low, each.high, rest))
        table.add_row(kind, each.name, each.unit, *numbers, meaning)
    out.print(table)
