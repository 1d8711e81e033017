"""What a run keeps of where it ran: the scenario's sources, and the versions of all packages.

Both are files that the log names, so a bundle has them and whoever verifies it needs no other.
"""

import json
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from safegym.audit import layout
from safegym.audit.log import AuditLog
from safegym.audit.paths import path_fault
from safegym.digest import canonical_json, digest_bytes, digest_json
from safegym.errors import ScenarioError
from safegym.scenario.fingerprint import digested_parts, source_files
from safegym.scenario.spec import ScenarioSpec

DECLARED = f"{layout.SCENARIO}/declared.json"
LARGEST_DOCUMENT = 64 << 20
"""Bytes of declared.json that are read back."""


def kept_files(log: AuditLog, spec: ScenarioSpec) -> dict[str, Any]:
    """Write environment and scenario sources beside the log; returns what scenario_registered says.

    The sources are left out where they no longer give the scenario's digest: a file was edited
    since the scenario was made, and another program would be handed over as the one that ran.
    """
    (log.folder / layout.ENVIRONMENT).write_bytes(canonical_json(dict(environment())) + b"\n")
    told: dict[str, Any] = {"environment": log.artifact(layout.ENVIRONMENT)}
    try:
        parts, paths = digested_parts(spec), source_files(spec)
        bodies = [path.read_bytes() for path in paths]
    except (ScenarioError, OSError):
        return told
    named = [[path.name, digest_bytes(body)] for path, body in zip(paths, bodies, strict=True)]
    odd = any(path_fault(path.name) is not None for path in paths)
    if odd or digest_json(parts) != spec.digest or named != parts["sources"]:
        return told
    folder = log.folder / layout.SCENARIO
    folder.mkdir(exist_ok=True)
    (log.folder / DECLARED).write_bytes(canonical_json(parts))
    files = list[dict[str, Any]]()
    for number, (path, body) in enumerate(zip(paths, bodies, strict=True)):
        kept = folder / f"{number:03d}-{path.name}"
        kept.write_bytes(body)
        files.append(log.artifact(kept.absolute()))
    return {**told, "source": {"declared": log.artifact(DECLARED), "files": files}}


@cache
def environment() -> Mapping[str, Any]:
    """Python, system and installed packages by version: what an environment lock names."""
    packages = {
        str(each.metadata["Name"]): str(each.version)
        for each in distributions()
        if each.metadata["Name"]
    }
    return {
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "system": f"{platform.system()} {platform.machine()}",
        "packages": dict(sorted(packages.items(), key=lambda item: item[0].lower())),
    }


def unlike_scenario(folder: Path, payload: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Where the kept sources do not give the scenario's digest: (in words, whether one is missing).

    payload: of scenario_registered. Earlier runs kept none, and nothing is said of them.
    """
    kept = payload.get("source")
    if kept is None:
        return
    names: Sequence[str] = [entry["artifact"] for entry in (kept["declared"], *kept["files"])]
    if not all((folder / name).is_file() for name in names):
        yield "the scenario's sources are missing", True
        return
    place = folder / names[0]
    if place.stat().st_size > LARGEST_DOCUMENT:
        raise ValueError(f"{names[0]} is larger than {LARGEST_DOCUMENT} bytes")
    parts = json.loads(place.read_bytes())
    if digest_json(parts) != payload["digest"]:
        yield f"{names[0]} gives {digest_json(parts)}, logged {payload['digest']}", False
    if parts["name"] != payload["name"]:
        yield f"the scenario's sources are of {parts['name']}, logged {payload['name']}", False
    found = [[_plain(entry["artifact"]), entry["digest"]] for entry in kept["files"]]
    if found != [list(pair) for pair in parts["sources"]]:
        yield "the scenario's files are not those that its digest covers", False


def _plain(artifact: str) -> str:
    """The source file's own name: "scenario/003-env.py" was env.py."""
    return artifact.rpartition("/")[2].partition("-")[2]
