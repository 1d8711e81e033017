"""Writes the support matrix, or checks it: `python -m safegym.check.matrix --write | --check`."""

import difflib
import sys
from collections.abc import Sequence
from pathlib import Path

from safegym.check.matrix.page import COMMAND, page
from safegym.errors import SafegymError

PAGE = Path("docs/reference/support.md")


def main(arguments: Sequence[str]) -> int:
    """Writes or checks the page; returns 0, 1 if it does not fit the code, 2 on bad input."""
    words = [text for text in arguments if text.startswith("-")]
    places = [text for text in arguments if not text.startswith("-")]
    if words not in (["--write"], ["--check"]) or len(places) > 1:
        print(f"usage: {COMMAND} --write | --check [{PAGE}]", file=sys.stderr)
        return 2
    place = Path(places[0]) if places else PAGE
    try:
        text = page()
        if words == ["--write"]:
            place.write_text(text, encoding="utf-8")
            return 0
        return _compared(place, place.read_text(encoding="utf-8"), text)
    except SafegymError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"Cannot use {place}: {error.strerror}", file=sys.stderr)
        return 2


def _compared(place: Path, found: str, wanted: str) -> int:
    if found == wanted:
        print(f"{place} says what the code does")
        return 0
    lines = difflib.unified_diff(
        found.splitlines(), wanted.splitlines(), str(place), "the code", lineterm="", n=0
    )
    print(*lines, f"If you meant it: {COMMAND} --write", sep="\n", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
