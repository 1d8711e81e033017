"""What the reference says of one scenario: signals, inputs, claims, and what breaks them."""

from collections.abc import Iterable, Iterator, Sequence

from safegym.scenario.disturbance import Disturbance
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym.scenario.verified import Row, Rows

_HOLDS = {
    "sample": "value at the sample",
    "max": "largest since the last sample",
    "min": "least since the last sample",
    "any": "whether it occurred since the last sample",
}


def page(specs: Iterable[ScenarioSpec], rows: Rows | None = None) -> str:
    """The details of scenarios in Markdown, one section each. rows: what verification found."""
    return "\n".join(_section(spec, (rows or {}).get(spec.name)) for spec in specs)


def anchor(name: str) -> str:
    """The fragment under which a scenario's heading is found on its page."""
    return "".join(letter for letter in name.lower() if letter.isalnum() or letter in "-_")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Lines of a Markdown table and a blank one; none without rows."""
    found = list(rows)
    if not found:
        return
    for row in (headings, ["---"] * len(headings), *found):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
    yield ""


def _section(spec: ScenarioSpec, row: Row | None) -> str:
    dt = spec.clock.dt
    found = ""
    if row is not None:
        found = f" Its good policy satisfies every claim on {row.good} of {row.seeds} seeds."
    parts = [
        f"## {spec.name}\n",
        f"{spec.summary} Step {dt} s, horizon {spec.horizon} steps "
        f"({float(spec.horizon * dt):g} s). {_terminals(spec)}"
        f"{'Has' if spec.model else 'No'} differentiable model.{found}\n",
        *table(("signal", "unit", "each sample is"), _signals(spec)),
        *table(("input", "name", "unit", "range", "at rest", "meaning"), _inputs(spec)),
        *table(
            ("claim", "statement", "confidence", "broken by policy", "on seeds"), _claims(spec, row)
        ),
        *table(("claim", "hazard", "source of the threshold"), _hazards(spec)),
    ]
    return "\n".join(parts)


def _terminals(spec: ScenarioSpec) -> str:
    if not spec.terminals:
        return "Never terminates. "
    ends = ", ".join(f"`{reason}` ({kind})" for reason, kind in sorted(spec.terminals.items()))
    return f"Terminates: {ends}. "


def _signals(spec: ScenarioSpec) -> Iterator[tuple[str, ...]]:
    for signal in spec.signals:
        yield f"`{signal.name}`", signal.unit, _HOLDS[signal.hold]


def _inputs(spec: ScenarioSpec) -> Iterator[tuple[str, ...]]:
    for parameter in spec.parameters:
        yield _input("start" if parameter.role == "initial" else "parameter", parameter)
    for fault in spec.faults:
        yield _input("fault", fault)
    for disturbance in spec.disturbances:
        yield _input(f"disturbance, {disturbance.pieces} pieces", disturbance)


def _input(kind: str, each: Parameter | Disturbance) -> tuple[str, ...]:
    rest = each.neutral if isinstance(each, Disturbance) else each.resting
    span = f"{each.low:g} to {each.high:g}"
    return kind, f"`{each.name}`", each.unit, span, f"{rest:g}", each.meaning


def _claims(spec: ScenarioSpec, row: Row | None) -> Iterator[tuple[str, ...]]:
    found = {each.claim: each.violated for each in row.claims} if row else {}
    for claim in spec.claims:
        confidence = "" if claim.confidence is None else f"{claim.confidence:g}"
        policy = spec.bad[claim.id]().card.name if claim.id in spec.bad else ""
        seeds = f"{found[claim.id]} of {row.seeds}" if row and claim.id in found else ""
        yield f"`{claim.id}`", f"`{claim.statement}`", confidence, policy, seeds


def _hazards(spec: ScenarioSpec) -> Iterator[tuple[str, ...]]:
    for claim in spec.claims:
        yield f"`{claim.id}`", claim.hazard, claim.source
