"""Which signals somebody else's environment has: found by running it with random actions."""

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from safegym.errors import ScenarioError
from safegym.formula.terms import Signal
from safegym.scenario.adapt import sources
from safegym.scenario.adapt.engine_of import can_hook, mujoco_of
from safegym.scenario.adapt.environment import AdaptedEnv, bare
from safegym.scenario.adapt.naming import distinct, signal_name
from safegym.scenario.adapt.pace import control_step
from safegym.scenario.adapt.quoting import quoted

EPISODES = 3
STEPS = 100
ENTRIES = 12
"""Observation entries that are drafted as signals at most; more are only counted."""
_NOT_SIGNALS = re.compile(r"reward|episode|time|step|seed|elapsed|TimeLimit|score", re.IGNORECASE)


@dataclass(slots=True)
class Found:
    """One signal: its name, unit, the Python text of its source, and what was seen of it."""

    name: str
    unit: str
    source: str
    meaning: str
    hold: str = "sample"
    low: float = float("inf")
    high: float = float("-inf")
    broken: str = ""

    def see(self, value: float) -> None:
        """Widen the range that was seen; a value that is no number is kept as it was `broken`."""
        if isfinite(value):
            self.low, self.high = min(self.low, value), max(self.high, value)
        else:
            self.broken = str(value)


@dataclass(slots=True)
class Detected:
    """What was found in an environment.

    dt: control step in s as text, and where it comes from. horizon: steps. signals: those that were
    seen, with their ranges over random episodes. ends: how many of them terminated by themselves.
    notes: what is left to do by hand.
    """

    env_id: str
    dt: str
    dt_from: str
    horizon: int
    horizon_from: str
    signals: list[Found]
    mujoco: bool
    substeps: bool
    episodes: int = 0
    ends: int = 0
    notes: list[str] = field(default_factory=list[str])


def detect(env_id: str, make: Callable[[], Any]) -> Detected:
    """Runs a few random episodes of what `make()` builds and says which signals it has.

    MuJoCo models: joint speed, joint-limit margin, actuator effort, contact force. Besides: numbers
    in the info of every step, and the first entries of the observation. Raises ScenarioError if
    the environment cannot be reset and stepped.
    """
    outer: Any = make()
    limit = getattr(getattr(outer, "spec", None), "max_episode_steps", None)
    env: Any = bare(outer)
    try:
        observation, info = env.reset(seed=0)
    except Exception as error:
        raise ScenarioError(f"{env_id} cannot be reset: {type(error).__name__}: {error}") from error
    dt, dt_from = control_step(env)
    found = Detected(
        env_id,
        dt,
        dt_from,
        int(limit or 200),
        "its registered time limit" if limit else "chosen; it registers no time limit",
        [],
        mujoco_of(env) is not None,
        can_hook(env),
    )
    try:
        _search(env, observation, info, found)
    except ScenarioError:
        raise
    except Exception as error:
        raise ScenarioError(
            f"{env_id} does not run with random actions: {type(error).__name__}: {error}"
        ) from error
    finally:
        with suppress(Exception):  # what matters of it is known
            env.close()
    return found


def _search(env: Any, observation: Any, info: Any, found: Detected) -> None:
    found.signals.extend(_in_model(env))
    found.signals.extend(_in_info(env, info, found))
    found.signals.extend(_in_observation(observation, found))
    distinct(found.signals)
    if found.signals:
        _watch(env, found)
    for each in [each for each in found.signals if each.broken]:
        found.signals.remove(each)
        found.notes.append(f"{each.meaning} was {each.broken} at times, so it is left out.")
    if not found.signals:
        raise ScenarioError(
            f"{found.env_id} tells no number in its info, has no vector of numbers to observe and "
            "no MuJoCo model; write from_env(function) for what it should be judged by."
            + "".join(f" {note}" for note in found.notes)
        )


def _in_model(env: Any) -> Iterator[Found]:
    """Readings of the MuJoCo model that can be bound; those that cannot are left out."""
    pair = mujoco_of(env)
    if pair is None:
        return
    from safegym.scenario.signals import ActuatorEffort, JointLimitMargin, JointSpeed
    from safegym.scenario.signals.select import names_of

    model, data = pair
    hinges = [
        n for i, n in enumerate(names_of(model, "joint")) if n and int(model.jnt_type[i]) == 3
    ]
    limited = [
        n
        for i, n in enumerate(names_of(model, "joint"))
        if n in hinges and bool(model.jnt_limited[i])
    ]
    options = (
        (hinges, "joint_speed", "rad/s", "JointSpeed", JointSpeed, "max", "norm of hinge speeds"),
        (
            limited,
            "joint_limit_margin",
            "rad",
            "JointLimitMargin",
            JointLimitMargin,
            "min",
            "least distance of a hinge from its limits",
        ),
    )
    hold = can_hook(env)
    for names, name, unit, word, reader, kept, meaning in options:
        if names:
            reader(tuple(names)).bind(model, data)
            chosen = "*" if len(names) == int(model.njnt) else tuple(names)
            source = f"from_mujoco({word}({quoted(chosen)}))"
            yield Found(name, unit, source, meaning, kept if hold else "sample")
    if model.nu and all(names_of(model, "actuator")):
        ActuatorEffort().bind(model, data)
        meaning = "largest actuator force (N) or torque (N m)"
        source = 'from_mujoco(ActuatorEffort("*"))'
        yield Found("actuator_effort", "1", source, meaning, "max" if hold else "sample")


def _in_info(env: Any, at_reset: Any, found: Detected) -> Iterator[Found]:
    """Numbers that the info of a step tells."""
    env.action_space.seed(0)
    info = env.step(env.action_space.sample())[4]
    for key, value in info.items():
        if not isinstance(key, str) or _NOT_SIGNALS.search(key) or not _is_number(value):
            continue
        known = _is_number(at_reset.get(key))
        source = f"from_info({quoted(key)})" if known else f"from_info({quoted(key)}, at_reset=0.0)"
        if not known:
            found.notes.append(f"info[{key!r}] is not told at reset; sample 0 is taken as 0.")
        yield Found(signal_name(key), "1", source, f"info[{key!r}], unit unknown")


def _in_observation(observation: Any, found: Detected) -> Iterator[Found]:
    parts = observation.items() if isinstance(observation, dict) else [("", observation)]
    for key, part in parts:
        if isinstance(part, dict | tuple):
            found.notes.append(f"Observation {key!r} is a {type(part).__name__}, not drafted.")
            continue
        values = np.asarray(part)
        if values.ndim != 1 or values.dtype.kind not in "fiub":
            found.notes.append(
                f"Observation {key!r} of shape {values.shape} is not drafted as signals."
            )
            continue
        for index in range(min(len(values), ENTRIES)):
            name = f"{signal_name(key)}_{index}" if key else f"observation_{index}"
            source = f"from_observation({index})"
            if key:
                source = f"from_observation({index}, key={quoted(key)})"
            yield Found(
                name,
                "1",
                source,
                f"entry {index} of the observation {key!r}"
                if key
                else f"entry {index} of the observation",
            )
        if len(values) > ENTRIES:
            found.notes.append(
                f"The observation {key!r} has {len(values)} entries; {ENTRIES} are drafted."
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | np.bool_ | np.number) and np.ndim(value) == 0


def _watch(env: Any, found: Detected) -> None:
    """Random episodes: the range of every signal, and how many end by themselves."""
    from safegym.scenario.signals import ActuatorEffort, JointLimitMargin, JointSpeed

    words = {
        "from_mujoco": sources.from_mujoco,
        "from_info": sources.from_info,
        "from_observation": sources.from_observation,
        "ActuatorEffort": ActuatorEffort,
        "JointLimitMargin": JointLimitMargin,
        "JointSpeed": JointSpeed,
    }
    built = [_source(each.source, words) for each in found.signals]
    reads = [
        (Signal(each.name, unit=each.unit, hold=each.hold), source)  # type: ignore[arg-type]
        for each, source in zip(found.signals, built, strict=True)
    ]
    adapted = AdaptedEnv(lambda: env, reads)
    for episode in range(EPISODES):
        adapted.action_space.seed(episode)
        adapted.reset(seed=episode)
        for _ in range(min(STEPS, found.horizon)):
            _see(found, adapted.signals)
            *_, terminated, truncated, _ = adapted.step(adapted.action_space.sample())
            _see(found, adapted.signals)
            if terminated or truncated:
                found.ends += bool(terminated)
                break
        found.episodes += 1


def _see(found: Detected, values: tuple[Any, ...]) -> None:
    for each, value in zip(found.signals, values, strict=True):
        each.see(float(value))


def _source(text: str, words: dict[str, Any]) -> Any:
    """The source that the drafted text stands for: calls of known words with literals only."""

    def build(node: ast.AST) -> Any:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            named = {str(word.arg): build(word.value) for word in node.keywords}
            return words[node.func.id](*(build(each) for each in node.args), **named)
        return ast.literal_eval(node)

    return build(ast.parse(text, mode="eval").body)
