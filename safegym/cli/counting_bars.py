"""Progress bars that count: how many of how many, and a note, on standard error."""

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from safegym.cli.console import err


def counting_bars(*, quiet: bool) -> Progress:
    """Bars for tasks that are added with a `total` and a `note`.

    quiet: show nothing, as where standard error is no terminal.
    """
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        TimeElapsedColumn(),
        console=err,
        disable=quiet or not err.is_terminal,
        transient=True,
    )
