"""What a scenario needs installed: which version is there, or the line that installs it."""

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version

from safegym.errors import ScenarioError

_REFUSED = {
    "mujoco": (
        r"4\.0\.0",
        "its constraint solver is wrong (sparse Cholesky, upstream issue #3767, fixed in 4.0.1)",
        "pip install 'mujoco>=3.8,!=4.0.0'",
    )
}
"""Distribution -> versions that are refused, why, and the line that brings another."""
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")


def installed(name: str) -> str:
    """The installed version of a distribution.

    Raises ScenarioError, with the line that works, if it is missing or of a version that is known
    to compute wrongly.
    """
    try:
        found = version(name)
    except PackageNotFoundError as error:
        raise ScenarioError(
            f"The scenario's physics needs {name!r}, which is not installed; "
            f"run `{install_line(name)}`."
        ) from error
    pattern, why, line = _REFUSED.get(name, ("", "", ""))
    if pattern and re.fullmatch(pattern, found):
        raise ScenarioError(f"{name} {found} cannot be used: {why}. Run `{line}`.")
    return found


def install_line(module: str) -> str:
    """The line that installs a module or distribution: an extra of safegym that brings it, or it.

    module: such as "highway_env", or "highway-env".
    """
    wanted = _normal(module.partition(".")[0])
    extra = next((extra for name, extra in _extras() if name == wanted), "")
    return f"pip install 'safegym[{extra}]'" if extra else f"pip install {wanted}"


@cache
def _extras() -> tuple[tuple[str, str], ...]:
    """(distribution, extra) for what the extras of safegym bring; not what tests need."""
    try:
        lines = requires("safegym") or []
    except PackageNotFoundError:
        return ()
    found = [(_NAME.match(line), _EXTRA.search(line)) for line in lines]
    return tuple(
        (_normal(name[0]), extra[1])
        for name, extra in found
        if name and extra and extra[1] != "test"
    )


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
