"""Names of signals that are not there."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str:
    """The names nearest to one that is not there, or all there are: "did you mean x?"."""
    names = list(known)
    near = get_close_matches(name, names, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"it has {', '.join(names) or 'none'}."


def unknown_name(name: str, known: Iterable[str]) -> str:
    """The words for a signal that a trace or a log lacks, with the nearest names that it has."""
    return f"a signal {name!r} that the log does not have; {nearest(name, known)}"
