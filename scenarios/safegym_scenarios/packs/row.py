"""One scenario of a pack as a row of its table: data alone."""

import json
from dataclasses import dataclass
from typing import Any, Literal

Better = Literal["low", "high"]


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A claim `always(signal <= limit)`, or >= where high values are the safe ones.

    good, bad: the worst that the good and the bad policy reached when the table was measured.
    """

    signal: str
    safe: Better
    limit: float
    good: float
    bad: float


@dataclass(frozen=True, kw_only=True)
class Row:
    """name: of the scenario. env_id: what the simulator calls it. dt: control step in s, as text.

    horizon: steps. signals: names, as the pack's adapter reads them.
    """

    name: str
    env_id: str
    dt: str
    horizon: int
    signals: tuple[str, ...]
    limits: tuple[Limit, ...]


def rows_of(text: str) -> tuple[Row, ...]:
    """The rows of a table in JSON."""
    return tuple(_row(each) for each in json.loads(text)["rows"])


def _row(document: dict[str, Any]) -> Row:
    limits = tuple(Limit(**each) for each in document["limits"])
    return Row(
        name=document["name"],
        env_id=document["env_id"],
        dt=document["dt"],
        horizon=document["horizon"],
        signals=tuple(document["signals"]),
        limits=limits,
    )


def text_of(rows: list[Row]) -> str:
    """The table in JSON, one row a line."""
    lines = []
    for row in sorted(rows, key=lambda each: each.name):
        limits = [{**each.__dict__} for each in row.limits]
        document = {**row.__dict__, "signals": list(row.signals), "limits": limits}
        lines.append(json.dumps(document, sort_keys=True))
    return '{"rows": [\n' + ",\n".join(lines) + "\n]}\n"
