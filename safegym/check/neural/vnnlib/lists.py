"""Text to nested lists of words, within limits and without recursion."""

import re
from dataclasses import dataclass

from safegym.errors import FormulaError

MAX_CHARACTERS = 32 << 20
"""Longest text that is read: 32 million characters."""
MAX_DEPTH = 200
"""Parentheses within each other, at most."""
MAX_WORD = 2000
"""Longest word that is read; a number has no more digits than that."""
_TOKEN = re.compile(r'\(|\)|\[|\]|,|"[^"\n]*"|[^\s()\[\],;"]+|;[^\n\r]*|"')


@dataclass(frozen=True, slots=True)
class Word:
    """A word, and where it stands in the text."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Group:
    """What stands between two parentheses; at: of the opening one."""

    parts: "tuple[Word | Group, ...]"
    at: int

    @property
    def head(self) -> str:
        """The first word, "" where there is none."""
        first = self.parts[0] if self.parts else None
        return first.text if isinstance(first, Word) else ""


Part = Word | Group


def groups(text: str) -> tuple[Group, ...]:
    """The text's groups, one after the other. Brackets and commas are words of their own.

    Raises FormulaError where the text is too long, too deep, or not well formed.
    """
    if len(text) > MAX_CHARACTERS:
        raise FormulaError(
            f"The text has {len(text)} characters; {MAX_CHARACTERS} is the most that is read."
        )
    open_at: list[int] = []
    waiting: list[list[Part]] = [[]]
    for match in _TOKEN.finditer(text):
        token, at = match.group(), match.start()
        if token[0] == ";":
            continue
        if token == "(":
            if len(open_at) >= MAX_DEPTH:
                raise FormulaError(f"{place(text, at)}: more than {MAX_DEPTH} parentheses deep.")
            open_at.append(at)
            waiting.append([])
        elif token == ")":
            if not open_at:
                raise FormulaError(f"{place(text, at)}: a parenthesis closes that none opened.")
            closed = tuple(waiting.pop())
            waiting[-1].append(Group(closed, open_at.pop()))
        elif len(token) > MAX_WORD or token == '"':
            raise FormulaError(f"{place(text, at)}: a word too long, or a quote that does not end.")
        else:
            waiting[-1].append(Word(token, at))
    if open_at:
        raise FormulaError(f"{place(text, open_at[-1])}: this parenthesis is never closed.")
    found: list[Group] = []
    for part in waiting[0]:
        if isinstance(part, Word):
            raise FormulaError(f"{place(text, part.at)}: {part.text[:40]!r} stands in no command.")
        found.append(part)
    return tuple(found)


def place(text: str, at: int) -> str:
    """Line and column of a character, for messages."""
    line = text.count("\n", 0, at) + 1
    return f"line {line}, column {at - text.rfind(chr(10), 0, at)}"
