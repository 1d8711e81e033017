"""An argument as YAML for gsn2x, which draws it and checks its structure.

Identifiers start with G, S, Sn, C, A, J, and CG, CSn for what challenges (dialectic extension).
`record` and `leaf` are additional attributes, which gsn2x can show as layers.
"""

from collections.abc import Iterable
from typing import Any

from safegym.audit.exports.argument import Element
from safegym.audit.report.figures import visible


def gsn_yaml(elements: Iterable[Element], heading: Iterable[str] = ()) -> str:
    """The argument as YAML text. heading: lines of comment above it."""
    import yaml

    told = {element.id: _attributes(element) for element in elements}
    lines = "".join(f"# {' '.join(visible(line).split())}\n" for line in heading)
    body = yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=96)
    return f"{lines}{body}"


def _attributes(element: Element) -> dict[str, Any]:
    found: dict[str, Any] = {"text": visible(element.text)}
    if element.supported_by:
        found["supportedBy"] = list(element.supported_by)
    if element.in_context_of:
        found["inContextOf"] = list(element.in_context_of)
    if element.challenges:
        found["challenges"] = element.challenges
    if element.undeveloped:
        found["undeveloped"] = True
    if element.defeated:
        found["defeated"] = True
    if element.record is not None:
        found["record"] = str(element.record)
        found["leaf"] = element.leaf
    return found
