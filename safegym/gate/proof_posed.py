"""The question that a logged proof answered, posed again from the frozen policy and the log.

A certificate names its property and its policy in words only; what it proves is its network, its
clauses and its region. So the question is built again, and the certificate must be of that one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.problem import HalfSpace, Region
from safegym.check.neural.proof.subject import asked, graph_of
from safegym.check.neural.property.layout import ACTION, layout_of
from safegym.check.neural.property.question import Question, Vectors
from safegym.check.neural.property.ready import Monotone, monotone
from safegym.check.neural.property.region import RegionInput
from safegym.errors import UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.text import parse
from safegym.gate.freezing import policy_folder
from safegym.policy.loading import load_policy

RISES = re.compile(
    r"where (?P<obs>.+) rises and all else stays, (?P<action>.+) "
    r"(?P<way>falls|rises) by less than (?P<tolerance>[0-9.e+-]+)"
)
READY = re.compile(
    r"(?P<name>robust|never saturates|never chooses \d+): (?P<formula>.+)", re.DOTALL
)


def frozen_graph(folder: Path, digest: str) -> PolicyGraph | None:
    """The graph of the policy that a run keeps under this digest, None where its files lack."""
    place = policy_folder(folder, digest)
    return graph_of(load_policy(place)) if place.is_dir() else None


def posed(
    graph: PolicyGraph,
    payload: Mapping[str, Any],
    entry: Mapping[str, Any],
    region: RegionInput,
) -> Question:
    """What the property of a spec_registered `entry` asks of the policy on this region.

    payload: of the proof. Raises SafegymError for a property of which nothing can be asked.
    """
    fields, semantics = payload["fields"], payload["semantics"]
    if "claim" in entry:
        return asked(graph, Claim.from_json(entry["claim"]), region, fields, semantics)
    text = str(entry["text"])
    rise, ready = RISES.fullmatch(text), READY.fullmatch(text)
    if rise is not None:
        return asked(graph, _monotone(graph, rise, fields), region, fields, semantics)
    formula = text if ready is None else ready["formula"]
    found = asked(graph, parse(formula), region, fields, semantics)
    return found if ready is None else replace(found, text=f"{ready['name']}: {found.text}")


def posed_of(
    graph: PolicyGraph,
    payload: Mapping[str, Any],
    entry: Mapping[str, Any],
    stated: Sequence[Mapping[str, Any]],
) -> Question:
    """The same on exact regions, as `region_told` and the reports of certificates have them."""
    regions = [_region(each) for each in stated]
    if "claim" not in entry and RISES.fullmatch(str(entry["text"])):
        regions = [_lower(each) for each in regions]
    return posed(graph, payload, entry, regions)


def _monotone(graph: PolicyGraph, told: re.Match[str], fields: Mapping[str, Any]) -> Monotone:
    layout = layout_of(graph, fields)
    names = {layout.name((ACTION, at)): at for at in range(layout.actions)}
    if told["action"] not in names:
        raise UnsupportedError(f"The policy's action has no entry {told['action'][:60]!r}.")
    return monotone(
        told["obs"],
        names[told["action"]],
        tolerance=float(told["tolerance"]),
        increasing=told["way"] == "falls",
    )


def region_told(region: Region) -> dict[str, Any]:
    """A region as a log keeps it: rational text, each cut's coefficients and last its bound."""
    return {
        "low": [str(end) for end in region.low],
        "high": [str(end) for end in region.high],
        "cuts": [[str(x) for x in (*cut.coefficients, cut.bound)] for cut in region.cuts],
    }


def holds_inside(question: Question, rows: Vectors) -> bool:
    """Whether these observations, one or a pair of them, lie in a part of the region."""
    first, size = list(rows[0]), len(question.problems[0].region.low)
    points = [first] if size == len(first) else [[*first, end] for end in rows[-1]]
    meant = [point for point in points if _listed(question.rows(point)) == _listed(rows)]
    return any(each.region.contains(point) for each in question.problems for point in meant)


def _listed(rows: Vectors) -> list[list[Fraction]]:
    return [list(row) for row in rows]


def _region(told: Mapping[str, Any]) -> Region:
    low, high = (tuple(map(Fraction, told[end])) for end in ("low", "high"))
    rows = [tuple(map(Fraction, row)) for row in told["cuts"]]
    return Region(low, high, tuple(HalfSpace(row[:-1], row[-1]) for row in rows))


def _lower(pair: Region) -> Region:
    """The region of which a monotone property's pairs were made: of the first observation."""
    cuts = tuple(HalfSpace(cut.coefficients[:-1], cut.bound) for cut in pair.cuts[1::2])
    return Region(pair.low[:-1], pair.high[:-1], cuts)
