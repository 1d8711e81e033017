"""Tokens and words of rtamt's specification language, as its 0.4 grammar has them."""

import re

from safegym.errors import FormulaError
from safegym.formula.grammar import Infix
from safegym.formula.lexer import Token, TokenKind, locate

WHAT = "rtamt text"

_SKIP = re.compile(r"(?:[ \t\r\n\f]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_TOKEN = re.compile(
    r"(?P<odd>0[xXbB]\w+|\d+_\w*)"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_$][A-Za-z0-9_$./]*)"
    r"|(?P<symbol><->|->|<=|>=|!==|==|[-+*/<>()\[\],:;@=!&|])",
    re.ASCII,
)

WORDS: dict[str, str] = {
    "not": "not",
    "!": "not",
    "or": "or",
    "|": "or",
    "and": "and",
    "&": "and",
    "iff": "iff",
    "<->": "iff",
    "implies": "implies",
    "->": "implies",
    "xor": "xor",
    "rise": "rise",
    "fall": "fall",
    "always": "always",
    "G": "always",
    "eventually": "eventually",
    "F": "eventually",
    "until": "until",
    "U": "until",
    "unless": "weak_until",
    "W": "weak_until",
    "historically": "historically",
    "H": "historically",
    "once": "once",
    "O": "once",
    "since": "since",
    "S": "since",
    "next": "weak_next",
    "X": "weak_next",
    "prev": "weak_previous",
    "Y": "weak_previous",
    "s_next": "next",
    "sX": "next",
    "s_prev": "previous",
    "sY": "previous",
}
"""What each of its words is called here; its `next` and `prev` hold where there is no sample."""

# Everything groups from the left. `-` and `+`, `/` and `*` share a level: see rtamt.py.
_ROWS = ("xor", "iff", "implies", "or", "and", "since", "weak_until", "until")
PREFIX_BINDS = len(_ROWS)
INFIX: dict[str, Infix] = {
    **{word: Infix(word, level, "left") for level, word in enumerate(_ROWS)},
    **{word: Infix(word, PREFIX_BINDS + 1, "none") for word in ("<", "<=", ">", ">=")},
    **{word: Infix(word, PREFIX_BINDS + 2, "left") for word in ("+", "-")},
    **{word: Infix(word, PREFIX_BINDS + 3, "left") for word in ("*", "/")},
}
MINUS_BINDS = PREFIX_BINDS + 4


def tokens_of(text: str) -> list[Token]:
    """Returns the tokens without comments, and a final `end`. Raises FormulaError for others."""
    found: list[Token] = []
    place = 0
    while True:
        skipped = _SKIP.match(text, place)
        place = skipped.end() if skipped else place
        if place == len(text):
            found.append(Token("end", "", place))
            return found
        if text.startswith("/*", place):
            raise FormulaError(locate(text, place, "this comment is never closed", WHAT))
        match = _TOKEN.match(text, place)
        if match is None or match["odd"] is not None:
            problem = f"unexpected character {text[place]!r}"
            if match is not None:
                problem = f"write the number {match[0][:20]} in decimal digits"
            raise FormulaError(locate(text, place, problem, WHAT))
        found.append(Token(_kind(match), match[0], place))
        place = match.end()


def _kind(match: "re.Match[str]") -> TokenKind:
    if match["number"] is not None:
        return "number"
    return "name" if match["name"] is not None else "symbol"
