"""What a model-based shield costs a decision, on the ready models.

    python -m benchmarks.proving.shield

Milliseconds of processor time: median over states drawn in the set, actions drawn in their limits.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from safegym_scenarios.models import cartpole, cruise, double_integrator, find_model, pendulum

from safegym.check.loop.shield import ModelShield

CASES: tuple[tuple[str, Any, Any, list[float]], ...] = (
    (
        "double-integrator",
        abs(double_integrator.POSITION) <= 1.0,
        double_integrator.SET,
        [0.4, 0.8],
    ),
    ("pendulum", abs(pendulum.ANGLE) <= 0.25, pendulum.SET, [0.1, 0.8]),
    ("cruise", cruise.GAP >= 12.0, cruise.SET, [3.0, 4.0, 3.0]),
    ("cart-pole", abs(cartpole.POLE) <= 0.2, None, [0.5, 0.5, 0.2, 1.0]),
)


def decisions(shield: ModelShield, spread: list[float], count: int) -> tuple[list[float], float]:
    """Milliseconds of each decision, and the share that passed."""
    rng, model = np.random.default_rng(0), shield.model
    middle = np.array([20.0 if s.name == "speed_ahead" else 0.0 for s in model.states])
    low, high = np.array([signal.bounds for signal in model.actions], float).T
    took: list[float] = []
    passed = 0
    for _ in range(count):
        state, action = middle + rng.uniform(-1, 1, len(spread)) * spread, rng.uniform(low, high)
        began = time.process_time()
        passed += shield.check(state, action).allowed
        took.append((time.process_time() - began) * 1e3)
    return took, passed / count


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    """A row a model and horizon."""
    for name, claim, inside, spread in CASES:
        model = find_model(name)
        for steps, count in ((1, 100), (3, 10)) if quick else ((1, 500), (3, 50)):
            shield = ModelShield(model.dynamics, claim, model.policy(), inside=inside, steps=steps)
            took, share = decisions(shield, spread, count)
            yield {
                "model": name,
                "steps": steps,
                "decisions": count,
                "median CPU ms": float(np.median(took)),
                "99 % CPU ms": float(np.quantile(took, 0.99)),
                "passed": share,
            }


def measure(quick: bool, say: Callable[[str], None]) -> dict[str, Any]:
    """What a decision costs; there is no bar."""
    found: dict[str, Any] = {}
    for row in rows(quick):
        found[f"{row['model']}, {row['steps']} steps"] = row
        say(
            f"shield of {row['model']:18} {row['steps']} steps: {row['median CPU ms']:6.2f} ms a "
            f"decision, 99 % below {row['99 % CPU ms']:.2f} ms, {row['passed']:.0%} passed"
        )
    return {"figures": {"shield": found}}


def main() -> None:
    """Prints one row a model and horizon."""
    for row in rows(quick=False):
        print(
            f"| {row['model']} | {row['steps']} | {row['median CPU ms']:.2f} "
            f"| {row['99 % CPU ms']:.2f} | {row['passed']:.0%} |"
        )


if __name__ == "__main__":
    main()
