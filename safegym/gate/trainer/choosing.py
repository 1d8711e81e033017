"""The settings of a run: a scenario's own or given ones, for an algorithm, with changes."""

from collections.abc import Mapping
from typing import Any

from safegym.errors import GateError
from safegym.gate.trainer.algorithms import ALWAYS_READ, OWN_FIELDS, algorithm
from safegym.gate.trainer.settings import TrainSettings


def chosen_settings(
    base: "TrainSettings | Mapping[str, Any]",
    algo: str | None = None,
    changes: Mapping[str, Any] | None = None,
) -> TrainSettings:
    """The settings `base`, for `algo`, with `changes`.

    base: settings, or plain data as a scenario declares them. algo: None for the algorithm of
    `base`; another one takes its own defaults, and of `base` only the fields that mean the same to
    every algorithm. changes: plain data as for `TrainSettings.of`; those of a nested field
    ({"penalty": {"weight": 4.0}}) leave the rest of it as it is in `base`.
    Raises GateError for an unknown algorithm, field or option, or a bad value.
    """
    data = _plain(base)
    before = algorithm(data.get("algo", "ppo"))
    changes = dict(changes or {})
    named = changes.pop("algo", None)
    if algo is not None and named not in (None, algo):
        raise GateError(f"algo is given as {algo!r} and as {named!r}; leave one of them out.")
    algo = named if algo is None else algo
    card = before if algo is None else algorithm(algo)
    if card is not before:
        data = {name: value for name, value in data.items() if not _own(name, before.takes)}
    data["algo"] = card.name
    for name, value in changes.items():
        data[name] = _merged(data.get(name), value)
    return TrainSettings.of(data)


def _merged(held: Any, value: Any) -> Any:
    """The value, with what `held` says of nested fields that it does not name."""
    if not (isinstance(held, Mapping) and isinstance(value, Mapping)):
        return value
    return {**held, **{name: _merged(held.get(name), each) for name, each in value.items()}}


def _plain(base: "TrainSettings | Mapping[str, Any]") -> dict[str, Any]:
    """As plain data, without fields that the algorithm does not read."""
    if not isinstance(base, TrainSettings):
        return dict(base)
    read = (*ALWAYS_READ, *algorithm(base.algo).fields)
    data = base.to_json()
    return {name: value for name, value in data.items() if name not in OWN_FIELDS or name in read}


def _own(name: str, taken: tuple[str, ...]) -> bool:
    """Whether the name means what its algorithm makes of it."""
    return name in OWN_FIELDS or name in taken
