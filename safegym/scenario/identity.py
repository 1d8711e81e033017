"""What a function is, beyond its source file: its name and the values baked into it."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from safegym.errors import ScenarioError
from safegym.formula.terms import Signal

_PLAIN = (str, bytes, bool, int, float, type(None))


def identity_of(function: Callable[..., Any], what: str) -> list[Any]:
    """JSON form of a function, class or partial: names and baked-in values, no code.

    Baked in are a partial's arguments, default values and what a nested function closes over.
    Raises ScenarioError, naming `what`, for a value that has no stable form.
    """
    if isinstance(function, partial):
        values = [function.args, sorted(function.keywords.items())]
        return ["partial", identity_of(function.func, what), _form(values, what)]
    inner = inspect.unwrap(function)
    if isinstance(inner, FunctionType):
        cells = [cell.cell_contents for cell in inner.__closure__ or ()]
        defaults = [inner.__defaults__, sorted((inner.__kwdefaults__ or {}).items())]
        return [_name(inner), _form(cells, what), _form(defaults, what)]
    if inspect.isclass(inner) or inspect.isbuiltin(inner):
        return [_name(inner)]
    raise _unstable(inner, what)


def code_in(value: Any) -> Iterator[Any]:
    """The functions and classes that `identity_of` names, however deep, some more than once.

    Classes of frozen values are among them: their methods act too.
    """
    if isinstance(value, partial):
        yield from code_in([value.func, value.args, value.keywords])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from code_in(item)
    elif isinstance(value, dict):
        yield from code_in([*value.items()])
    elif is_dataclass(value) and not isinstance(value, type):
        yield type(value)
        yield from code_in([getattr(value, each.name) for each in fields(value)])
    elif callable(value):
        inner = inspect.unwrap(value)
        yield inner
        if isinstance(inner, FunctionType):
            cells = [cell.cell_contents for cell in inner.__closure__ or ()]
            yield from code_in([cells, inner.__defaults__, inner.__kwdefaults__])


def _form(value: Any, what: str) -> Any:
    if isinstance(value, _PLAIN):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, list | tuple):
        return [_form(item, what) for item in value]
    if isinstance(value, dict):
        return ["dict", *(_form(pair, what) for pair in value.items())]
    if is_dataclass(value) and not isinstance(value, type) and _is_frozen(value):
        pairs = [(each.name, _form(getattr(value, each.name), what)) for each in fields(value)]
        return ["value", _name(type(value)), *pairs]
    if isinstance(value, Signal):
        numbers = [value.scale, value.max_rate, value.bounds]
        shape = [value.name, value.unit, list(value.shape), value.hold]
        return ["signal", *_form(shape, what), *_form(numbers, what)]
    if isinstance(value, ModuleType):
        return f"module {value.__name__}"
    if callable(value):
        return identity_of(value, what)
    raise _unstable(value, what)


def _is_frozen(value: Any) -> bool:
    return bool(type(value).__dataclass_params__.frozen)


def _name(inner: Any) -> str:
    return f"{inner.__module__}.{inner.__qualname__}"


def _unstable(value: Any, what: str) -> ScenarioError:
    return ScenarioError(
        f"{what} carries a {type(value).__name__} ({value!r:.80}), which has no stable form, so "
        "the scenario has no digest; pass numbers, text, lists, frozen dataclasses or functions "
        "and build the rest inside."
    )
