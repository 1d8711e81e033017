"""The page of a log that does not verify: where it broke, and nothing of what it says."""

from pathlib import Path

from safegym.audit.report.figures import short
from safegym.audit.report.integrity import BrokenLog, verify_command
from safegym.audit.report.templating import environment
from safegym.errors import AuditError


def broken_page(place: Path, error: AuditError) -> bytes:
    """The page as bytes. place: the run or bundle; error: what was raised of it."""
    steps = error.steps if isinstance(error, BrokenLog) else ()
    text = environment().get_template("broken.html.j2")
    page: str = text.render(
        name=place.name or ".",
        step=error.step or "report",
        message=short(str(error).replace(", so no report is written", ""), 2_000),
        steps=steps,
        command=verify_command(place),
    )
    return page.encode("utf-8")
