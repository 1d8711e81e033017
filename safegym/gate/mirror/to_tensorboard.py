"""TensorBoard event files, written without torch or TensorFlow.

Written in the caller's own thread, so that a full disk is told to whoever notes a number; the
package's EventFileWriter has a thread that only prints it. Source: the event file format of the
`tensorboard` package (RecordWriter, Event and Summary protobufs).
"""

import os
import socket
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from safegym.errors import GateError
from safegym.gate.mirror.optional import imported
from safegym.gate.mirror.scalars import Numbers

STRING = 7
"""DT_STRING of tensorboard's DataType."""
FORMAT = "brain.Event:2"
"""What the first record of an event file says."""


class TensorBoardMirror:
    """Writes numbers and texts into one event file of `folder`, made with the first of them.

    Raises GateError if the package is missing or the folder cannot be written.
    """

    name = "TensorBoard"

    def __init__(self, folder: Path) -> None:
        records = _proto("tensorboard.summary.writer.record_writer")
        self._summary = _proto("tensorboard.compat.proto.summary_pb2")
        self._event = _proto("tensorboard.compat.proto.event_pb2")
        self._tensor = _proto("tensorboard.compat.proto.tensor_pb2")
        self._records = records
        self._writer: Any = None
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not os.access(folder, os.W_OK):
                raise PermissionError(13, "Permission denied")
        except OSError as error:
            raise GateError(
                f"TensorBoard's folder {folder} cannot be written: {error.strerror or error}; "
                "choose another."
            ) from error

    def resumed(self, steps: int) -> None:
        """Tell TensorBoard that what was written after `steps` is done again.

        Its readers drop what stands at the step of a START and later; what the run told at the
        boundary itself stays.
        """
        start = self._event.SessionLog(status=self._event.SessionLog.START)
        self._add(steps + 1, session_log=start)

    def numbers(self, steps: int, numbers: Numbers) -> None:
        """Note numbers at environment steps."""
        values = [
            self._summary.Summary.Value(tag=tag, simple_value=value)
            for tag, value in numbers.items()
        ]
        self._add(steps, summary=self._summary.Summary(value=values))

    def bands(self, claims: Sequence[str]) -> None:
        """Ask TensorBoard to draw each claim's screened rate within its interval (CUSTOM SCALARS).

        Source: the layout protobuf of the `tensorboard` package's custom_scalar plugin.
        """
        layout = _proto("tensorboard.plugins.custom_scalar.layout_pb2")
        root = "screen/violation_rate"
        series = layout.MarginChartContent.Series
        charts = [
            layout.Chart(
                title=f"{claim}: violated in screens, with 95 % interval",
                margin=layout.MarginChartContent(
                    series=[
                        series(
                            value=f"{root}/{claim}",
                            lower=f"{root}_low/{claim}",
                            upper=f"{root}_high/{claim}",
                        )
                    ]
                ),
            )
            for claim in claims
        ]
        asked = layout.Layout(category=[layout.Category(title="screens", chart=charts)])
        text = asked.SerializeToString()
        self._add(0, summary=self._of_text("custom_scalars__config__", "custom_scalars", text))

    def text(self, steps: int, name: str, text: str) -> None:
        """Note a text at environment steps; TensorBoard shows it as Markdown."""
        self._add(steps, summary=self._of_text(name, "text", text.encode("utf-8")))

    def flush(self) -> None:
        """Put what was noted on disk."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Close the event file."""
        if self._writer is not None:
            self._writer.close()

    def _of_text(self, tag: str, plugin: str, text: bytes) -> Any:
        """A summary of one string, for the plugin that shows it."""
        tensor = self._tensor.TensorProto(dtype=STRING, string_val=[text])
        if plugin == "text":
            tensor.tensor_shape.dim.add().size = 1
        data = self._summary.SummaryMetadata.PluginData(plugin_name=plugin)
        value = self._summary.Summary.Value(
            tag=tag, tensor=tensor, metadata=self._summary.SummaryMetadata(plugin_data=data)
        )
        return self._summary.Summary(value=[value])

    def _add(self, steps: int, **what: Any) -> None:
        if self._writer is None:
            self._writer = self._records.RecordWriter(new_event_file(self._folder).open("xb", 0))
            self._write(file_version=FORMAT)
        self._write(step=steps, **what)

    def _write(self, **what: Any) -> None:
        event = self._event.Event(wall_time=time.time(), **what)
        try:
            self._writer.write(event.SerializeToString())
        except OSError:
            self._writer.close()
            raise


def new_event_file(folder: Path) -> Path:
    """Where a new event file goes: TensorBoard reads the files of a folder in order of names."""
    name = f"events.out.tfevents.{time.time_ns() // 10**9:010d}.{socket.gethostname()}"
    numbers = (folder / f"{name}.{os.getpid()}.{number}" for number in count())
    return next(path for path in numbers if not path.exists())


def _proto(module: str) -> Any:
    return imported(module, option="tensorboard", extra="tensorboard")
