"""Scripts of those that move by themselves are code that a scenario's digest must cover."""

from collections.abc import Callable
from dataclasses import replace
from inspect import getsourcefile
from pathlib import Path
from typing import Any

from safegym.scenario.spec import ScenarioSpec


def covering(spec: ScenarioSpec, *scripts: Callable[..., Any] | None) -> ScenarioSpec:
    """The same spec with the files that define these functions in its digest."""
    files = {getsourcefile(script) for script in scripts if script is not None}
    return replace(spec, sources=tuple(sorted(Path(file) for file in files if file)))
