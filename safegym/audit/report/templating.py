"""The template environment of the pages: every text is escaped, and made visible before."""

from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from safegym.audit.report import figures

PACKAGE = "safegym.audit.report"
"""Whose templates a page of the report is made of."""


@cache
def environment(*packages: str, keep_trailing_newline: bool = True) -> Environment:
    """The environment; it reads the templates of these packages only, by default the report's.

    packages: dotted names; a template is taken from the first that has it. The live view's pages
    come through here too, so that no page has an escaping of its own.
    """
    found = Environment(
        loader=ChoiceLoader([PackageLoader(name, "templates") for name in packages or (PACKAGE,)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=keep_trailing_newline,
        finalize=_shown,
    )
    filters: dict[str, Any] = found.filters
    filters.update(counted=figures.counted, digest=figures.short_digest, spaced=figures.spaced)
    return found


def _shown(value: Any) -> Any:
    """What every expression of a template goes through, before it is escaped."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return figures.visible(value)
    return value
