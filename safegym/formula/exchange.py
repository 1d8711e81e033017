"""Signals to and from JSON values, so that a bundle alone can rebuild a claim."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from safegym.errors import FormulaError
from safegym.formula.checks import counts_from_zero
from safegym.formula.terms import DECLARED, Signal

SIGNAL_KEYS = DECLARED


def signal_to_json(signal: Signal) -> dict[str, Any]:
    """Returns the whole declaration as a JSON value."""
    plain = [list(f) if isinstance(f, tuple) else f for f in signal.fields[:-1]]
    counted = counts_from_zero(signal.coding)
    labels = list(signal.labels) if counted else dict(signal.coding)
    return dict(zip(SIGNAL_KEYS, cast("Sequence[Any]", (*plain, labels)), strict=True))


def signal_from_json(value: object) -> Signal:
    """Returns the signal that `signal_to_json` wrote. Raises FormulaError for anything else."""
    fields = fields_of(value, SIGNAL_KEYS, "A signal")
    try:
        return Signal(**{key: _plain(fields[key]) for key in SIGNAL_KEYS})
    except TypeError as error:
        raise FormulaError(f"A signal's JSON is malformed: {error}") from None


def fields_of(value: object, keys: Sequence[str], what: str) -> Mapping[str, Any]:
    """Returns the JSON object if it has exactly these keys. Raises FormulaError naming the rest."""
    if not isinstance(value, Mapping):
        raise FormulaError(f"{what} must be a JSON object, found {value!r:.60}.")
    found = cast("Mapping[str, Any]", value)
    missing = [key for key in keys if key not in found]
    unknown = [str(key)[:40] for key in found if key not in keys]
    if missing or unknown:
        raise FormulaError(
            f"{what} must have the keys {', '.join(keys)}; missing: "
            f"{', '.join(missing) or 'none'}; unknown: {', '.join(unknown) or 'none'}."
        )
    return found


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
