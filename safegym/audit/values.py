"""What a record may hold: one JSON value, one spelling.

`encode` turns Python values into that form on the way in; `parse` accepts nothing else on the way
out. The spelling is RFC 8785; on top of it, text is in Unicode normal form C, and a number is
finite (infinities are the strings "inf" and "-inf", NaN has no form).
"""

import dataclasses
import json
import math
import unicodedata
from collections.abc import Mapping, Sequence
from numbers import Integral, Rational, Real
from typing import Any

from safegym.digest import canonical_json
from safegym.errors import AuditError, SafegymError

Json = Any
"""None, bool, int, float, str, list or dict of these."""

SAFE_INTEGER = 2**53 - 1
"""Largest magnitude that a JSON integer keeps exactly (RFC 8785, appendix D)."""

DEPTH = 32
"""Deepest nesting of lists and objects in a record."""


def encode(value: object) -> Json:
    """Return `value` as a fresh JSON value: plain containers, finite numbers, NFC text.

    Infinite floats become "inf" or "-inf". Dataclass instances become objects of their fields,
    numpy scalars and arrays numbers and lists. Raises AuditError (step "payload") for NaN,
    integers beyond 2^53 - 1, keys that are not text, and anything without a JSON meaning.
    """
    return _encode(value, 0)


def _encode(value: object, depth: int) -> Json:
    if depth > DEPTH:
        raise _refusal(f"it is nested deeper than {DEPTH} levels; put the detail into an artifact")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return unicodedata.normalize("NFC", str(value))
    if isinstance(value, Integral | Real):
        return _number(value)
    if isinstance(value, Mapping):
        return _object(value, depth)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return [_encode(item, depth + 1) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return _object(fields, depth)
    plain = getattr(value, "tolist", None)
    if callable(plain):
        return _encode(plain(), depth)
    raise _refusal(
        f"{type(value).__name__} has no JSON form; pass text, a number, a list or a dict"
    )


def _number(value: "Integral | Real") -> int | float | str:
    if isinstance(value, Integral):
        whole = int(value)
        if abs(whole) > SAFE_INTEGER:
            raise _refusal(f"the integer {whole} exceeds 2^53 - 1; write it as text: str({whole})")
        return whole
    if isinstance(value, Rational):
        raise _refusal(f"the fraction {value} has no exact JSON number; write str(value)")
    number = float(value)
    if math.isnan(number):
        raise _refusal("NaN has no JSON form; say what is missing in words, or use None")
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    return number


def _object(value: Mapping[Any, Any], depth: int) -> dict[str, Json]:
    fresh: dict[str, Json] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise _refusal(f"the key {key!r} is not text; write {str(key)!r}")
        name = unicodedata.normalize("NFC", str(key))
        if name in fresh:
            raise _refusal(f"the key {name!r} occurs twice once its Unicode form is normal")
        fresh[name] = _encode(item, depth + 1)
    return fresh


def decode_number(value: Json) -> float:
    """Return the float that `encode` wrote: a number, or "inf" or "-inf". Raises AuditError."""
    if value == "inf" or value == "-inf":
        return float(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise AuditError(f"Asked for a number, found {value!r}.", step="format")


def canonical(value: Json, *, step: str = "payload") -> bytes:
    """RFC 8785 bytes of an encoded value. Raises AuditError."""
    try:
        return canonical_json(value)
    except SafegymError as error:
        raise AuditError(str(error), step=step) from error


def parse(data: bytes, *, what: str) -> Json:
    """Read JSON that is already in its one spelling. Raises AuditError (step "format").

    Refuses duplicate keys, NaN, infinities, -0, numbers beyond float64, text that is not NFC,
    deep nesting, and every other spelling than RFC 8785's. `what` names the text in the message.
    """
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_int=_integer,
            parse_constant=_no_constant,
        )
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise AuditError(f"{what} is not JSON as a log holds it: {error}", step="format") from error
    _inspect(value, 0, what)
    if spelled(value) != data:
        raise AuditError(
            f"{what} is not in canonical form (RFC 8785): the same value has other bytes.",
            step="format",
        )
    return value


def spelled(value: Json) -> bytes:
    """RFC 8785 bytes of a value that came out of `parse`. Raises AuditError (step "format").

    For ASCII text and numbers without an exponent the standard library's encoder writes the same
    bytes several times faster (by code point is then the order of keys); else RFC 8785's says.
    """
    if _numbers_are_plain(value):
        text = _ENCODER.encode(value)
        if text.isascii():
            return text.encode("ascii")
    return canonical(value, step="format")


def _numbers_are_plain(value: Json) -> bool:
    """Whether both encoders spell each number in it alike: no exponent, no integral float."""
    if isinstance(value, float):
        return SMALLEST_PLAIN <= abs(value) < LARGEST_PLAIN and not value.is_integer()
    if isinstance(value, dict):
        return all(map(_numbers_are_plain, value.values()))
    return not isinstance(value, list) or all(map(_numbers_are_plain, value))


_ENCODER = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)
SMALLEST_PLAIN, LARGEST_PLAIN = 1e-4, 1e15
"""Between them neither encoder writes an exponent."""


def _inspect(value: Json, depth: int, what: str) -> None:
    """Refuse deep nesting, numbers that are not finite, and text outside normal form C."""
    if depth > DEPTH:
        raise AuditError(f"{what} is nested deeper than {DEPTH} levels.", step="format")
    if isinstance(value, str):
        if not unicodedata.is_normalized("NFC", value):
            raise AuditError(f"{what} holds text outside Unicode normal form C.", step="format")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise AuditError(f"{what} holds a number beyond float64.", step="format")
    elif isinstance(value, list):
        for item in value:
            _inspect(item, depth + 1, what)
    elif isinstance(value, dict):
        for key, item in value.items():
            _inspect(key, depth, what)
            _inspect(item, depth + 1, what)


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    fresh = dict(pairs)
    if len(fresh) != len(pairs):
        names = [key for key, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} occurs twice")
    return fresh


def _integer(text: str) -> int | float:
    """An exact integer, or the float that RFC 8785 spells with these digits."""
    if len(text) <= 17 and abs(int(text)) <= SAFE_INTEGER:
        return int(text)
    return float(text)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _refusal(reason: str) -> AuditError:
    return AuditError(f"This payload cannot be recorded: {reason}.", step="payload")
