"""An LLM policy from a TOML file: endpoint, sampling, control, limits, record, names of numbers."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, TypeVar

from safegym.errors import PolicyError
from safegym.policy.llm.brief import Brief, Entry
from safegym.policy.llm.policy import LLMPolicy
from safegym.policy.llm.settings import Control, Endpoint, Limits, Sampling, whole

LONGEST: Final = 1024 * 1024
SECTIONS: Final = ("endpoint", "sampling", "control", "limits", "record", "prompt", "shield")
EXAMPLE: Final = '[endpoint]\nurl = "http://127.0.0.1:8000/v1"\nmodel = "..."'
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shielding:
    """The `[shield]` section: a look-ahead in the simulator; see `safegym.check.lookahead`.

    steps: samples that are looked at. backup: name of the scenario's ready policy that acts where
    an action does not pass.
    """

    steps: int = 1
    backup: str = "good"

    def __post_init__(self) -> None:
        whole("steps", self.steps, 1, 10_000)


@dataclass(frozen=True, slots=True)
class LLMFile:
    """What the file says, checked. observation, action, about: for `brief_of`."""

    endpoint: Endpoint
    sampling: Sampling
    control: Control
    limits: Limits
    record: Path | None
    replay: bool
    observation: tuple[Entry, ...]
    action: tuple[Entry, ...]
    about: str
    shield: Shielding | None

    def policy(self, brief: Brief) -> LLMPolicy:
        """The policy on this task, without its shield."""
        return LLMPolicy(
            self.endpoint,
            brief,
            sampling=self.sampling,
            control=self.control,
            limits=self.limits,
            record=self.record,
            replay=self.replay,
        )


def read_llm_file(path: str | Path) -> LLMFile:
    """Reads the file. A record's path is taken from the file's own folder.

    Raises PolicyError for what is not there, malformed, or not known, with the section and key.
    """
    place = Path(path)
    data = _toml(place)
    _known(place, "", data, SECTIONS)
    endpoint = _section(place, data, "endpoint", Endpoint)
    record = _table(place, data, "record")
    _known(place, "record", record, ("file", "replay"))
    kept = record.get("file")
    replay = record.get("replay", False)
    if not isinstance(kept, str | None) or not isinstance(replay, bool):
        raise PolicyError(
            f'{place}, [record]: write file = "talk.jsonl" and replay = true or false.'
        )
    prompt = _table(place, data, "prompt")
    _known(place, "prompt", prompt, ("observation", "action", "about"))
    about = prompt.get("about", "")
    if not isinstance(about, str):
        raise PolicyError(f"{place}, [prompt] about: write a text.")
    return LLMFile(
        endpoint=endpoint,
        sampling=_section(place, data, "sampling", Sampling),
        control=_section(place, data, "control", Control),
        limits=_section(place, data, "limits", Limits),
        record=None if kept is None else place.parent / kept,
        replay=replay,
        observation=_entries(place, "observation", prompt.get("observation", [])),
        action=_entries(place, "action", prompt.get("action", [])),
        about=about,
        shield=_section(place, data, "shield", Shielding) if "shield" in data else None,
    )


def _toml(place: Path) -> dict[str, Any]:
    try:
        if place.stat().st_size > LONGEST:
            raise PolicyError(f"{place} is longer than {LONGEST} bytes; it is no policy file.")
        return tomllib.loads(place.read_bytes().decode("utf-8"))
    except OSError as error:
        raise PolicyError(f"{place}: {error.strerror}; write one like:\n{EXAMPLE}") from None
    except (ValueError, RecursionError) as error:
        raise PolicyError(f"{place} is no TOML: {error}; write one like:\n{EXAMPLE}") from None


def _section(place: Path, data: Mapping[str, Any], name: str, make: Callable[..., T]) -> T:
    table = _table(place, data, name)
    known = tuple(field.name for field in fields(make))  # type: ignore[arg-type]  # dataclasses
    _known(place, name, table, known)
    try:
        return make(**table)
    except TypeError:
        raise PolicyError(f"{place}, [{name}] lacks a key; write:\n{EXAMPLE}") from None
    except PolicyError as error:
        raise PolicyError(f"{place}, [{name}]: {error}") from None


def _table(place: Path, data: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = data.get(name, {})
    if not isinstance(found, dict):
        raise PolicyError(f"{place}: {name} must be a section; write [{name}].")
    return found


def _known(place: Path, section: str, found: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in found:
        if key not in known:
            where = f", [{section}]" if section else ""
            raise PolicyError(f"{place}{where}: there is no {key!r}; there is {', '.join(known)}.")


def _entries(place: Path, name: str, rows: Any) -> tuple[Entry, ...]:
    known = tuple(field.name for field in fields(Entry))
    found: list[Entry] = []
    listed: list[Any] = rows if isinstance(rows, list) else [None]
    for at, row in enumerate(listed):
        if not isinstance(row, dict) or not isinstance(row.get("name"), str):
            raise PolicyError(
                f"{place}, [prompt] {name}: entry {at} needs a name; write "
                f'{name} = [{{name = "pole_angle", unit = "rad", meaning = "0 is upright"}}].'
            )
        _known(place, f"prompt] {name}[{at}", row, known)
        for key in ("low", "high"):
            if key in row:
                if isinstance(row[key], bool) or not isinstance(row[key], int | float):
                    raise PolicyError(f"{place}, [prompt] {name}[{at}] {key}: write a number.")
                row[key] = float(row[key])
        for key in ("unit", "meaning"):
            if not isinstance(row.get(key, ""), str):
                raise PolicyError(f"{place}, [prompt] {name}[{at}] {key}: write a text.")
        found.append(Entry(**row))
    return tuple(found)
