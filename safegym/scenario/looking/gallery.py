"""A page of all scenarios: a picture, signals, inputs, claims, and what verification found."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from safegym.scenario.disturbance import Disturbance
from safegym.scenario.looking.pictures import Pictures
from safegym.scenario.registry import family_of
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym.scenario.verified import Row, Rows

PICTURES = "pictures"
"""The folder of pictures, beside the page."""
_PAGE = "index.html"


def write_gallery(
    folder: Path, specs: Sequence[ScenarioSpec], pictures: Mapping[str, Pictures], rows: Rows
) -> Path:
    """Writes the page beside its pictures; returns its path. It needs no network.

    pictures: by scenario name, their files in `folder`/pictures. rows: what verification found.
    """
    cards = [_card(spec, pictures.get(spec.name), rows.get(spec.name)) for spec in specs]
    families: dict[str, int] = {}
    for card in cards:
        families[card["family"]] = families.get(card["family"], 0) + 1
    text = _template().render(
        cards=cards,
        families=families,
        verified=sum(card["row"] is not None for card in cards),
        claims=sum(len(card["claims"]) for card in cards),
        folder=PICTURES,
    )
    path = folder / _PAGE
    path.write_text(text, encoding="utf-8")
    return path


def _template() -> Template:
    loaded = Environment(
        loader=PackageLoader("safegym.scenario.looking", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return loaded.get_template("gallery.html.j2")


def _card(spec: ScenarioSpec, pictures: Pictures | None, row: Row | None) -> dict[str, Any]:
    found = {each.claim: each for each in row.claims} if row else {}
    dt = float(spec.clock.dt)
    return {
        "name": spec.name,
        "short": spec.name.rpartition("/")[2],
        "family": family_of(spec.name) or "other",
        "pack": spec.pack,
        "summary": spec.summary,
        "time": f"{spec.horizon * dt:g} s in steps of {dt:g} s",
        "pictures": pictures or Pictures(spec.name),
        "row": row,
        "signals": [(signal.name, signal.unit) for signal in spec.signals],
        "inputs": [_input(each, kind) for kind, each in _inputs(spec)],
        "claims": [
            {
                "id": claim.id,
                "word": claim.id.partition(".")[2] or claim.id,
                "statement": str(claim.statement),
                "hazard": claim.hazard,
                "source": claim.source,
                "found": found.get(claim.id),
            }
            for claim in spec.claims
        ],
    }


def _inputs(spec: ScenarioSpec) -> list[tuple[str, Parameter | Disturbance]]:
    return [
        *(("start" if p.role == "initial" else "parameter", p) for p in spec.parameters),
        *(("fault", fault) for fault in spec.faults),
        *(("disturbance", disturbance) for disturbance in spec.disturbances),
    ]


def _input(each: Parameter | Disturbance, kind: str) -> tuple[str, str, str, str]:
    unit = "" if each.unit == "1" else f" {each.unit}"
    return kind, each.name, f"{each.low:g} to {each.high:g}{unit}", each.meaning
