"""Progress of a blend: a line a stage, with the rows that are done."""

from types import TracebackType
from typing import Self

from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from safegym.cli.console import err, shown


class BlendProgress:
    """Shows on standard error what is being done, where that is a terminal. quiet: nothing."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            TextColumn("{task.completed:,.0f} rows", markup=False),
            TimeElapsedColumn(),
            console=err,
            transient=True,
            disable=quiet or not err.is_terminal,
        )
        self._stages: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def tell(self, stage: str, rows: int) -> None:
        """Hear of progress."""
        if stage not in self._stages:
            self._stages[stage] = self._bars.add_task(shown(stage), total=None)
        self._bars.update(self._stages[stage], completed=rows)
