"""A place in a row of tokens, and errors that say where and what was expected."""

from typing import NoReturn

from safegym.errors import FormulaError
from safegym.formula.lexer import Token, locate


class Cursor:
    """Walks tokens, the last of which is an `end`. what: how messages call the text."""

    what = "Formula text"

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.place = 0

    @property
    def ahead(self) -> Token:
        """The next token."""
        return self.tokens[self.place]

    @property
    def second(self) -> Token:
        """The token after the next."""
        return self.tokens[min(self.place + 1, len(self.tokens) - 1)]

    def take(self) -> Token:
        """Returns the next token and steps over it."""
        token = self.tokens[self.place]
        self.place += 1
        return token

    def skip(self, text: str, expected: str) -> None:
        """Steps over `text`. Raises FormulaError saying what was expected."""
        if self.ahead.text != text:
            self.expected(expected)
        self.place += 1

    def fail(self, token: Token, problem: str) -> NoReturn:
        """Raises FormulaError at the token."""
        raise FormulaError(locate(self.text, token.start, problem, self.what))

    def expected(self, what: str) -> NoReturn:
        """Raises FormulaError at the next token: what was expected and what is there."""
        self.fail(self.ahead, f"expected {what}, found {self.ahead.found}")

    def placed(self, token: Token, error: FormulaError) -> FormulaError:
        """Returns the error with the token's place in front, of the same class."""
        if "\n" in str(error):  # placed already
            return error
        return type(error)(locate(self.text, token.start, str(error).rstrip("."), self.what))
