"""Small files of rows for the tests of blends."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def row(number: int, agent: str = "math", **fields: Any) -> dict[str, Any]:
    """A row that can be played; its prompt is its number."""
    return {
        "id": number,
        "responses_create_params": {"input": [{"role": "user", "content": f"{agent} {number}"}]},
        "agent_ref": {"type": "responses_api_agents", "name": agent},
        **fields,
    }


def write(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """Write rows as JSON lines, spaced as Python does, not as safegym does."""
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    """Rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def ids(path: Path) -> list[int]:
    """The ids of a file's rows, in order."""
    return [each["id"] for each in read(path)]
