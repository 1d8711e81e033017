"""The file that `safegym scenarios adapt` writes."""

import re
from collections.abc import Iterator
from math import isfinite, log10
from pathlib import Path

from safegym.errors import ScenarioError
from safegym.scenario.adapt.detect import Detected
from safegym.scenario.adapt.quoting import quoted

_HEAD = '''"""{env_id} as a scenario.

Drafted by `safegym scenarios adapt {env_id}`: signals were found by running {episodes} random
episodes, thresholds are what those reached. Go through the lines marked EDIT, then run this file.
"""

from functools import cache

import gymnasium as gym
{imports}import numpy as np

import safegym as sg
from safegym.scenario.adapt import (
{adapt}
)
{signals_import}from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Clock

NAME = "{name}"
HORIZON = {horizon}  # steps: {horizon_from}
DT = "{dt}"  # s: {dt_from}
{note}
'''
_TAIL = '''


def make_inner():
    """The environment as its authors make it."""
    return gym.make("{env_id}", disable_env_checker=True)


def make_env():
    """The same with the signals read."""
    return AdaptedEnv(make_inner, READS)


@cache
def actions():
    """The action space."""
    return make_inner().action_space


CLAIMS = (
{claims}
)


def still(observations):
    """EDIT: a policy that keeps every claim. This one gives the middle of the action space."""
    space = actions()
{still}


def wild(observations):
    """EDIT: a policy that breaks the claims. This one gives an end of the action space."""
    space = actions()
{wild}


def scenario():
    """The spec that the registry asks for."""
    return ScenarioSpec(
        name=NAME,
        summary="EDIT: what the robot does, in a sentence.",
        make_env=make_env,
        read_signals=read_adapted,
        signals=tuple(signal for signal, _ in READS),
        clock=Clock.parse(DT),
        horizon=HORIZON,
        claims=CLAIMS,
        terminals={{"terminated": "failed"}},  # EDIT: "absorbed" if terminating is the goal
        good=lambda: sg.ScriptedPolicy(f"{{NAME}}.still", still),
        bad={{claim.id: lambda: sg.ScriptedPolicy(f"{{NAME}}.wild", wild) for claim in CLAIMS}},
        physics={physics},
    )


SCENARIOS = {{NAME: scenario}}
"""Name this mapping in pyproject.toml: [project.entry-points."safegym.scenarios"]."""

if __name__ == "__main__":
    issues = conformance_issues(scenario())
    print("\\n".join(issues) or f"{{NAME}} conforms")
'''
_DISCRETE = "    return np.full(len(observations), space.start + {value})"
_BOX = """    low, high = np.maximum(space.low, -1e3), np.minimum(space.high, 1e3)
    return np.tile({value}, (len(observations), *(1,) * low.ndim)).astype(space.dtype)"""


def draft_scenario(found: Detected, path: Path, *, discrete: bool, distributions: list[str]) -> str:
    """Writes the file and returns its text.

    discrete: whether actions are whole numbers. distributions: what has to be installed, for the
    digest. Raises ScenarioError as `refuse_unwritable`.
    """
    refuse_unwritable(path)
    text = _text(found, discrete, distributions)
    path.write_text(text, encoding="utf-8")
    return text


def refuse_unwritable(path: Path) -> None:
    """Raises ScenarioError for a file that is there already, or whose folder is not."""
    if path.exists():
        raise ScenarioError(f"{path} is there already; give another --out, or remove it.")
    if not path.parent.is_dir():
        raise ScenarioError(f"The folder {path.parent} is not there; create it first.")


def _text(found: Detected, discrete: bool, distributions: list[str]) -> str:
    words = [
        word for word in ("from_info", "from_mujoco", "from_observation") if _uses(found, word)
    ]
    adapt = ["AdaptedEnv", "conformance_issues", *words, "read_adapted"]
    readers = [w for w in ("ActuatorEffort", "JointLimitMargin", "JointSpeed") if _uses(found, w)]
    head = _HEAD.format(
        env_id=found.env_id,
        episodes=found.episodes,
        imports=_imports(found.env_id, distributions),
        adapt="\n".join(f"    {word}," for word in adapt),
        signals_import=(
            f"from safegym.scenario.signals import {', '.join(readers)}\n" if readers else ""
        ),
        name=scenario_name(found.env_id),
        horizon=found.horizon,
        horizon_from=found.horizon_from,
        dt=found.dt,
        dt_from=found.dt_from,
        note="".join(f"# NOTE {note}\n" for note in found.notes),
    )
    still, wild = (_DISCRETE.format(value=v) for v in ("0", "space.n - 1"))
    if not discrete:
        still, wild = _BOX.format(value="(low + high) / 2"), _BOX.format(value="high")
    tail = _TAIL.format(
        env_id=found.env_id,
        claims="\n".join(_claims(found)),
        still=still,
        wild=wild,
        physics=quoted(tuple(distributions)),
    )
    return head + "\n".join(_reads(found)) + tail


def _uses(found: Detected, word: str) -> bool:
    return any(word in each.source for each in found.signals)


def _imports(env_id: str, distributions: list[str]) -> str:
    """`gym.make("module:Env-v0")` imports the module itself."""
    return "" if ":" in env_id else _module_of(distributions)


def _module_of(distributions: list[str]) -> str:
    known = {
        "highway-env": "highway_env",
        "gymnasium-robotics": "gymnasium_robotics",
        "metaworld": "metaworld",
    }
    return "".join(
        f"import {known[name]}  # noqa: F401 (registers its environments)\n"
        for name in distributions
        if name in known
    )


def scenario_name(env_id: str) -> str:
    """The name that a scenario of this environment gets, such as adapted/hopper-v5."""
    plain = re.sub(r"[^a-z0-9]+", "-", env_id.rpartition(":")[2].lower()).strip("-")
    return f"adapted/{plain}" if re.search(r"-v[0-9]+$", plain) else f"adapted/{plain}-v0"


def _reads(found: Detected) -> Iterator[str]:
    """One declared signal and its source a line."""
    for each in found.signals:
        scale = rounded(max(abs(each.low), abs(each.high)) or 1.0)
        hold = "" if each.hold == "sample" else f', hold="{each.hold}"'
        yield f"# {each.meaning}; seen from {each.low:.4g} to {each.high:.4g}"
        name = f'"{each.name}", unit="{each.unit}"'
        yield f"{each.name.upper()} = sg.Signal({name}, scale={scale:g}{hold})"
    yield "READS = ("
    for each in found.signals:
        yield f"    ({each.name.upper()}, {each.source}),"
    yield ")"


def _claims(found: Detected) -> Iterator[str]:
    """A claim on the signals that most likely matter, at what random actions reached."""
    chosen = [each for each in found.signals if isfinite(each.low) and each.low < each.high]
    for each in (chosen or found.signals)[:2]:
        upper = each.hold != "min" and each.name != "joint_limit_margin"
        bound = rounded(each.high if upper else each.low)
        relation = "<=" if upper else ">="
        yield "    sg.Claim("
        yield f'        id="adapted.{each.name}",'
        yield f"        statement=sg.always({each.name.upper()} {relation} {bound:g}),"
        yield '        hazard="EDIT: what happens to people or the machine beyond this",'
        yield (
            f'        source="EDIT: chosen, about what random actions reached ({each.low:.4g} to '
            f'{each.high:.4g})",'
        )
        yield "    ),"


def rounded(value: float) -> float:
    """Two significant digits; 1 for what is not a number."""
    if not isfinite(value) or value == 0.0:
        return 0.0 if value == 0.0 else 1.0
    return round(value, 1 - int(log10(abs(value)) // 1))
