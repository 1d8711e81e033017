"""What changes in a MuJoCo model and its data, taken and put back in place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from safegym.scenario.signals.engine import mj

_INTEGRATION: Final = int(mj.mjtState.mjSTATE_INTEGRATION)
_FIXED: Final = ("tex_", "skin_", "mat_", "names", "paths", "text_", "mesh_", "bvh_", "oct_")
"""Model arrays that are never taken: pictures, names, and meshes with their search trees, which the
compiler lays down once. Sizes, masses, positions, height fields and options are taken."""

DataState = tuple[NDArray[np.float64], tuple[NDArray[Any], ...], NDArray[Any], NDArray[Any]]
ModelState = tuple[tuple[bytes, ...], tuple[tuple[str, str, Any], ...]]


@dataclass(frozen=True, slots=True)
class _Views:
    """The arrays of one model or data, valid as long as it lives, and the numbers beside them.

    numbers: name of a part and of the number in it; the parts themselves would keep the model.
    """

    arrays: tuple[NDArray[Any], ...]
    numbers: tuple[tuple[str, str], ...] = ()


class Engines:
    """Takes and puts back the models and data of one environment.

    What is remembered of a model or data goes with it: an environment may compile a new model at
    each reset, and the next one may get the number (`id`) and the memory of one that is gone.
    """

    __slots__ = ("_alive", "_contents", "_views")

    def __init__(self) -> None:
        self._views: dict[int, _Views] = {}
        self._contents: dict[int, tuple[bytes, ...]] = {}
        self._alive: dict[int, ref[Any]] = {}

    def take_data(self, data: Any) -> DataState:
        """The integration state (warm start included) and what was derived from it.

        Integrating on from the state alone gives the same bits; the derived quantities are kept
        for environments that read them before the next step (Gymnasium's do). Contacts are worked
        out anew by the next step.
        """
        model = data.model
        state = np.zeros(mj.mj_stateSize(model, _INTEGRATION))
        mj.mj_getState(model, data, state, _INTEGRATION)
        derived = tuple([array.copy() for array in self._of_data(data).arrays])
        return state, derived, data.warning.number.copy(), data.warning.lastinfo.copy()

    def put_data(self, data: Any, kept: DataState) -> None:
        """Back to what `take_data` took."""
        state, derived, number, lastinfo = kept
        mj.mj_setState(data.model, data, state, _INTEGRATION)
        for array, values in zip(self._of_data(data).arrays, derived, strict=True):
            array[...] = values
        data.warning.number[:] = number
        data.warning.lastinfo[:] = lastinfo

    def take_model(self, model: Any) -> ModelState:
        """Every array that physics reads, and the options; equal states share their bytes."""
        views = self._of_model(model)
        found = tuple([array.tobytes() for array in views.arrays])
        if found != self._contents.get(id(model)):
            self._contents[id(model)] = found
        numbers = tuple(
            [(part, name, getattr(getattr(model, part), name)) for part, name in views.numbers]
        )
        return self._contents[id(model)], numbers

    def put_model(self, model: Any, kept: ModelState) -> None:
        """Back to what `take_model` took."""
        arrays, numbers = kept
        for array, content in zip(self._of_model(model).arrays, arrays, strict=True):
            if array.tobytes() != content:
                array[...] = np.frombuffer(content, array.dtype).reshape(array.shape)
        for part, name, value in numbers:
            if getattr(getattr(model, part), name) != value:
                setattr(getattr(model, part), name, value)

    def _of_data(self, data: Any) -> _Views:
        found = self._views.get(id(data))
        if found is None:  # on fresh data the arrays of the arena (contacts) are empty
            names = _array_names(mj.MjData(data.model))
            found = self._remembered(data, _views([(data, name) for name in names]))
        return found

    def _of_model(self, model: Any) -> _Views:
        found = self._views.get(id(model))
        if found is None:
            names = [n for n in _array_names(model) if not n.startswith(_FIXED)]
            parts = {"opt": model.opt, "stat": model.stat}
            arrays = [(model, name) for name in names]
            arrays += [(part, name) for part in parts.values() for name in _array_names(part)]
            numbers = [(at, name) for at, part in parts.items() for name in _number_names(part)]
            found = self._remembered(model, _views(arrays, numbers))
        return found

    def _remembered(self, owner: Any, found: _Views) -> _Views:
        """Remember the views of a model or data until it is gone."""
        number = id(owner)

        def forget(_: object) -> None:
            for held in (self._views, self._contents, self._alive):
                held.pop(number, None)

        self._views[number], self._alive[number] = found, ref(owner, forget)
        return found


def _views(arrays: Sequence[tuple[Any, str]], numbers: Sequence[tuple[str, str]] = ()) -> _Views:
    found = (getattr(part, name) for part, name in arrays)
    return _Views(tuple(array for array in found if array.flags.writeable), tuple(numbers))


def _array_names(part: Any) -> list[str]:
    """Arrays of at least one number."""
    return [n for n, value in _public(part) if isinstance(value, np.ndarray) and value.size]


def _number_names(part: Any) -> list[str]:
    return [n for n, value in _public(part) if isinstance(value, int | float)]


def _public(part: Any) -> list[tuple[str, Any]]:
    return [(name, getattr(part, name)) for name in dir(part) if not name.startswith("_")]
