"""Building parts before what they are parts of, without recursion: no formula is too deep."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)
Built = TypeVar("Built")


def build(
    root: Name,
    known: dict[Name, Built],
    needs: Callable[[Name], Iterable[Name]],
    make: Callable[[Name], Built],
) -> Built:
    """Returns what `make` makes of the root, with all it needs put into `known` before."""
    stack = [root]
    while stack:
        top = stack[-1]
        missing = [] if top in known else [each for each in needs(top) if each not in known]
        stack.extend(missing)
        if not missing:
            stack.pop()
            if top not in known:
                known[top] = make(top)
    return known[root]
