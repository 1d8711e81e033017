"""Reading an ONNX file within limits, and running it by onnxruntime."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.errors import UnsupportedError

INSTALL = "pip install 'safegym[onnx]'"
MAX_BYTES = 256 << 20
"""Largest file that is read: 256 MiB."""
MAX_NODES = 10_000
"""Most nodes of a model that is read."""
OPSETS = range(7, 26)
"""Versions of the standard operators that are read."""


def onnx_modules() -> tuple[Any, Any]:
    """The packages onnx and onnxruntime. Raises UnsupportedError with the install line."""
    try:
        import onnx
        import onnxruntime
    except ImportError as error:
        raise UnsupportedError(
            f"ONNX files need the packages onnx and onnxruntime ({error}); {INSTALL}"
        ) from error
    return onnx, onnxruntime


def parsed(body: bytes, path: Path) -> Any:
    """The model of a file's bytes; tensors outside the file are never opened.

    Raises UnsupportedError for what is malformed or outside what is read, saying which.
    """
    onnx, _ = onnx_modules()
    try:
        model = onnx.load_model_from_string(body)
    except Exception as error:  # protobuf's own error types are no public names
        raise UnsupportedError(f"{path} is not an ONNX file: {error}") from error
    _check(onnx, model, path)
    return model


def read_bytes(path: Path) -> bytes:
    """A file's bytes. Raises UnsupportedError where it is missing, unreadable or too large."""
    try:
        if not path.is_file():
            raise UnsupportedError(f"There is no ONNX file {path}.")
        if path.stat().st_size > MAX_BYTES:
            raise UnsupportedError(f"{path} is larger than the {MAX_BYTES} bytes that are read.")
        return path.read_bytes()
    except OSError as error:
        raise UnsupportedError(f"{path} cannot be read: {error.strerror or error}.") from error


def _check(onnx: Any, model: Any, path: Path) -> None:
    versions = {entry.domain or "ai.onnx": entry.version for entry in model.opset_import}
    version = versions.get("ai.onnx", 0)
    if version not in OPSETS:
        raise UnsupportedError(
            f"{path} uses version {version} of the ONNX operators; {OPSETS.start} to "
            f"{OPSETS.stop - 1} are read."
        )
    if len(model.graph.node) > MAX_NODES:
        raise UnsupportedError(
            f"{path} has {len(model.graph.node)} nodes; {MAX_NODES} is the most that are read."
        )
    if len(model.functions) or len(model.graph.sparse_initializer):
        raise UnsupportedError(f"{path} has functions or sparse tensors, which are not read.")
    outside = onnx.TensorProto.EXTERNAL
    tensors = [*model.graph.initializer]
    for node in model.graph.node:
        tensors.extend(each.t for each in node.attribute if each.HasField("t"))
    for tensor in tensors:
        if tensor.data_location == outside or len(tensor.external_data):
            raise UnsupportedError(
                f"Tensor {tensor.name!r} of {path} lies in another file, which is not opened; save "
                "the model with its tensors inside."
            )


@dataclass(slots=True)
class Session:
    """An ONNX model run a row at a time, one thread, operators as written (no fusion)."""

    body: bytes
    shape: tuple[int, ...]
    dtype: str
    discrete: bool = False
    _session: Any = field(default=None, repr=False)

    def outputs(self, observations: NDArray[Any], wanted: str | None = None) -> NDArray[Any]:
        """The model's outputs (B, m) at observations (B, n); wanted: one of several outputs."""
        session = self._opened()
        name = session.get_inputs()[0].name
        rows = np.asarray(observations).astype(self.dtype)
        names = [session.get_outputs()[0].name if wanted is None else wanted]
        try:
            found = [
                np.asarray(session.run(names, {name: row.reshape(self.shape)})[0]).reshape(-1)
                for row in rows
            ]
        except Exception as error:  # onnxruntime's error types are no public names
            raise UnsupportedError(f"onnxruntime fails on the model: {error}") from error
        return np.stack(found)

    def predict(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Actions (B, m), or choices (B,)."""
        found = self.outputs(observations)
        return found.reshape(-1).astype(np.int64) if self.discrete else found

    def __getstate__(self) -> tuple[Any, ...]:
        return self.body, self.shape, self.dtype, self.discrete

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.body, self.shape, self.dtype, self.discrete = state
        self._session = None

    def _opened(self) -> Any:
        if self._session is None:
            _, runtime = onnx_modules()
            options = runtime.SessionOptions()
            options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.log_severity_level = 4
            try:
                self._session = runtime.InferenceSession(
                    self.body, options, providers=["CPUExecutionProvider"], enable_fallback=0
                )
            except Exception as error:  # onnxruntime's error types are no public names
                raise UnsupportedError(f"onnxruntime refuses the model: {error}") from error
        return self._session
