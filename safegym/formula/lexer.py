"""From formula text to tokens, and from a place in the text to a message."""

import re
from dataclasses import dataclass
from typing import Literal

from safegym.errors import FormulaError

TokenKind = Literal["number", "name", "unit", "symbol", "end"]

SNIPPET = 36

_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<unit>\{[^{}\n]{0,80}\})"
    r"|(?P<symbol><->|->|<=|>=|==|!=|&&|\|\||\*\*|[-+*/<>()\[\],&|~!=^%])",
    re.ASCII,
)
_KINDS: tuple[Literal["number", "name", "unit"], ...] = ("number", "name", "unit")
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Token:
    """A token and where it starts; `start` counts characters from 0.

    shown: what an `end` stops before, where more text follows.
    """

    kind: TokenKind
    text: str
    start: int
    shown: str = ""

    @property
    def end(self) -> int:
        """Where the token ends."""
        return self.start + len(self.text)

    @property
    def found(self) -> str:
        """The token in a message."""
        text = self.shown if self.kind == "end" else self.text
        return repr(text[:40]) if text else "the end of the text"


def tokens_of(text: str, what: str = "Formula text") -> list[Token]:
    """Returns the tokens and a final `end`. Raises FormulaError at a character that starts none."""
    found: list[Token] = []
    place = 0
    while True:
        space = _SPACE.match(text, place)
        place = space.end() if space else place
        if place == len(text):
            found.append(Token("end", "", place))
            return found
        match = _TOKEN.match(text, place)
        if match is None:
            raise FormulaError(locate(text, place, f"unexpected character {text[place]!r}", what))
        token = Token(_kind(match), match[0], place)
        place = match.end()
        after = text[place : place + 1]
        if token.kind == "number" and (after.isalnum() or after in tuple("._")):
            raise FormulaError(
                locate(text, place, f"a number ends here, found {text[place]!r}", what)
            )
        found.append(token)


def _kind(match: "re.Match[str]") -> TokenKind:
    for kind in _KINDS:
        if match[kind] is not None:
            return kind
    return "symbol"


def locate(text: str, place: int, problem: str, what: str = "Formula text") -> str:
    """Returns a message with line, column, the problem, and the line's part around the place."""
    line_start = text.rfind("\n", 0, place) + 1
    line = text.count("\n", 0, place) + 1
    first = max(line_start, place - SNIPPET)
    last = text.find("\n", place)
    last = min(place + SNIPPET, len(text) if last < 0 else last)
    snippet = text[first:last].replace("\t", " ").replace("\r", " ")
    return (
        f"{what}, line {line}, column {place - line_start + 1}: {problem}"
        f"{'' if problem.endswith('?') else '.'}\n"
        f"    {snippet}\n    {' ' * (place - first)}^"
    )
