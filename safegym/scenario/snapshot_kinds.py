"""Which objects of an episode are taken, how, and which cannot be."""

import random
from collections import deque
from copy import deepcopy
from dataclasses import dataclass, is_dataclass
from enum import Enum
from functools import partial
from inspect import Parameter, signature
from logging import Logger
from pathlib import PurePath
from types import (
    BuiltinFunctionType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, Final

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec

from safegym.scenario.snapshot_parts import (
    put_list,
    put_slot,
    visit_array,
    visit_bound,
    visit_data,
    visit_deque,
    visit_dict,
    visit_function,
    visit_generator,
    visit_legacy,
    visit_list,
    visit_memory,
    visit_model,
    visit_partial,
    visit_python,
    visit_set,
    visit_shell,
    visit_space,
)
from safegym.scenario.snapshot_walk import OpaqueError, Visit, Walk, all_below
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.record import Recorder
from safegym.trace.tape import Imprint, Tape

_UNCHANGING: Final = (
    *(type, ModuleType, Enum, PurePath, Logger, BaseException, np.generic, np.dtype, np.ufunc),
    *(EnvSpec, ScenarioSpec, Imprint, int, float, str, bytes),
)


_SEALED: Final = (
    *("numba.", "_dynfunc.", "pygame.", "mujoco."),
    *("safegym.formula.", "safegym.trace.model."),
)
"""Modules whose objects hold no state of an episode (MjModel and MjData have visits of their own).
"""


_SEALED_NAMES: Final = ("_lru_cache_wrapper", "lock", "RLock", "ReferenceType", "WindowViewer")


_RENDERING: Final = ("gymnasium.envs.mujoco.mujoco_rendering", "mujoco.renderer")


_HEAP_TYPE: Final = 1 << 9


_WORD: Final = 8


@dataclass(frozen=True, slots=True)
class Shape:
    """What a class says of its instances, worked out once.

    slots: names of those it has. frozen: whether it is a frozen dataclass. reseeds: whether it
    has reseed(seed). keeps_state: whether it has get_state() and set_state(state) of this form.
    """

    visit: Visit
    slots: tuple[str, ...]
    frozen: bool
    reseeds: bool
    keeps_state: bool


_shapes: dict[type[object], Shape] = {}


def shape_of(kind: type[object]) -> Shape:
    """The shape of a class."""
    found = _shapes.get(kind)
    if found is None:
        frozen = is_dataclass(kind) and bool(getattr(kind, "__dataclass_params__").frozen)  # noqa: B009  # not in its stubs
        found = _shapes[kind] = Shape(
            visit=_visit_of(kind),
            slots=_slots_of(kind),
            frozen=frozen,
            reseeds=callable(getattr(kind, "reseed", None)),
            keeps_state=_keeps_state(kind),
        )
    return found


def visit_of(kind: type[object]) -> Visit:
    """How objects of a class are visited."""
    return shape_of(kind).visit


def _slots_of(kind: type[object]) -> tuple[str, ...]:
    members = (
        name
        for base in kind.__mro__
        for name, value in vars(base).items()
        if isinstance(value, MemberDescriptorType) and name not in ("__dict__", "__weakref__")
    )
    return tuple(dict.fromkeys(members))


def _keeps_state(kind: type[object]) -> bool:
    get, put = getattr(kind, "get_state", None), getattr(kind, "set_state", None)
    if not (issubclass(kind, gym.Env) and callable(get) and callable(put)):
        return False
    return (_needed(get), _needed(put)) == (0, 1)


def _visit_of(kind: type[object]) -> Visit:
    """How objects of a class are visited."""
    if _module_of(kind) == "mujoco._structs" and kind.__name__ in ("MjModel", "MjData"):
        return visit_model if kind.__name__ == "MjModel" else visit_data
    if issubclass(kind, _UNCHANGING) or _is_sealed(kind):
        return _pass
    for base, visit in _VISITS:
        if issubclass(kind, base):
            return visit
    if reason := _why_opaque(kind):
        return partial(_refuse, reason=reason)
    return _visit_object


def _is_sealed(kind: type[object]) -> bool:
    where = f"{_module_of(kind)}."
    return where.startswith((*_SEALED, *_RENDERING)) or kind.__name__ in _SEALED_NAMES


def _module_of(kind: type[object]) -> str:
    """Some native types have none."""
    return str(getattr(kind, "__module__", ""))


def _why_opaque(kind: type[object]) -> str:
    """Why an instance's state cannot be read from its attributes, "" if it can."""
    native = [c for c in kind.__mro__ if not c.__flags__ & _HEAP_TYPE and c is not object]
    slots = len(_slots_of(kind))
    grown = kind.__basicsize__ > object.__basicsize__ + _WORD * (slots + 2)
    if native or grown:
        where = f"{_module_of(kind)}.".lstrip(".")
        return f"a {where}{kind.__qualname__}, whose state lies outside Python"
    return ""


def _needed(method: Any) -> int:
    """How many arguments a method needs besides self."""
    parameters = list(signature(method).parameters.values())[1:]
    variadic = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return sum(p.default is p.empty and p.kind not in variadic for p in parameters)


def _pass(walk: Walk, value: Any) -> None:
    """Nothing in it changes."""


def _refuse(walk: Walk, value: Any, *, reason: str) -> None:
    raise OpaqueError(reason)


def _visit_tape(walk: Walk, tape: Any) -> None:
    """Its lists only grow, and what they hold no longer changes."""
    for name in shape_of(Tape).slots:
        held = getattr(tape, name)
        if isinstance(held, list):
            walk.seen[id(held)] = held
            walk.keep(put_list, held, tuple(held))
        else:
            walk.keep(partial(put_slot, name), tape, held)


def _visit_env(walk: Walk, env: Any) -> None:
    """An environment that keeps its own state is asked for it; its generators are taken as well."""
    if isinstance(env, gym.Wrapper) or not shape_of(type(env)).keeps_state:
        _visit_object(walk, env)
        return
    walk.keep(_put_own_state, env, deepcopy(env.get_state()))
    _note_reseeder(walk, env)
    for name, value in vars(env).items():
        if isinstance(value, np.random.Generator | np.random.RandomState | random.Random):
            walk.keep(partial(put_slot, name), env, value)
            walk.visit(value)


def _put_own_state(env: Any, content: Any) -> None:
    env.set_state(deepcopy(content))


def _visit_recorder(walk: Walk, recorder: Any) -> None:
    """Where finished traces go is no part of the episode."""
    if recorder.on_trace is not None:
        walk.seen.setdefault(id(recorder.on_trace), recorder.on_trace)
    _visit_object(walk, recorder)


def _visit_object(walk: Walk, found: Any) -> None:
    shape = shape_of(type(found))
    attributes: dict[str, Any] | None = getattr(found, "__dict__", None)
    slots = [(name, getattr(found, name)) for name in shape.slots if hasattr(found, name)]
    _note_reseeder(walk, found)
    if not shape.frozen:
        walk.keep(_put_object, found, (None if attributes is None else dict(attributes), slots))
    all_below(walk, (attributes or {}).items())
    all_below(walk, slots)


def _put_object(found: Any, content: Any) -> None:
    attributes, slots = content
    if attributes is not None:
        own = found.__dict__
        own.clear()
        own.update(attributes)
    for name, value in slots:
        object.__setattr__(found, name, value)


def _note_reseeder(walk: Walk, found: Any) -> None:
    if shape_of(type(found)).reseeds:
        walk.reseeders.append(found)


_VISITS: Final[tuple[tuple[Any, Visit], ...]] = (
    (np.ndarray, visit_array),
    (memoryview, visit_memory),
    (np.random.Generator, visit_generator),
    (np.random.RandomState, visit_legacy),
    (random.Random, visit_python),
    (gym.Space, visit_space),
    (Tape, _visit_tape),
    (Recorder, _visit_recorder),
    (gym.Env, _visit_env),
    (dict, visit_dict),
    ((list, bytearray), visit_list),
    (deque, visit_deque),
    (set, visit_set),
    ((tuple, frozenset, MappingProxyType), visit_shell),
    (FunctionType, visit_function),
    ((MethodType, BuiltinFunctionType, type([].__len__)), visit_bound),
    (partial, visit_partial),
)
