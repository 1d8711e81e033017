"""Hash-consing: equal nodes are one object, so equality and hashing are by identity of shape."""

from typing import Any, Self
from weakref import WeakValueDictionary

_pool: "WeakValueDictionary[tuple[Any, ...], Interned]" = WeakValueDictionary()


class Interned:
    """Base of immutable values with one instance per content.

    A subclass lists its fields in `__slots__` and builds itself with `_intern(*fields)` in its
    `__new__`. Fields must be hashable. Instances pickle and copy to the same object.
    """

    __slots__ = ("__weakref__",)

    @classmethod
    def _intern(cls, *fields: Any) -> Self:
        key = (cls, *((type(field), field) for field in fields))
        found = _pool.get(key)
        if found is None:
            found = object.__new__(cls)
            for name, value in zip(cls.__slots__, fields, strict=True):
                object.__setattr__(found, name, value)
            _pool[key] = found
        return found  # type: ignore[return-value]  # the key starts with cls

    @property
    def fields(self) -> tuple[Any, ...]:
        """The constructor's arguments, in order."""
        return tuple(getattr(self, name) for name in self.__slots__)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.fields

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be set.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be deleted.")
