"""Climbing the gradient: trajectories and policies that violate a formula come to satisfy it."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from safegym.check.dispatch import check
from safegym.check.gradient import DifferentiableMonitor
from safegym.formula.build import always
from safegym.formula.functions import norm
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal
from safegym.trace.model import Trace

DT, STEPS = "0.1", 60
P = Signal("p", unit="m", shape=(2,))
CLEAR = norm(P[0], P[1]) > 1.0
AT_GOAL = norm(P[0] - 2.0, P[1] - 2.0) < 0.3
REACH = CLEAR.until(AT_GOAL, within=5) & always(CLEAR)
"""Reach (2, 2) within 5 s, and keep 1 m clear of the origin, which lies on the way."""


def start(rows: int, seed: int) -> Tensor:
    draw = torch.Generator().manual_seed(seed)
    return -2.0 + 0.5 * torch.rand(rows, 2, generator=draw, dtype=torch.float64) - 0.25


def driven(position: Tensor, accelerations: Tensor) -> dict[str, Tensor]:
    """A double integrator from rest; accelerations (rows, STEPS, 2) in m/s^2."""
    speed, seen = torch.zeros_like(position), [position]
    for k in range(STEPS):
        speed = speed + 0.1 * accelerations[:, k]
        seen.append(seen[-1] + 0.1 * speed)
    return {"p": torch.stack(seen, 1)}


def verdicts(formula: Formula, signals: dict[str, Tensor]) -> list[str]:
    """Judged by the monitor, each row on its own."""
    return [
        check(formula, Trace.from_arrays({"p": row}, dt=DT, horizon=STEPS)).status
        for row in signals["p"].detach().numpy()
    ]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_gradient_ascent_repairs_violating_trajectories_from_random_starts(seed: int) -> None:
    rows = 12
    draw = torch.Generator().manual_seed(seed)
    plan = (0.3 * torch.randn(rows, STEPS, 2, generator=draw, dtype=torch.float64)).requires_grad_()
    position = start(rows, seed)
    assert verdicts(REACH, driven(position, 2 * torch.tanh(plan))) == ["violated"] * rows
    monitor = DifferentiableMonitor(REACH, DT, horizon=STEPS, smooth=0.02, at="start")
    climber = torch.optim.Adam([plan], lr=0.1)
    for _ in range(400):
        low = monitor.lower(driven(position, 2 * torch.tanh(plan)))
        if bool((low > 0).all()):
            break
        climber.zero_grad()
        (-low.clamp(max=0.02)).sum().backward()
        climber.step()
    assert bool((low > 0).all())
    assert verdicts(REACH, driven(position, 2 * torch.tanh(plan))) == ["satisfied"] * rows


def test_a_policy_learns_to_satisfy_a_formula_from_starts_it_never_saw() -> None:
    torch.manual_seed(0)
    policy = torch.nn.Sequential(
        torch.nn.Linear(4, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2), torch.nn.Tanh()
    ).double()

    def rolled(position: Tensor) -> dict[str, Tensor]:
        speed, seen = torch.zeros_like(position), [position]
        for _ in range(STEPS):
            force = 2 * policy(torch.cat((seen[-1], speed), -1))
            speed = speed + 0.1 * force
            seen.append(seen[-1] + 0.1 * speed)
        return {"p": torch.stack(seen, 1)}

    fresh = start(40, 99)
    assert "satisfied" not in verdicts(REACH, rolled(fresh))
    monitor = DifferentiableMonitor(REACH, DT, horizon=STEPS, smooth=0.02, at="start")
    climber = torch.optim.Adam(policy.parameters(), lr=0.01)
    for step in range(150):
        loss = (0.05 - monitor.lower(rolled(start(32, step)))).clamp(min=0).mean()
        climber.zero_grad()
        loss.backward()
        climber.step()
    assert verdicts(REACH, rolled(fresh)).count("satisfied") >= 38


def test_the_lines_of_the_how_to_page_run() -> None:
    page = Path(__file__).parents[3] / "docs" / "how-to" / "robustness-as-a-loss.md"
    first, second = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(first, names)
    assert names["lo"].shape == names["hi"].shape == (64, 101)
    assert bool(torch.isfinite(names["x"].grad).all())
    names |= {"c": 0.5, "signals": {"x": names["x"]}, "dt": "0.1"}
    exec(second, names)
    assert names["loss"].shape == (64,)
