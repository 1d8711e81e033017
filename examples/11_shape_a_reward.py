"""Declare a scenario's reward from terms, guide it by a potential, and see what each term pays.

The mountain car is paid -1 a step until it reaches the flag, which it never does by chance. A
potential, the car's energy, guides it there and changes nothing about which policy is best. A
claim is paid for too: it costs when it is broken. Training begins with half of the horizon.

Run: python examples/11_shape_a_reward.py [FOLDER]
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import safegym as sg
from safegym.formula.functions import quantity, sin
from safegym.gate.reward import (
    Curriculum,
    EnvironmentReward,
    Potential,
    Reward,
    Stage,
    breakdown,
    claim_reward,
)
from safegym.gate.trainer.events import EpochEnded
from safegym.gate.trainer.settings import TrainSettings
from safegym.scenario.registry import find

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp()) / "run"
plain = find("classic/mountain-car-v0")
signals = {signal.name: signal for signal in plain.signals}
claims = {claim.id: claim for claim in plain.claims}
position, velocity = signals["position"], signals["velocity"]

height = sin(position * quantity(3.0, "rad/m")) * quantity(0.0025 / 3, "m^2/s^2")
reward = Reward(
    (
        EnvironmentReward(),
        Potential("energy", velocity * velocity * 0.5 + height, weight=40_000.0),
        *claim_reward(claims["mountain_car.buffer"], broken=-5.0, guidance=0.0),
    ),
    gamma=0.99,
)
shaped = replace(plain, reward=reward)
print(f"another reward, another scenario: {plain.digest[:19]} and {shaped.digest[:19]}")

assert plain.good is not None
trace = sg.record(shaped, plain.good(), seed=1)
paid = {name: round(float(values.sum()), 1) for name, values in breakdown(shaped, trace).items()}
print(f"the scripted driver's {len(trace.rewards)} steps: {paid}")

settings = TrainSettings(
    steps=32_768,
    normalise=True,
    gamma=0.99,
    curriculum=Curriculum((Stage(until=0.3, horizon=0.5),)),
)
plan = sg.GatePlan(gate_every=8_192, screen_episodes=20, cap=400)
gate = sg.Gate(claims=(claims["mountain_car.flag"],), plan=plan)


def tell(event: object) -> None:
    """Print what each term paid."""
    if isinstance(event, EpochEnded):
        terms = {term: round(mean, 1) for term, mean in event.terms.items()}
        print(f"epoch {event.epoch}, stage {event.stage}: a term pays an episode {terms}")


run = sg.train(shaped, gate=gate, settings=settings, out=folder, listener=tell)
print(f"{run.status} after {run.steps} steps: {'; '.join(run.reasons)}")
for item in run.evidence:
    print(item)
assert run.status == "promoted", run
