"""Finds and results as JSON, and read back: bounded, field by field, nothing executed."""

from collections.abc import Callable, Iterable, Mapping
from math import inf, isfinite
from pathlib import Path
from typing import Any, cast

from safegym.check.falsify.find import Component, Find
from safegym.check.falsify.prints import MOST
from safegym.errors import FormulaError, ScenarioError, TraceError
from safegym.formula.claim import Claim
from safegym.trace.document import read_document
from safegym.verdict import Witness

_MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, FormulaError)
FORMAT = "safegym-find/1"
RESULT_FORMAT = "safegym-falsification/1"
MAX_BYTES = 64 * 2**20
LONGEST = 20_000
"""Characters of a text, and entries of a list, at most."""
_TEXTS = (
    *("scenario", "scenario_digest", "policy", "policy_digest", "trace_digest", "method", "why"),
)
_WHOLE = ("seed", "tail", "episode", "steps", "disturbance_seed", "alike")
_FLAGS = ("seed_matters", "confirmed", "irreducible")
_WITNESS = {"time", "step", "subformula", "values", "margin", "chain"}
_OTHERS = ("claim", "options", "margin", "witness", "components", "prints", "parameters")


def find_to_json(find: Find) -> dict[str, Any]:
    """The document of a find. Seeds are text, since JSON would round them."""
    document: dict[str, Any] = {"format": FORMAT}
    document.update((name, getattr(find, name)) for name in (*_TEXTS, *_FLAGS))
    document.update((name, str(getattr(find, name))) for name in _WHOLE)
    document["claim"] = find.claim.to_json()
    document["options"] = find.start
    document["parameters"] = dict(find.parameters)
    document["margin"] = _number_out(find.margin)
    document["prints"] = list(find.prints)
    document["components"] = [
        [each.name, each.kind, each.unit, each.value, each.neutral, each.begin, each.end]
        for each in find.components
    ]
    document["witness"] = None if find.witness is None else _witness_out(find.witness)
    return document


def find_from_json(document: object) -> Find:
    """The find of a document. Raises ScenarioError for a missing, unknown or malformed field."""
    if not isinstance(document, Mapping):
        raise ScenarioError(f"A find is a JSON object, found {type(document).__name__}.")
    given = cast(Mapping[str, Any], document)
    if given.get("format") != FORMAT:
        raise ScenarioError(f"This is {given.get('format')!r:.60}; this version reads {FORMAT!r}.")
    wanted = {"format", *_TEXTS, *_WHOLE, *_FLAGS, *_OTHERS}
    odd = sorted(wanted ^ {str(name)[:60] for name in given})
    if odd:
        raise ScenarioError(f"A find has a missing or unknown field: {', '.join(odd)[:300]}.")
    fields: dict[str, Any] = {}
    readers: tuple[tuple[tuple[str, ...], Callable[[Any], Any]], ...] = (
        (_TEXTS, _text),
        (_WHOLE, _whole),
        (_FLAGS, _flag),
        (("claim",), Claim.from_json),
        (("options",), _options),
        (("margin",), _number_in),
        (("witness",), _witness_in),
        (("components",), _components),
        (("prints",), _prints),
        (("parameters",), _numbers),
    )
    for names, read in readers:
        for name in names:
            try:
                fields[name] = read(given[name])
            except _MALFORMED as error:
                raise ScenarioError(f"A find's {name!r} is malformed: {error!s:.200}.") from None
    return Find(**fields)


def read_finds(path: str | Path) -> tuple[Find, ...]:
    """The finds in a file: one, or those of a result that `safegym falsify --out` wrote.

    Raises ScenarioError for anything that is not such a file, OSError if it cannot be read.
    """
    place = Path(path)
    with place.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ScenarioError(f"{place} has more than the {MAX_BYTES} bytes that are read.")
    try:
        document = read_document(content, "file of finds")
    except TraceError as error:
        raise ScenarioError(f"{place}: {error}") from None
    if document.get("format") == FORMAT:
        return (find_from_json(document),)
    found: list[Find] = []
    for result in _list(document.get("results", [document])):
        if not isinstance(result, Mapping) or result.get("format") != RESULT_FORMAT:
            raise ScenarioError(
                f"{place} holds no finds; write one with: safegym falsify NAME --policy P --out "
                f"{place.name}."
            )
        found.extend(find_from_json(each) for each in _list(result.get("finds")))
    return tuple(found)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _number_out(value: float | None) -> float | str | None:
    return str(value) if value in (inf, -inf) else value


def _witness_out(witness: Witness) -> dict[str, Any]:
    return {
        "time": witness.time,
        "step": witness.step,
        "subformula": witness.subformula,
        "values": _plain(witness.values),
        "margin": _number_out(witness.margin),
        "chain": list(witness.chain),
    }


def _witness_in(value: Any) -> Witness | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or set(value) != _WITNESS:
        raise ValueError("a witness has other fields")
    margin = _number_in(value["margin"])
    if margin is None:
        raise ValueError("a witness has a margin")
    return Witness(
        time=_finite(value["time"]),
        step=_plain_whole(value["step"]),
        subformula=_text(value["subformula"]),
        values={_text(name): _value(item) for name, item in _entries(value["values"])},
        margin=margin,
        chain=tuple(_text(each) for each in _list(value["chain"])),
    )


def _value(item: Any) -> float | tuple[float, ...]:
    return tuple(_finite(each) for each in _list(item)) if isinstance(item, list) else _finite(item)


def _components(value: Any) -> tuple[Component, ...]:
    found: list[Component] = []
    for each in _list(value):
        name, kind, unit, chosen, neutral, begin, end = _list(each)
        times = (None if at is None else _finite(at) for at in (begin, end))
        texts = (_text(name), _text(kind), _text(unit))
        found.append(Component(*texts, _finite(chosen), _finite(neutral), *times))
    return tuple(found)


def _options(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, part in _entries(value):
        if name == "parameters":
            found[name] = _numbers(part)
        elif name == "disturbances":
            found[name] = {_text(k): [_finite(v) for v in _list(vs)] for k, vs in _entries(part)}
        else:
            raise ValueError(f"reset is given parameters and disturbances, not {name!r:.60}")
    return found


def _numbers(value: Any) -> dict[str, float]:
    return {_text(name): _finite(number) for name, number in _entries(value)}


def _entries(value: Any) -> Iterable[tuple[Any, Any]]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{value!r:.60} is no JSON object")
    found: Mapping[Any, Any] = value
    if len(found) > LONGEST:
        raise ValueError(f"there are more than {LONGEST} entries")
    return found.items()


def _prints(value: Any) -> tuple[str, ...]:
    if len(_list(value)) > MOST:
        raise ValueError(f"there are more than {MOST}")
    return tuple(_text(each) for each in value)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > LONGEST:
        raise ScenarioError(f"A file of finds has {value!r:.60} where a list belongs.")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST:
        raise ValueError(f"{value!r:.60} is no text of at most {LONGEST} characters")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r:.60} is neither true nor false")
    return value


def _whole(value: Any) -> int:
    text = _text(value)
    if not (text.isascii() and text.isdecimal()) or len(text) > 40:
        raise ValueError(f"{text!r:.60} is no whole number >= 0")
    return int(text)


def _plain_whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r:.60} is no whole number >= 0")
    return value


def _finite(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"{value!r:.60} is no finite number")
    return float(value)


def _number_in(value: Any) -> float | None:
    if value is None:
        return None
    return float(value) if value in ("inf", "-inf") else _finite(value)
