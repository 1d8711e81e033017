"""Finding scenarios by name, in the library and in installed packs, through one door."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any

from safegym.errors import ScenarioError
from safegym.scenario.spec import ScenarioSpec

GROUP = "safegym.scenarios"


@dataclass(frozen=True, slots=True, eq=False)
class Pack:
    """One entry point of the group `safegym.scenarios`.

    makers: scenario name -> what builds its spec. problem: why the pack could not be loaded, ""
    if it could.
    """

    name: str
    origin: str
    makers: Mapping[str, Callable[[], ScenarioSpec]]
    problem: str = ""


def packs() -> tuple[Pack, ...]:
    """Every installed pack, broken ones with their `problem`; read once per process."""
    return _packs()


def names() -> tuple[str, ...]:
    """Names of all scenarios that can be found, sorted."""
    return tuple(sorted({name for pack in packs() for name in pack.makers}))


def find(name: str) -> ScenarioSpec:
    """The scenario of this name.

    Raises ScenarioError if there is none (naming the nearest, and packs that would not load), if
    two packs offer it, or if its pack cannot build it.
    """
    offering = [pack for pack in packs() if name in pack.makers]
    if len(offering) > 1:
        both = " and ".join(f"{pack.name} ({pack.origin})" for pack in offering)
        raise ScenarioError(f"Scenario {name!r} is offered by packs {both}; uninstall one.")
    if not offering:
        raise ScenarioError(_unknown(name))
    return _built(offering[0], name)


def survey() -> tuple[tuple[ScenarioSpec, ...], tuple[str, ...]]:
    """Scenarios that can be built, by name, and in words the packs and scenarios that cannot."""
    specs: list[ScenarioSpec] = []
    problems = [f"Pack {p.name!r} ({p.origin}): {p.problem}" for p in packs() if p.problem]
    for name in names():
        try:
            specs.append(find(name))
        except ScenarioError as error:
            problems.append(str(error))
    return tuple(specs), tuple(problems)


@cache
def _packs() -> tuple[Pack, ...]:
    return tuple(_load(point) for point in sorted(entry_points(group=GROUP), key=_order))


def _order(point: EntryPoint) -> tuple[str, str]:
    return point.name, point.value


def _load(point: EntryPoint) -> Pack:
    """A pack that fails to import, for whatever reason, must not take the others with it."""
    try:
        makers: Any = point.load()
        if not isinstance(makers, Mapping):
            kind = type(makers).__name__
            raise ScenarioError(f"is a {kind}; it must map scenario names to functions")
        for name, maker in makers.items():
            if not isinstance(name, str) or not callable(maker):
                raise ScenarioError(f"has an entry {name!r} that is not a name with a function")
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
        return Pack(point.name, point.value, MappingProxyType({}), problem)
    return Pack(point.name, point.value, MappingProxyType(dict(makers)))


@cache
def _built(pack: Pack, name: str) -> ScenarioSpec:
    try:
        spec: Any = pack.makers[name]()
    except Exception as error:
        raise ScenarioError(
            f"Pack {pack.name!r} ({pack.origin}) cannot build scenario {name!r}: "
            f"{type(error).__name__}: {error}"
        ) from error
    if not isinstance(spec, ScenarioSpec):
        kind = type(spec).__name__
        raise ScenarioError(
            f"Pack {pack.name!r} ({pack.origin}) gives a {kind} for {name!r}, not a ScenarioSpec."
        )
    if spec.name != name:
        raise ScenarioError(
            f"Pack {pack.name!r} ({pack.origin}) offers {name!r}, but its spec is named "
            f"{spec.name!r}; give both the same name."
        )
    return replace(spec, pack=pack.name)


def _unknown(name: str) -> str:
    known = names()
    near = get_close_matches(name, known, n=3, cutoff=0.3) or known
    message = f"There is no scenario {name!r}"
    message += f"; did you mean {', '.join(near)}?" if near else "; no pack offers any."
    for pack in packs():
        if pack.problem:
            message += f" Pack {pack.name!r} ({pack.origin}) did not load: {pack.problem}."
    return message
