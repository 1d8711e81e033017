"""Finding scenarios by name, in the library and in installed packs, through one door."""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from safegym.errors import ScenarioError
from safegym.scenario.requirements import install_line
from safegym.scenario.spec import ScenarioSpec

GROUP = "safegym.scenarios"


@dataclass(frozen=True, slots=True, eq=False)
class Pack:
    """One entry point of the group `safegym.scenarios`.

    makers: scenario name -> what builds its spec. problem: why the pack could not be loaded, ""
    if it could. missing: what has to be installed before it offers the names in `absent`, ""
    if nothing. A mapping may say so in attributes `missing` and `absent`.
    """

    name: str
    origin: str
    makers: Mapping[str, Callable[[], ScenarioSpec]]
    problem: str = ""
    missing: str = ""
    absent: tuple[str, ...] = ()


def packs() -> tuple[Pack, ...]:
    """Every installed pack, broken ones with their `problem`; read once per process."""
    return _packs()


def names(pack: str | None = None, family: str = "") -> tuple[str, ...]:
    """Names of all scenarios that can be found, sorted; of one pack, or of one family, if given.

    family: what stands before a "/" of the name, such as "drone" for drone/corridor-v0.
    """
    found = {name for each in packs() for name in each.makers if pack in (None, each.name)}
    prefix = family.strip("/") + "/" if family else ""
    return tuple(sorted(name for name in found if name.startswith(prefix)))


def family_of(name: str) -> str:
    """What stands before the last "/" of a scenario's name, such as "drone"."""
    return name.rpartition("/")[0]


def pack_of(name: str) -> str:
    """The pack that offers a scenario of this name, the first of several; "core" if none does."""
    return next((each.name for each in packs() if name in each.makers), "core")


def families(pack: str | None = None) -> tuple[str, ...]:
    """The families that there are, sorted."""
    return tuple(sorted({family_of(name) for name in names(pack)}))


def folder_of(pack: str) -> Path:
    """The folder of the code that a pack comes from.

    Raises ScenarioError if it is not installed, or is not made of files.
    """
    refuse_unknown_pack(pack)
    found = next(each for each in packs() if each.name == pack)
    spec = find_spec(found.origin.partition(":")[0])
    if spec is None or spec.origin is None:
        raise ScenarioError(f"Pack {pack!r} ({found.origin}) is not made of files.")
    return Path(spec.origin).parent


def refuse_unknown_pack(pack: str) -> None:
    """Raises ScenarioError, naming what is installed, unless a pack of this name is."""
    known = [each.name for each in packs()]
    if pack not in known:
        raise ScenarioError(f"There is no pack {pack!r}; installed are {', '.join(known)}.")


def refuse_unknown(name: str) -> None:
    """Raises ScenarioError, naming the nearest, unless some pack offers a scenario of this name."""
    if not any(name in pack.makers for pack in packs()):
        raise ScenarioError(_unknown(name))


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


def survey(
    pack: str | None = None, family: str = ""
) -> tuple[tuple[ScenarioSpec, ...], tuple[str, ...]]:
    """Scenarios that can be built, by name, and in words the packs and scenarios that cannot.

    pack, family: as of `names`.
    """
    specs: list[ScenarioSpec] = []
    broken = [each for each in packs() if each.problem and pack in (None, each.name)]
    problems = [f"Pack {each.name!r} ({each.origin}): {each.problem}" for each in broken]
    for name in names(pack, family):
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
        problem = _said(error)
        return Pack(point.name, point.value, MappingProxyType({}), problem)
    missing, absent = str(getattr(makers, "missing", "")), tuple(getattr(makers, "absent", ()))
    return Pack(point.name, point.value, MappingProxyType(dict(makers)), "", missing, absent)


@cache
def _built(pack: Pack, name: str) -> ScenarioSpec:
    try:
        spec: Any = pack.makers[name]()
    except Exception as error:
        raise ScenarioError(
            f"Pack {pack.name!r} ({pack.origin}) cannot build scenario {name!r}: {_said(error)}"
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
    return _of_pack(spec, pack.name)


def _of_pack(spec: ScenarioSpec, pack: str) -> ScenarioSpec:
    """The spec with its pack named, which is not in its digest: that is not computed again."""
    if spec.pack == pack:
        return spec
    named = copy(spec)
    object.__setattr__(named, "pack", pack)
    return named


def _said(error: Exception) -> str:
    """The error in words, with the line that installs a module that is missing."""
    said = f"{type(error).__name__}: {error}"
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"{said}; run `{install_line(error.name)}`"
    return said


def _unknown(name: str) -> str:
    for pack in packs():
        if name in pack.absent:
            return f"Scenario {name!r} is in the extra pack {pack.name!r}, which {pack.missing}."
    known = names()
    near = get_close_matches(name, known, n=3, cutoff=0.3) or known
    message = f"There is no scenario {name!r}"
    message += f"; did you mean {', '.join(near)}?" if near else "; no pack offers any."
    for pack in packs():
        if pack.problem:
            message += f" Pack {pack.name!r} ({pack.origin}) did not load: {pack.problem}."
    return message
