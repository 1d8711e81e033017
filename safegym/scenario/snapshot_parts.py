"""How arrays, containers, functions and generators are taken and put back."""

import random
import sys
from copy import deepcopy
from types import (
    ModuleType,
)
from typing import Any

import numpy as np

from safegym.scenario.snapshot_walk import Walk, all_below


def visit_model(walk: Walk, model: Any) -> None:
    """All that physics reads of an MjModel."""
    engines = walk.views.engines
    walk.keep(engines.put_model, model, engines.take_model(model))


def visit_data(walk: Walk, data: Any) -> None:
    """An MjData, and its model."""
    walk.visit(data.model)
    engines = walk.views.engines
    walk.keep(engines.put_data, data, engines.take_data(data))


def visit_array(walk: Walk, array: Any) -> None:
    """The numbers; a read-only array cannot change."""
    if array.dtype.hasobject:
        for item in array.ravel().tolist():
            walk.visit(item)
    if array.flags.writeable:
        walk.keep(_put_array, array, array.copy())


def _put_array(array: Any, content: Any) -> None:
    array[...] = content


def visit_memory(walk: Walk, memory: Any) -> None:
    """The bytes of a writable memory view."""
    if not memory.readonly:
        walk.keep(_put_memory, memory, memory.tobytes())


def _put_memory(memory: Any, content: Any) -> None:
    memory.cast("B")[:] = content


def visit_dict(walk: Walk, found: Any) -> None:
    """Keys and values."""
    walk.keep(_put_dict, found, dict(found))
    all_below(walk, found.items())
    if type(found) is not dict and hasattr(found, "__dict__"):
        walk.visit(found.__dict__)


def _put_dict(found: Any, content: Any) -> None:
    found.clear()
    found.update(content)


def visit_list(walk: Walk, found: Any) -> None:
    """The items of a list or bytearray."""
    walk.keep(put_list, found, tuple(found))
    all_below(walk, enumerate(found))


def put_list(found: Any, content: Any) -> None:
    """The old items again."""
    found[:] = content


def visit_deque(walk: Walk, found: Any) -> None:
    """The items."""
    walk.keep(_put_deque, found, tuple(found))
    all_below(walk, enumerate(found))


def _put_deque(found: Any, content: Any) -> None:
    found.clear()
    found.extend(content)


def visit_set(walk: Walk, found: Any) -> None:
    """The members."""
    walk.keep(_put_dict, found, tuple(found))
    for item in found:
        walk.visit(item)


def visit_shell(walk: Walk, found: Any) -> None:
    """It cannot change, but what it holds may."""
    all_below(walk, enumerate(found.values() if hasattr(found, "values") else found))


def visit_function(walk: Walk, function: Any) -> None:
    """What its closure holds, and its defaults."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            content = cell.cell_contents
        except ValueError:
            continue
        walk.keep(_put_cell, cell, content)
        all_below(walk, ((name, content),))
    for held in (function.__defaults__, function.__kwdefaults__, function.__dict__):
        if held:
            walk.visit(held)


def _put_cell(cell: Any, content: Any) -> None:
    cell.cell_contents = content


def visit_bound(walk: Walk, method: Any) -> None:
    """The object that a method is bound to."""
    if not isinstance(method.__self__, ModuleType):
        walk.visit(method.__self__)
    function = getattr(method, "__func__", None)
    if function is not None:
        walk.visit(function)


def visit_partial(walk: Walk, call: Any) -> None:
    """The function and its arguments."""
    for held in (call.func, call.args, call.keywords):
        walk.visit(held)


def visit_generator(walk: Walk, generator: Any) -> None:
    """A generator of numpy, and the bits it draws from."""
    bits = generator.bit_generator
    walk.generators.append(generator)
    walk.keep(_put_bits, bits, deepcopy(bits.state))


def _put_bits(bits: Any, content: Any) -> None:
    bits.state = content


def visit_legacy(walk: Walk, generator: Any) -> None:
    """A generator of the older kind of numpy."""
    walk.generators.append(generator)
    walk.keep(_put_legacy, generator, generator.get_state())


def _put_legacy(generator: Any, content: Any) -> None:
    generator.set_state(content)


def visit_python(walk: Walk, generator: Any) -> None:
    """Python's generators."""
    walk.generators.append(generator)
    walk.keep(_put_python, generator, generator.getstate())


def _put_python(generator: Any, content: Any) -> None:
    generator.setstate(content)


def visit_space(walk: Walk, space: Any) -> None:
    """Of a space, only its generator changes."""
    walk.keep(_put_space, space, space._np_random)
    walk.visit(space._np_random)
    inner = getattr(space, "spaces", ())
    for part in inner.values() if isinstance(inner, dict) else inner:
        walk.visit(part)


def _put_space(space: Any, content: Any) -> None:
    space._np_random = content


def put_slot(name: str, found: Any, content: Any) -> None:
    """The old value of one attribute."""
    setattr(found, name, content)


def global_draws() -> tuple[Any, ...]:
    """States of the process-wide generators, to see whether an episode draws from them."""
    legacy: Any = np.random.get_state()
    torch = sys.modules.get("torch")
    drawn = () if torch is None else torch.get_rng_state().numpy().tobytes()
    return random.getstate(), legacy[1].tobytes(), legacy[2:], drawn
