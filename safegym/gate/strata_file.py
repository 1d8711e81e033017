"""Strata from a JSON file: plain data, read within bounds and checked."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from safegym.errors import GateError
from safegym.gate.strata import Strata

MOST_BYTES: Final = 1 << 20
EXAMPLE: Final = (
    '{"mode": "random", "strata": [{"name": "calm", "weight": "7/10", '
    '"parameters": {"gust_peak": [0, 0.2]}}, {"name": "windy", "weight": "3/10", '
    '"parameters": {"gust_peak": [0.2, 0.4]}}]}'
)


def read_strata(path: Path) -> Strata:
    """The strata of a file. Raises GateError with the text that would work."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise GateError(f"{path} is larger than {MOST_BYTES} bytes, which no strata need.")
        found: Any = json.loads(data)
    except OSError as error:
        raise GateError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise GateError(f"{path} is not JSON ({error}); write for example {EXAMPLE}") from error
    if not isinstance(found, dict) or set(found) - {"mode", "strata"} or "strata" not in found:
        raise GateError(f"{path} does not hold strata; write for example {EXAMPLE}")
    given = cast("Mapping[str, Any]", found)
    return Strata.from_json({"mode": "random", **given})
