"""The digest of a scenario: everything that decides how its episodes come out."""

import inspect
import sys
from collections.abc import Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safegym.digest import digest_json
from safegym.errors import ScenarioError
from safegym.scenario.identity import code_in, identity_of
from safegym.scenario.imports import imported_files, is_reader
from safegym.scenario.requirements import installed
from safegym.scenario.sources import read

if TYPE_CHECKING:
    from safegym.formula.terms import Signal
    from safegym.scenario.disturbance import Disturbance
    from safegym.scenario.spec import Parameter, ScenarioSpec


def scenario_digest(spec: "ScenarioSpec") -> str:
    """Digest over name, code, assets, declarations and versions; not over summary and pack.

    Raises ScenarioError if a source file or a distribution cannot be found.
    """
    return digest_json(digested_parts(spec))


def digested_parts(spec: "ScenarioSpec") -> dict[str, Any]:
    """All that the digest is over, in JSON form. Raises ScenarioError as `scenario_digest` does."""
    return {
        **declared_parts(spec),
        "name": spec.name,
        "sources": [[path.name, read(path).digest] for path in source_files(spec)],
        "versions": versions_of((*spec.physics, "safegym")),
    }


def declared_parts(spec: "ScenarioSpec") -> dict[str, Any]:
    """What the spec declares, part by part in JSON form: no name, no file, no version."""
    disturbances = [_disturbance(disturbance) for disturbance in spec.disturbances]
    return {
        "make_env": identity_of(spec.make_env, "make_env"),
        "read_signals": identity_of(spec.read_signals, "read_signals"),
        "parameters": [_parameter(parameter) for parameter in spec.parameters],
        "faults": [_parameter(parameter) for parameter in spec.faults],
        "signals": [_signal(signal) for signal in spec.signals],
        "claims": [claim.digest for claim in spec.claims],
        "horizon": spec.horizon,
        "dt": str(spec.clock.dt),
        "start": str(spec.clock.start),
        "terminals": dict(spec.terminals),
        "tail": spec.can_run_tail,
        **({"disturbances": disturbances} if disturbances else {}),
        **({} if spec.reward is None else {"reward": spec.reward.declared()}),
    }


def versions_of(distributions: Iterable[str]) -> dict[str, str]:
    """Installed version by distribution name. Raises ScenarioError for one that is missing."""
    return {name: _version(name) for name in distributions}


@cache
def _version(name: str) -> str:
    return installed(name)


def source_files(spec: "ScenarioSpec") -> list[Path]:
    """Code and assets that the digest covers, each once, by name and then path.

    The files of `make_env` and `read_signals`, of every function and frozen value baked into them
    (arguments of a partial, default values, what a nested function closes over), what those import
    from their own package and from the signal readers, and `spec.sources`. What `spec.physics`
    names stands by its version, as safegym does.
    Raises ScenarioError if a file is missing.
    """
    found = {
        *files_behind(spec.make_env, "make_env", spec.physics),
        *files_behind(spec.read_signals, "read_signals", spec.physics),
    }
    for function in () if spec.reward is None else spec.reward.code():
        found |= files_behind(function, "reward", spec.physics)
    for path in spec.sources:
        if not Path(path).is_file():
            raise ScenarioError(f"Scenario {spec.name}: source {str(path)!r} is not a file.")
        found.add(Path(path).resolve())
    return sorted(found, key=_by_name)


def files_behind(maker: Any, what: str, versioned: Iterable[str]) -> set[Path]:
    """The files of a function, of what is baked into it, and of what those import.

    what: its name in a message. versioned: packages that stand by their version. Raises
    ScenarioError if a file cannot be found.
    """
    module, path = _source_of(maker, what)
    own = module.partition(".")[0] not in versioned
    found = imported_files(module, path) if own else set[Path]()
    for module, path in _baked_in(maker, what, versioned):
        found.update(imported_files(module, path))
    return found


def _by_name(path: Path) -> tuple[str, str]:
    return path.name, str(path)


def _baked_in(maker: Any, what: str, versioned: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """Module name and file of the code that a maker carries; not of what stands by its version."""
    known = {*versioned, *sys.stdlib_module_names}
    for module, code in {code.__module__: code for code in code_in(maker)}.items():
        root = module.partition(".")[0]
        if root not in known and (root != "safegym" or is_reader(module)):
            yield _source_of(code, what)


def _source_of(maker: Any, what: str) -> tuple[str, Path]:
    """Module name and file of a function, class, partial or callable object."""
    inner = inspect.unwrap(maker)
    while isinstance(inner, partial):
        inner = inner.func
    if not inspect.isroutine(inner) and not inspect.isclass(inner):
        inner = type(inner)
    try:
        path = inspect.getsourcefile(inner)
    except TypeError:
        path = None
    if path is None or not Path(path).is_file():
        raise ScenarioError(
            f"The source file of {what} ({maker!r}) cannot be found, so the scenario has no "
            "digest; define it in a file of its own and import it."
        )
    return str(inner.__module__), Path(path).resolve()


def _parameter(parameter: "Parameter") -> list[Any]:
    return [
        parameter.name,
        parameter.unit,
        repr(float(parameter.low)),
        repr(float(parameter.high)),
        None if parameter.default is None else repr(float(parameter.default)),
        *([] if parameter.role == "parameter" else [parameter.role]),
    ]


def _disturbance(disturbance: "Disturbance") -> list[Any]:
    numbers = (disturbance.low, disturbance.high, disturbance.neutral)
    return [
        disturbance.name,
        disturbance.unit,
        [repr(float(number)) for number in numbers],
        int(disturbance.pieces),
    ]


def _signal(signal: "Signal") -> list[Any]:
    numbers = (signal.scale, signal.max_rate, *(signal.bounds or ()))
    return [
        signal.name,
        signal.unit,
        list(signal.shape),
        signal.hold,
        [None if number is None else repr(float(number)) for number in numbers],
    ]
