"""Which entry of a policy's observation or action a signal of a formula reads."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from numbers import Integral
from typing import Any, Never, cast

from safegym.check.neural.policy import PolicyGraph
from safegym.errors import UnsupportedError
from safegym.formula.interning import Interned, postorder
from safegym.formula.terms import Component, Signal

Place = tuple[str, int]
"""("obs", i) or ("action", j)."""
OBSERVATION = "obs"
ACTION = "action"
_PLACE = re.compile(r"(obs|action)\[(\d{1,6})\]\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Layout:
    """Sizes of the observation and the action, and names given to their entries.

    choices: how many actions a discrete policy chooses from, else None; its action has one entry,
    the index chosen.
    """

    observations: int
    actions: int
    choices: int | None = None
    fields: Mapping[str, Place] = field(default_factory=dict[str, Place])

    def place(self, signal: Signal, index: int | None) -> Place:
        """Where a signal (a component of it) stands. Raises UnsupportedError for an unknown one."""
        if signal.name in self.fields and index is None:
            return self.fields[signal.name]
        if signal.name not in (OBSERVATION, ACTION):
            self._unknown(signal.name)
        size = self.observations if signal.name == OBSERVATION else self.actions
        if index is None and size != 1:
            raise UnsupportedError(
                f"The policy's {signal.name} has {size} entries; write {signal.name}[0] to "
                f"{signal.name}[{size - 1}], not `{signal.name}`."
            )
        if index is not None and index >= size:
            raise UnsupportedError(
                f"{signal.name}[{index}] does not exist: the policy's {signal.name} has "
                f"{_entries(signal.name, size)}."
            )
        if signal.length is not None and not signal.any_length and signal.length != size:
            raise UnsupportedError(
                f"Signal {signal.name} is declared with {signal.length} entries, the policy's has "
                f'{size}; declare Signal("{signal.name}", shape=({size},)).'
            )
        return signal.name, index or 0

    def observed(self, key: object) -> int:
        """The observation entry that a region's key names: "obs[2]", 2, or a field's name."""
        if not isinstance(key, bool) and isinstance(key, Integral):
            place = (OBSERVATION, int(key))
        elif isinstance(key, str) and key in self.fields:
            place = self.fields[key]
        elif isinstance(key, str) and (found := _PLACE.match(key.strip())):
            place = (found[1], int(found[2]))
        elif isinstance(key, str) and key.strip() == OBSERVATION and self.observations == 1:
            place = (OBSERVATION, 0)
        else:
            self._unknown(str(key))
        if place[0] != OBSERVATION or not 0 <= place[1] < self.observations:
            raise UnsupportedError(
                f"A region limits observations, {_entries(OBSERVATION, self.observations)}, and "
                f"{key!r:.60} is none of them."
            )
        return place[1]

    def name(self, place: Place) -> str:
        """What a reader calls an entry."""
        for name, known in self.fields.items():
            if known == place:
                return name
        return f"{place[0]}[{place[1]}]"

    def _unknown(self, name: str) -> Never:
        near = get_close_matches(name, self.fields, n=1, cutoff=0.6)
        meant = f" Did you mean {near[0]}?" if near else ""
        named = f", or a named field: {', '.join(self.fields)[:200]}" if self.fields else ""
        raise UnsupportedError(
            f"{name[:60]!r} is no entry of this policy's observation or action; write "
            f"{_entries(OBSERVATION, self.observations)}, {_entries(ACTION, self.actions)}{named}."
            f'{meant} Other names need a field each: fields={{"{_safe(name)}": "obs[0]"}}, on the '
            f"command line --field {_safe(name)}=obs[0]."
        )


def layout_of(policy: PolicyGraph, fields: Mapping[str, int | str] | None = None) -> Layout:
    """The layout of an imported policy.

    fields: name -> index of an observation entry, or "obs[2]", "action[0]". Raises UnsupportedError
    for a place that does not exist.
    """
    discrete = policy.kind == "discrete"
    plain = Layout(
        policy.graph.inputs,
        1 if discrete else policy.graph.outputs,
        policy.graph.outputs if discrete else None,
    )
    given: Any = fields or {}
    if not isinstance(given, Mapping):
        raise UnsupportedError(
            f'fields is a mapping, found {given!r:.60}; write fields={{"speed": "obs[1]"}}.'
        )
    listed = cast("Mapping[str, int | str]", given).items()
    named = {name: _field(plain, name, where) for name, where in listed}
    return Layout(plain.observations, plain.actions, plain.choices, named)


def places_of(root: Interned, layout: Layout) -> set[Place]:
    """Every place that a term or formula reads. Raises UnsupportedError for an unknown one."""
    parts = list(postorder(root))
    found = {layout.place(part.signal, part.index) for part in parts if isinstance(part, Component)}
    scalars = (part for part in parts if isinstance(part, Signal) and part.length is None)
    return found | {layout.place(part, None) for part in scalars}


def _field(layout: Layout, name: str, where: int | str) -> Place:
    match = _PLACE.match(where.strip()) if isinstance(where, str) else None
    place = (match[1], int(match[2])) if match else (OBSERVATION, where)
    index = place[1]
    size = layout.observations if place[0] == OBSERVATION else layout.actions
    whole = isinstance(index, int) and not isinstance(index, bool)
    if not whole or not isinstance(index, int) or not 0 <= index < size:
        raise UnsupportedError(
            f"Field {name!r:.60} is said to be {where!r:.60}; give an index of an observation, 0 "
            f'to {layout.observations - 1}, or text such as "obs[0]" or "action[0]".'
        )
    if name in (OBSERVATION, ACTION):
        raise UnsupportedError(f"A field cannot be called {name!r}: that is the whole vector.")
    return place[0], index


def _entries(name: str, size: int) -> str:
    return f"{name}[0]" if size == 1 else f"{name}[0] to {name}[{size - 1}]"


def _safe(name: str) -> str:
    return "".join(c for c in name if c.isalnum() or c == "_")[:40] or "name"
