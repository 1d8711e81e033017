"""Reading fields of a payload that its kind does not require: absent is allowed, malformed not."""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, cast

from safegym.audit.values import decode_number
from safegym.errors import AuditError

Payload = Mapping[str, Any]


def text(payload: Payload, name: str, default: str = "") -> str:
    """The text of a field. Raises AuditError if it is there and no text."""
    found = payload.get(name)
    if found is None:
        return default
    return found if isinstance(found, str) else _refuse(name, found, "text")


def number(payload: Payload, name: str) -> float | None:
    """The number of a field, "inf" and "-inf" decoded; None if absent. Raises AuditError."""
    found = payload.get(name)
    return None if found is None else decode_number(found)


def count(payload: Payload, name: str, default: int = 0) -> int:
    """The whole number of a field. Raises AuditError."""
    found: Any = payload.get(name)
    if found is None:
        return default
    whole = isinstance(found, int) and not isinstance(found, bool) and found >= 0
    return int(found) if whole else _refuse(name, found, "a whole number from 0")


def truth(payload: Payload, name: str) -> bool:
    """Whether a field is there and true. Raises AuditError."""
    found = payload.get(name, False)
    return found if isinstance(found, bool) else _refuse(name, found, "true or false")


def items(payload: Payload, name: str) -> list[Any]:
    """The list of a field. Raises AuditError."""
    found: Any = payload.get(name, [])
    if not isinstance(found, list):
        _refuse(name, found, "a list")
    return list(cast("Sequence[Any]", found))


def texts(payload: Payload, name: str) -> tuple[str, ...]:
    """The list of texts of a field. Raises AuditError."""
    found = items(payload, name)
    for item in found:
        if not isinstance(item, str):
            _refuse(name, item, "text")
    return tuple(found)


def table(payload: Payload, name: str) -> dict[str, Any]:
    """The object of a field. Raises AuditError."""
    found: Any = payload.get(name, {})
    if not isinstance(found, dict):
        _refuse(name, found, "an object")
    return dict(cast("Mapping[str, Any]", found))


def _refuse(name: str, found: object, wanted: str) -> NoReturn:
    raise AuditError(f"A record's field {name} is {found!r:.60}, not {wanted}.", step="report")
