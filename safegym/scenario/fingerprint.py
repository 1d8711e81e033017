"""The digest of a scenario: everything that decides how its episodes come out."""

import inspect
from collections.abc import Iterable
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safegym.digest import digest_bytes, digest_json
from safegym.errors import ScenarioError
from safegym.scenario.identity import identity_of
from safegym.scenario.imports import imported_files

if TYPE_CHECKING:
    from safegym.formula.terms import Signal
    from safegym.scenario.disturbance import Disturbance
    from safegym.scenario.spec import Parameter, ScenarioSpec


def scenario_digest(spec: "ScenarioSpec") -> str:
    """Digest over name, code, assets, declarations and versions; not over summary and pack.

    Raises ScenarioError if a source file or a distribution cannot be found.
    """
    disturbances = [_disturbance(disturbance) for disturbance in spec.disturbances]
    return digest_json(
        {
            "name": spec.name,
            "make_env": identity_of(spec.make_env, "make_env"),
            "read_signals": identity_of(spec.read_signals, "read_signals"),
            "sources": [
                [path.name, digest_bytes(path.read_bytes())] for path in source_files(spec)
            ],
            "parameters": [_parameter(parameter) for parameter in spec.parameters],
            "faults": [_parameter(parameter) for parameter in spec.faults],
            "signals": [_signal(signal) for signal in spec.signals],
            "claims": [claim.digest for claim in spec.claims],
            "horizon": spec.horizon,
            "dt": str(spec.clock.dt),
            "start": str(spec.clock.start),
            "terminals": dict(spec.terminals),
            "tail": spec.can_run_tail,
            "versions": versions_of((*spec.physics, "safegym")),
            **({"disturbances": disturbances} if disturbances else {}),
        }
    )


def versions_of(distributions: Iterable[str]) -> dict[str, str]:
    """Installed version by distribution name. Raises ScenarioError for one that is missing."""
    return {name: _version(name) for name in distributions}


@cache
def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError as error:
        raise ScenarioError(
            f"The scenario's physics needs {name!r}, which is not installed; "
            f"run `pip install {name}`."
        ) from error


def source_files(spec: "ScenarioSpec") -> list[Path]:
    """Code and assets that the digest covers, each once, by name and then path.

    The files of `make_env` and `read_signals`, what they import from their own package and from
    the signal readers, and `spec.sources`. What `spec.physics` names stands by its version.
    Raises ScenarioError if a file is missing.
    """
    found: set[Path] = set()
    for maker, what in ((spec.make_env, "make_env"), (spec.read_signals, "read_signals")):
        module, path = _source_of(maker, what)
        if module.partition(".")[0] not in spec.physics:
            found.update(imported_files(module, path))
    for path in spec.sources:
        if not Path(path).is_file():
            raise ScenarioError(f"Scenario {spec.name}: source {str(path)!r} is not a file.")
        found.add(Path(path).resolve())
    return sorted(found, key=_by_name)


def _by_name(path: Path) -> tuple[str, str]:
    return path.name, str(path)


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
