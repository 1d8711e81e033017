"""The reference page of scenarios, written from their specs.

`python -m safegym.scenario.tables PAGE` writes it, with `--check` compares.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from safegym.errors import SafegymError
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.registry import survey
from safegym.scenario.spec import Parameter, ScenarioSpec

COMMAND = "python -m safegym.scenario.tables"
_PAGE = "docs/reference/scenarios.md"
_INTRODUCTION = f"""# Scenarios

Written by `{COMMAND} {_PAGE}` from what the scenarios declare; a test keeps it true.

`reset(seed=..., options={{"parameters": {{name: value}}, "disturbances": {{name: [v_1, ...]}},
"disturbance_seed": n}})` sets any input, in its unit and range. What is left out comes from the
seed.

- **start**, **parameter**: a seed draws it, uniformly from its range.
- **fault**: no seed draws it. At rest there is none.
- **disturbance**: so many values, each for an equal stretch of the horizon; the last one stays in a
  tail. They replace what the seed would do on that channel. At rest it does nothing.

A trace records them all: parameters and faults by name, the pieces of a disturbance as `name[0]`,
`name[1]`, and so on. `safegym.scenario.inputs.options_of(trace)` gives the options back.
"""
_HOLDS = {
    "sample": "value at the sample",
    "max": "largest since the last sample",
    "min": "least since the last sample",
    "any": "whether it occurred since the last sample",
}


def page(specs: Iterable[ScenarioSpec]) -> str:
    """The page in Markdown: for each scenario its signals, inputs, claims and policies."""
    return "\n".join((_INTRODUCTION, *(_section(spec) for spec in specs)))


def _section(spec: ScenarioSpec) -> str:
    dt = spec.clock.dt
    parts = [
        f"## {spec.name}\n",
        f"{spec.summary} Step {dt} s, horizon {spec.horizon} steps "
        f"({float(spec.horizon * dt):g} s). {_terminals(spec)}"
        f"{'Has' if spec.model else 'No'} differentiable model.\n",
        *_table(("signal", "unit", "each sample is"), _signals(spec)),
        *_table(("input", "name", "unit", "range", "at rest", "meaning"), _inputs(spec)),
        *_table(("claim", "statement", "confidence", "broken by policy"), _claims(spec)),
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


def _claims(spec: ScenarioSpec) -> Iterator[tuple[str, ...]]:
    for claim in spec.claims:
        confidence = "" if claim.confidence is None else f"{claim.confidence:g}"
        policy = spec.bad[claim.id]().card.name if claim.id in spec.bad else ""
        yield f"`{claim.id}`", f"`{claim.statement}`", confidence, policy


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Lines of a Markdown table and a blank one; none without rows."""
    found = list(rows)
    if not found:
        return
    for row in (headings, ["---"] * len(headings), *found):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
    yield ""


def main(arguments: Sequence[str]) -> int:
    """Writes or checks the page of the core pack; returns 0, 1 if it is out of date, else 2."""
    paths = [text for text in arguments if text != "--check"]
    if len(paths) != 1 or paths[0].startswith("-"):
        print(f"usage: {COMMAND} {_PAGE} [--check]", file=sys.stderr)
        return 2
    path = Path(paths[0])
    try:
        specs, problems = survey()
        if problems:
            print("\n".join(problems), file=sys.stderr)
            return 1
        text = page(spec for spec in specs if spec.pack == "core")
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            print(f"{path} is out of date: run {COMMAND} {path}", file=sys.stderr)
            return 1
    except (SafegymError, OSError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
