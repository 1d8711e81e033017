"""Declare safety claims in Python, and judge an episode on them.

Run: python examples/01_first_claim.py
"""

import numpy as np

import safegym as sg

# Signals have names and units; comparing one with a number makes an atom.
fault = sg.Signal("fault", unit="1") >= 1.0
speed = sg.Signal("joint_speed", unit="rad/s")
drift = sg.Signal("lateral_velocity", unit="m/s")
force = sg.Signal("contact_force", unit="N")

# "After a fault the arm stops within 0.3 s and stays stopped for 1 s."
stops = sg.always(
    sg.rising(fault).implies(sg.eventually(sg.always(speed <= 0.01, lasting=1.0), within=0.3))
)
claims = [
    sg.Claim(id="arm.stop", hazard="H1", statement=stops),
    sg.Claim(id="base.drift", hazard="H2", statement=sg.always(abs(drift) <= 0.5)),
    # Probability claims speak of many episodes; one episode is judged on "never".
    sg.Claim(
        id="arm.collision",
        hazard="H3",
        statement=sg.prob(sg.eventually(force >= 1.0)) < 0.01,
        confidence=0.99,
    ),
]

# An episode of 4 s at 10 Hz: a fault at 1 s, the arm coasts for 0.5 s, then stops.
t = np.arange(41) * 0.1
trace = sg.Trace.from_arrays(
    {
        "fault": (t >= 1.0).astype(float),
        "joint_speed": np.where(t < 1.45, 0.8, 0.0),
        "lateral_velocity": 0.3 * np.sin(t),
        "contact_force": np.zeros_like(t),
    },
    dt="0.1",
    end="horizon",
)

for claim in claims:
    verdict = sg.check(claim, trace)
    print(f"{claim.id:14} {verdict.status:10}", end=" ")
    if verdict.robustness is not None:
        print(f"robustness {verdict.robustness.lo:+.3f}", end=" ")
    if verdict.witness is not None:
        print(f"at {verdict.witness.time:.1f} s, because of {verdict.witness.subformula}", end="")
    print()

assert [sg.check(claim, trace).status for claim in claims] == ["violated", "satisfied", "satisfied"]
assert sg.parse(str(stops), signals=[speed, sg.Signal("fault", unit="1")]) is stops
