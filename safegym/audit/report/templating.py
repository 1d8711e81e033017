"""The template environment of the pages: every text is escaped, and made visible before."""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from safegym.audit.report import figures


@cache
def environment() -> Environment:
    """The environment; it reads this package's templates only."""
    found = Environment(
        loader=PackageLoader("safegym.audit.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
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
