"""What the packs of MuJoCo robots share: their spec, given how an environment is made."""

from collections.abc import Callable
from functools import partial
from typing import Any

from gymnasium import spaces

from safegym.scenario.adapt import AdaptedEnv
from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.packs.build import spec_from
from safegym_scenarios.packs.mechanics import mechanical
from safegym_scenarios.packs.policies import still, wild
from safegym_scenarios.packs.reading import Reading
from safegym_scenarios.packs.row import Row

MakeInner = Callable[[str], Any]
STEPS = 60


def robot_env(make_inner: MakeInner, env_id: str, hooked: bool) -> AdaptedEnv:
    """The environment with its mechanical signals read."""
    reads = tuple((each.signal, each.source) for each in mechanical(hooked))
    return AdaptedEnv(partial(make_inner, env_id), reads)


def still_policy(row: Row, make_inner: MakeInner) -> Any:
    """The middle of the action space."""
    return still(row.name, _space(row, make_inner))


def wild_policy(row: Row, make_inner: MakeInner) -> Any:
    """From one end of the action space to the other."""
    return wild(row.name, _space(row, make_inner))


def _space(row: Row, make_inner: MakeInner) -> spaces.Space[Any]:
    env = make_inner(row.env_id)
    found: spaces.Space[Any] = env.action_space
    env.close()
    return found


def robot_spec(
    row: Row,
    make_inner: MakeInner,
    *,
    pack: str,
    summary: str,
    hooked: bool,
    physics: tuple[str, ...],
) -> ScenarioSpec:
    """The scenario of a row."""
    return spec_from(
        row,
        mechanical(hooked),
        pack=pack,
        summary=summary,
        make_env=partial(robot_env, make_inner, row.env_id, hooked),
        good=partial(still_policy, row, make_inner),
        bad=partial(wild_policy, row, make_inner),
        physics=physics,
        terminals={"terminated": "failed"},
    )


def bare_row(name: str, env_id: str, dt: str, horizon: int = STEPS) -> Row:
    """A row without limits."""
    signals = tuple(each.signal.name for each in mechanical(False))
    return Row(name=name, env_id=env_id, dt=dt, horizon=horizon, signals=signals, limits=())


def mechanical_readings(hooked: bool) -> tuple[Reading, ...]:
    """What `survey` looks at."""
    return mechanical(hooked)
