"""Finding geoms, bodies, joints and actuators of a MuJoCo model by name."""

from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from safegym.errors import ScenarioError
from safegym.scenario.signals.engine import mj

Kind = str
_COUNTS = {"body": "nbody", "geom": "ngeom", "joint": "njnt", "actuator": "nu", "site": "nsite"}
_OBJECTS = {
    "body": mj.mjtObj.mjOBJ_BODY,
    "geom": mj.mjtObj.mjOBJ_GEOM,
    "joint": mj.mjtObj.mjOBJ_JOINT,
    "actuator": mj.mjtObj.mjOBJ_ACTUATOR,
    "site": mj.mjtObj.mjOBJ_SITE,
}


def names_of(model: Any, kind: Kind) -> list[str]:
    """Names by id; unnamed elements are ""."""
    count = int(getattr(model, _COUNTS[kind]))
    return [mj.mj_id2name(model, int(_OBJECTS[kind]), index) or "" for index in range(count)]


def ids_of(model: Any, kind: Kind, patterns: str | tuple[str, ...]) -> tuple[int, ...]:
    """Ids of the elements whose name matches one of the patterns (`*` and `?` as in a shell).

    Raises ScenarioError, naming the nearest names, if a pattern matches nothing.
    """
    names = names_of(model, kind)
    found: set[int] = set()
    for pattern in (patterns,) if isinstance(patterns, str) else patterns:
        matches = [index for index, name in enumerate(names) if name and fnmatchcase(name, pattern)]
        if not matches:
            raise ScenarioError(_no_match(kind, pattern, names))
        found.update(matches)
    return tuple(sorted(found))


def one_id(model: Any, kind: Kind, name: str) -> int:
    """Id of the element with exactly this name. Raises ScenarioError if there is none."""
    names = names_of(model, kind)
    if name not in names:
        raise ScenarioError(_no_match(kind, name, names))
    return names.index(name)


def body_id(model: Any, name: str) -> int:
    """Id of the body with this name. Raises ScenarioError if there is none."""
    return one_id(model, "body", name)


def geom_ids(model: Any, patterns: str | tuple[str, ...]) -> tuple[int, ...]:
    """Ids of geoms: `"wall_*"` matches geom names, `"body:arm"` all geoms of body `arm` and below.

    Raises ScenarioError if a pattern matches no geom.
    """
    found: set[int] = set()
    for pattern in (patterns,) if isinstance(patterns, str) else patterns:
        if pattern.startswith("body:"):
            found.update(_geoms_below(model, pattern.removeprefix("body:")))
        else:
            found.update(ids_of(model, "geom", pattern))
    return tuple(sorted(found))


def _geoms_below(model: Any, body: str) -> list[int]:
    below = set(ids_of(model, "body", body))
    for index in range(int(model.nbody)):  # a parent has a smaller id than its children
        if index > 0 and int(model.body_parentid[index]) in below:
            below.add(index)
    geoms = [index for index in range(int(model.ngeom)) if int(model.geom_bodyid[index]) in below]
    if not geoms:
        raise ScenarioError(f"Body {body!r} and the bodies below it carry no geom.")
    return geoms


def _no_match(kind: Kind, pattern: str, names: list[str]) -> str:
    named = [name for name in names if name]
    near = get_close_matches(pattern, named, n=3, cutoff=0.4) or named[:6]
    found = ", ".join(near) or f"no named {kind}"
    return f"No {kind} of the model is named {pattern!r}; it has {found}."
