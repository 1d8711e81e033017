"""One pass over the objects that a running episode is made of.

State is taken and put back in place: the same objects stay, with their old contents. So closures,
bound methods and views that point at them stay right, which copies of the objects would not.
"""

from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from types import (
    CodeType,
    GetSetDescriptorType,
    MemberDescriptorType,
)
from typing import Any, Final

Put = Callable[[Any, Any], None]


Visit = Callable[["Walk", Any], None]


PLAIN: Final = frozenset(
    (
        *(int, float, complex, bool, str, bytes, type(None), type(...), type(NotImplemented)),
        *(range, slice, Fraction, Decimal, CodeType, GetSetDescriptorType, MemberDescriptorType),
    )
)


class OpaqueError(Exception):
    """An object whose state cannot be taken: what it is, and where it hangs."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = ""

    def under(self, name: str) -> None:
        """Note that it was found below this attribute or item."""
        self.path = f".{name}{self.path}"


class Views:
    """What is remembered of one environment between walks: views of its MuJoCo arrays."""

    @cached_property
    def engines(self) -> Any:
        """Made at the first model or data, so that MuJoCo is loaded only where it is used."""
        from safegym.scenario.snapshot_mujoco import Engines

        return Engines()


class Walk:
    """One pass: what to put back (`entries`), and what draws (`generators`, `reseeders`)."""

    __slots__ = ("_visit_of", "entries", "generators", "reseeders", "seen", "views")

    def __init__(self, views: Views, visit_of: Callable[[type[object]], Visit]) -> None:
        self.views, self._visit_of = views, visit_of
        self.entries: list[tuple[Put, Any, Any]] = []
        self.generators: list[Any] = []
        self.reseeders: list[Any] = []
        self.seen: dict[int, Any] = {}

    def visit(self, value: Any) -> None:
        """Take what is in `value` and below it. Raises OpaqueError."""
        kind: type[object] = type(value)
        if kind in PLAIN or id(value) in self.seen:
            return
        self.seen[id(value)] = value
        self._visit_of(kind)(self, value)

    def keep(self, put: Put, value: Any, content: Any) -> None:
        """Remember to call put(value, content)."""
        self.entries.append((put, value, content))


def all_below(walk: Walk, items: Iterable[tuple[object, Any]]) -> None:
    """Visit named objects; what cannot be taken is told with its name."""
    for name, value in items:
        if type(value) in PLAIN:
            continue
        try:
            walk.visit(value)
        except OpaqueError as opaque:
            opaque.under(str(name))
            raise
