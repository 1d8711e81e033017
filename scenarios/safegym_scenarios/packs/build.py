"""From a row of a table and a pack's readings to a scenario."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium as gym

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.policy.base import Policy
from safegym.scenario.adapt import read_adapted
from safegym.scenario.spec import ScenarioSpec, TerminalKind
from safegym.trace.model import Clock
from safegym_scenarios.packs.reading import Reading
from safegym_scenarios.packs.row import Limit, Row


def flat(env: Any) -> Any:
    """The environment with a vector to observe, where it gives a dictionary."""
    if isinstance(env.observation_space, gym.spaces.Dict):
        return gym.wrappers.FlattenObservation(env)
    return env


def spec_from(
    row: Row,
    readings: Sequence[Reading],
    *,
    pack: str,
    summary: str,
    make_env: Callable[[], Any],
    good: Callable[[], Policy],
    bad: Callable[[], Policy],
    physics: tuple[str, ...],
    terminals: Mapping[str, TerminalKind],
) -> ScenarioSpec:
    """The scenario of one row; its claims are its limits."""
    by_name = {each.signal.name: each for each in readings}
    claims = tuple(_claim(pack, by_name[limit.signal], limit) for limit in row.limits)
    return ScenarioSpec(
        name=row.name,
        summary=summary,
        make_env=make_env,
        read_signals=read_adapted,
        signals=tuple(each.signal for each in readings),
        clock=Clock.parse(row.dt),
        horizon=row.horizon,
        claims=claims,
        terminals=terminals,
        good=good,
        bad={claim.id: bad for claim in claims},
        physics=physics,
        can_run_tail=False,
    )


def _claim(pack: str, reading: Reading, limit: Limit) -> Claim:
    signal = reading.signal
    statement = always(signal <= limit.limit if limit.safe == "low" else signal >= limit.limit)
    return Claim(
        id=f"{pack}.{signal.name}",
        statement=statement,
        hazard=reading.hazard,
        source=(
            f"chosen between the worst of the good policy, {limit.good:.4g} {signal.unit}, and of "
            f"the bad one, {limit.bad:.4g} {signal.unit}, over ten seeds"
        ),
    )
