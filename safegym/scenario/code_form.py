"""The digest of what a source file does: comments, docstrings and layout are not in it.

This file needs the standard library alone, so that any Python can run it by itself.
"""

import ast
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

_PREFIX = "sha256:"
_UNREAD = frozenset({"ctx", "kind", "type_comment", "type_ignores", "type_params"})
"""Fields that no running program sees, or that only some versions of Python have."""


def code_digest(path: Path) -> str:
    """Of a Python file over its syntax tree, of any other file over its bytes.

    Statements that are only a text, docstrings among them, count as comments do. The same on
    every Python from 3.11 on that reads the file: fields that are empty or that newer versions
    added are left out. Raises OSError or SyntaxError.
    """
    data = path.read_bytes()
    return _of_code(data) if path.suffix == ".py" else _PREFIX + hashlib.sha256(data).hexdigest()


@cache
def _of_code(data: bytes) -> str:
    hasher = hashlib.sha256()
    _feed(ast.parse(data), lambda text: hasher.update(text.encode("utf-8", "surrogatepass")))
    return _PREFIX + hasher.hexdigest()


def _feed(value: object, feed: Callable[[str], None]) -> None:
    if isinstance(value, ast.AST):
        feed(f"({type(value).__name__}")
        for name in value._fields:
            field = getattr(value, name, None)
            if name in _UNREAD or field is None or field == []:
                continue
            if isinstance(value, ast.JoinedStr):
                field = [part for part in field if not _is_nothing(part)]
            feed(f" {name}=")
            _feed(field, feed)
        feed(")")
    elif isinstance(value, list):
        feed("[")
        for item in value:
            if not _is_remark(item):
                _feed(item, feed)
        feed("]")
    else:
        feed(f"{type(value).__name__}:{value!r};")


def _is_remark(statement: object) -> bool:
    """A statement that is nothing but a text."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _is_nothing(part: ast.expr) -> bool:
    """An empty text in an f-string, which Python 3.12 has in some places and 3.11 has not."""
    return isinstance(part, ast.Constant) and part.value == ""
