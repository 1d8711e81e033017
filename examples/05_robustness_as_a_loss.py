"""Train a policy through a differentiable simulator, with robustness as the loss.

A point mass must reach a goal within 5 s and keep clear of an obstacle on the way. The margin of
that formula is differentiable, so its gradient flows through the simulator into the policy. At
the end the monitor, which knows nothing of gradients, judges fresh episodes.

Run: python examples/05_robustness_as_a_loss.py
"""

from collections.abc import Sequence

import torch

import safegym as sg
from safegym.check.gradient import DifferentiableMonitor
from safegym.formula.functions import norm

DT, STEPS = "0.1", 60
p = sg.Signal("position", unit="m", shape=(2,))
clear = norm(p[0], p[1]) > 1.0
at_goal = norm(p[0] - 2.0, p[1] - 2.0) < 0.3
claim = sg.Claim(id="point.reach", statement=clear.until(at_goal, within=5) & sg.always(clear))

torch.manual_seed(0)
torch.set_num_threads(1)
policy = torch.nn.Sequential(
    torch.nn.Linear(4, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2), torch.nn.Tanh()
)


def episodes(count: int) -> torch.Tensor:
    """Positions (count, STEPS + 1, 2) from random starts near (-2, -2), at rest."""
    position = -2.0 + 0.5 * (torch.rand(count, 2) - 0.5)
    speed, seen = torch.zeros_like(position), [position]
    for _ in range(STEPS):
        force = 2.0 * policy(torch.cat((seen[-1], speed), -1))
        speed = speed + 0.1 * force
        seen.append(seen[-1] + 0.1 * speed)
    return torch.stack(seen, 1)


def judged(positions: torch.Tensor) -> Sequence[str]:
    """The monitor's verdict on each episode."""
    rows = positions.detach().double().numpy()
    traces = [sg.Trace.from_arrays({"position": row}, dt=DT, horizon=STEPS) for row in rows]
    return [sg.check(claim, trace).status for trace in traces]


# Smooth margins look at all samples, not only at the deciding one, and never above the exact
# margin: lo > 0 means satisfied. Colder is closer: the bound is proportional to the temperature.
monitor = DifferentiableMonitor(claim, DT, horizon=STEPS, smooth=0.02, at="start")
print(f"smooth margins are at most {monitor.bound(STEPS + 1):.2f} m below the exact ones")
before = judged(episodes(50)).count("satisfied")

optimiser = torch.optim.Adam(policy.parameters(), lr=0.01)
for step in range(150):
    low = monitor.lower({"position": episodes(32)})
    loss = (0.05 - low).clamp(min=0).mean()  # enough is enough: no reward beyond 5 cm
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    if step % 30 == 0:
        print(f"step {step:3d}: margin {low.mean():+.3f} m, shown safe {(low > 0).sum()}/32")

after = judged(episodes(50)).count("satisfied")
print(f"fresh episodes that satisfy the claim: {before}/50 before, {after}/50 after")
assert before == 0
assert after >= 45
