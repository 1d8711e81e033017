"""Packages that only a mirror needs: imported where asked for, or refused with the line to type."""

from importlib import import_module
from typing import Any

from safegym.errors import GateError


def imported(module: str, *, option: str, extra: str) -> Any:
    """The module. Raises GateError with the install line if it or what it needs is missing."""
    try:
        return import_module(module)
    except ImportError as error:
        raise GateError(
            f"{option} needs a package that is not installed ({error}); "
            f"run: pip install 'safegym[{extra}]', or leave {option} out."
        ) from error
