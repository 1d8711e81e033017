"""The file of a policy that is named by what it declares, where no weights can be kept."""

import json
from typing import Any, Final

from safegym.digest import digest_json
from safegym.errors import PolicyError, SafegymError

FILE: Final = "declared.json"
KINDS: Final = frozenset({"llm", "lookahead"})
"""Kinds of policies whose digest is that of a JSON document: what it fixes, and nothing else."""
LONGEST: Final = 4 * 1024 * 1024


def declared_digest(data: bytes) -> str:
    """The digest that a declared policy's file gives. Raises PolicyError if it is malformed."""
    if len(data) > LONGEST:
        raise PolicyError(f"The policy's {FILE} is longer than {LONGEST} bytes.")
    try:
        found: Any = json.loads(data)
        if isinstance(found, dict):
            return digest_json(found)
    except (ValueError, RecursionError, SafegymError) as error:
        raise PolicyError(f"The policy's {FILE} is malformed: {error}.") from error
    raise PolicyError(f"The policy's {FILE} holds no JSON object.")
