"""Names of signals that are not there."""

import difflib
from collections.abc import Iterable


def unknown_name(name: str, known: Iterable[str]) -> str:
    """The words for a signal that a trace or a log lacks, with the nearest names that it has."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(names) or 'none'}."
    return f"a signal {name!r} that the log does not have; {hint}"
