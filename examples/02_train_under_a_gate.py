"""Train a policy with verification-gated early stopping.

PPO learns to balance a pole. After each epoch the gate screens the policy on fresh episodes;
the first policy that passes is frozen, certified on episodes nobody has seen, and released.
Failing episodes lower rewards at the step that settled the violation, and their starts are
replayed.

Run: python examples/02_train_under_a_gate.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

import safegym as sg
from safegym.gate.events import AttemptClosed, AttemptStarted, ScreenDone

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp()) / "run"

angle = sg.Signal("pole_angle", unit="rad")
position = sg.Signal("cart_position", unit="m")
claims = (
    sg.Claim(
        id="pole.upright",
        hazard="the pole falls",
        statement=sg.prob(sg.always(abs(angle) <= 0.2095)) >= 0.9,
        confidence=0.95,
    ),
    sg.Claim(
        id="cart.on_track",
        hazard="the cart leaves the track",
        statement=sg.prob(sg.eventually(abs(position) > 2.4)) < 0.1,
        confidence=0.95,
    ),
)
plan = sg.GatePlan(gate_every=8_192, screen_episodes=60, cap=400)


def tell(event: object) -> None:
    """Print what the gate says; everything it saw is in the log."""
    match event:
        case ScreenDone():
            word = "passed" if event.passed else "not passed"
            print(f"  epoch {event.epoch}: screen {word}: {event.violations}")
        case AttemptStarted():
            print(f"  attempt {event.attempt}: {event.clean} clean episodes would certify")
        case AttemptClosed():
            print(f"  attempt {event.attempt}: {event.outcome} {'; '.join(event.reasons)}")


run = sg.train(
    "classic/cartpole-v0",
    steps=81_920,
    gate=sg.Gate(claims=claims, plan=plan),
    out=folder,
    listener=tell,
)

print(f"{run.status} after {run.steps} steps: {'; '.join(run.reasons)}")
for item in run.evidence:
    side = "at most" if item.side == "upper" else "at least"
    print(
        f"{item.claim_id}: {item.status}, {item.kind} at {item.confidence:.3f} confidence: "
        f"{side} {item.bound:.4f} ({item.violations} of {item.episodes} episodes failed)"
    )
print(f"audit trail: {run.folder}")
assert run.status in ("promoted", "finished")
