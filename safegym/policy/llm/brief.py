"""What a language model is told of a control task: plain data, made from a scenario elsewhere."""

from dataclasses import dataclass
from typing import Any

from gymnasium import spaces

LONGEST_LINE = 400
"""Characters of one line that a prompt, a note or a tool output may hold."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One number of an observation or an action.

    low, high: in `unit`; None where there is no limit.
    """

    name: str
    unit: str = "1"
    low: float | None = None
    high: float | None = None
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Brief:
    """A control task in words and numbers.

    dt: seconds of one control step. horizon: steps of an episode. observation: one entry for each
    number of a flattened observation. action: one for each number of a flattened action. signals:
    the quantities that the claims speak of. claims: each in words, one line. about: what the
    task's own text says of it.
    """

    name: str
    summary: str
    dt: float
    horizon: int
    observation_space: spaces.Space[Any]
    action_space: spaces.Space[Any]
    observation: tuple[Entry, ...]
    action: tuple[Entry, ...]
    signals: tuple[Entry, ...] = ()
    claims: tuple[str, ...] = ()
    about: str = ""


def one_line(text: object, longest: int = LONGEST_LINE) -> str:
    """The text on one line, without control characters, at most `longest` characters.

    What is not printable ASCII is written as an escape, so that nothing in it can pass for another
    line of a prompt, or move a terminal's cursor.
    """
    flat = " ".join(str(text).split())
    plain = flat.encode("ascii", "backslashreplace").decode("ascii")
    safe = "".join(each if each.isprintable() else "?" for each in plain)
    return safe if len(safe) <= longest else safe[: longest - 3] + "..."
