"""Hash-consing: equal nodes are one object, so equality and hashing are by identity of shape."""

import os
import threading
from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary

_pool: "WeakValueDictionary[tuple[Any, ...], Interned]" = WeakValueDictionary()
_lock = threading.RLock()


def _renew_lock() -> None:
    """A forked child must not inherit a lock that another thread of its parent held."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


class Interned:
    """Base of immutable values with one instance per content.

    A subclass lists its fields in `__slots__` and builds itself with `_intern(*fields)` in its
    `__new__`. Fields must be hashable and already in their one normal form (a float is a float,
    never -0.0). `derived` values are stored beside the fields and take no part in identity.
    Instances pickle and copy to the same object; pickling is flat, whatever the depth.
    """

    __slots__ = ("__weakref__",)
    _own: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        slots = cls.__dict__.get("__slots__", ())
        cls._own = (slots,) if isinstance(slots, str) else tuple(slots)

    @classmethod
    def _intern(cls, *fields: Any, **derived: Any) -> Self:
        key = (cls, *((type(field), field) for field in fields))
        found = _pool.get(key)
        if found is None:
            with _lock:
                found = _pool.get(key)
                if found is None:
                    found = object.__new__(cls)
                    for name, value in zip(cls._own, fields, strict=True):
                        object.__setattr__(found, name, value)
                    for name, value in derived.items():
                        object.__setattr__(found, name, value)
                    _pool[key] = found
        return found  # type: ignore[return-value]  # the key starts with cls

    @property
    def fields(self) -> tuple[Any, ...]:
        """The constructor's arguments, in order."""
        return tuple(getattr(self, name) for name in self._own)

    @property
    def parts(self) -> "tuple[Interned, ...]":
        """The interned values among the fields, in order; those inside tuples included."""
        found: list[Interned] = []
        for field in self.fields:
            if isinstance(field, Interned):
                found.append(field)
            elif isinstance(field, tuple):
                found.extend(item for item in field if isinstance(item, Interned))
        return tuple(found)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (_flatten(self),)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be set.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be deleted.")


def postorder(root: Interned) -> tuple[Interned, ...]:
    """Returns the distinct interned values below and including `root`, parts first."""
    order: list[Interned] = []
    done: set[Interned] = set()
    stack: list[tuple[Interned, bool]] = [(root, False)]
    while stack:
        node, parts_done = stack.pop()
        if node in done:
            continue
        if parts_done:
            done.add(node)
            order.append(node)
            continue
        stack.append((node, True))
        stack.extend((part, False) for part in reversed(node.parts) if part not in done)
    return tuple(order)


Recipe = tuple[type[Interned], tuple[tuple[str, Any], ...]]


def _flatten(root: Interned) -> tuple[Recipe, ...]:
    """Returns one recipe per distinct value, parts first; parts are named by position."""
    order = postorder(root)
    place = {node: index for index, node in enumerate(order)}
    return tuple((type(node), tuple(_encode(f, place) for f in node.fields)) for node in order)


def _encode(field: Any, place: dict[Interned, int]) -> tuple[str, Any]:
    if isinstance(field, Interned):
        return "one", place[field]
    if isinstance(field, tuple) and any(isinstance(item, Interned) for item in field):
        return "many", tuple(place[item] for item in field)
    return "value", field


def _rebuild(recipes: tuple[Recipe, ...]) -> Interned:
    built: list[Interned] = []
    for kind, fields in recipes:
        built.append(kind(*(_decode(tag, value, built) for tag, value in fields)))
    return built[-1]


def _decode(tag: str, value: Any, built: list[Interned]) -> Any:
    if tag == "one":
        return built[value]
    return tuple(built[index] for index in value) if tag == "many" else value
