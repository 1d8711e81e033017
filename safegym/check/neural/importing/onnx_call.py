"""One node of an ONNX model, as its rule sees it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.importing.onnx_tensor import Constant, Tensor, Value
from safegym.errors import UnsupportedError


@dataclass(frozen=True, slots=True)
class Call:
    """One node of a model: where its work goes, what it is given, how it is called in messages."""

    builder: GraphBuilder
    inputs: tuple[Value | None, ...]
    attributes: Mapping[str, Any]
    version: int
    outputs: int
    where: str

    def value(self, at: int = 0) -> Value:
        """An input that must be there."""
        found = self.inputs[at] if at < len(self.inputs) else None
        if found is None:
            raise UnsupportedError(f"{self.where} lacks input {at}.")
        return found

    def tensor(self, at: int = 0) -> Tensor:
        """An input that depends on the model's input."""
        found = self.value(at)
        if not isinstance(found, Tensor):
            raise UnsupportedError(f"{self.where} works on a constant in input {at}; fold it.")
        return found

    def constant(self, at: int, attribute: str | None = None) -> Constant | None:
        """A constant input, or the attribute that older versions have for it; None without one."""
        found = self.inputs[at] if at < len(self.inputs) else None
        if isinstance(found, Tensor):
            raise UnsupportedError(
                f"{self.where} has input {at} that is no constant, which is not read."
            )
        if found is None and attribute in self.attributes:
            return np.asarray(self.attributes[attribute or ""])
        return found

    def whole_numbers(self, at: int, attribute: str) -> list[int]:
        """A constant input or attribute that is a list of integers. Raises where it is missing."""
        found = self.constant(at, attribute)
        if found is None:
            raise UnsupportedError(f"{self.where} lacks {attribute}.")
        return [int(each) for each in np.asarray(found).reshape(-1)]


Rule = Callable[[Call], list[Value]]
