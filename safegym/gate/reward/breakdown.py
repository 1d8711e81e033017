"""What each term of a reward paid in a recorded episode, worked out from its trace."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.errors import ScenarioError
from safegym.scenario.reward import Row, Step
from safegym.scenario.reward_terms import EnvironmentReward
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Trace

_UNDECLARED = "undeclared terminal: "


def breakdown(spec: ScenarioSpec, trace: Trace) -> dict[str, NDArray[np.float64]]:
    """Returns term name -> what it paid at each step, shape (T,), in units of reward.

    A trace holds the sum alone; the terms are computed again from its signals and actions, and the
    environment's own reward is what is left. Raises ScenarioError where the scenario declares no
    reward or the trace is another scenario's.
    """
    reward = spec.reward
    if reward is None:
        raise ScenarioError(
            f"{spec.name} declares no reward: dataclasses.replace(spec, reward=Reward(...)) does."
        )
    if trace.scenario_digest != spec.digest:
        raise ScenarioError(
            f"The trace is of scenario {trace.scenario_digest or '(none)'}, and {spec.name} with "
            f"this reward is {spec.digest}."
        )
    own = {t.name: t.weight for t in reward.terms if isinstance(t, EnvironmentReward)}
    others = {name: m for name, m in reward.meters(spec).items() if name not in own}
    rows, steps = _rows(spec, trace), len(trace.rewards)
    for meter in others.values():
        meter.begin(rows[0])
    table = {name: np.zeros(steps) for name in (term.name for term in reward.terms)}
    for number in range(steps):
        step = _step(trace, rows, number)
        for name, meter in others.items():
            table[name][number] = meter.pay(step)
    total = sum(own.values())
    rest = np.asarray(trace.rewards) - sum(table[name] for name in others)
    for name, weight in own.items():
        table[name] = rest * (weight / total) if total else table[name]
    return table


def _rows(spec: ScenarioSpec, trace: Trace) -> list[Row]:
    columns = [trace.signals[signal.name] for signal in spec.signals]
    return [tuple(column[at] for column in columns) for at in range(len(trace.rewards) + 1)]


def _step(trace: Trace, rows: list[Row], number: int) -> Step:
    last = number + 1 == len(trace.rewards)
    kind, reason = trace.end.kind, trace.end.reason
    undeclared = kind == "interrupted" and reason.startswith(_UNDECLARED)
    over = last and (kind in ("absorbed", "failed") or undeclared)
    words = reason.removeprefix(_UNDECLARED) if over else ""
    action: Any = trace.actions[number]
    return Step(rows[number + 1], action, 0.0, over, kind if over else "", words)
