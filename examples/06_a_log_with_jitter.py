"""Judge a log of a real robot: jittered stamps, two sensors, and a hole that is not papered over.

Run: python examples/06_a_log_with_jitter.py
"""

import numpy as np

import safegym as sg

# Ten seconds of a log: odometry at about 50 Hz, a contact sensor at about 200 Hz. Stamps jitter,
# and the odometry fell silent between 6.2 s and 6.9 s.
draw = np.random.default_rng(5)
odometry = np.arange(0.0, 10.0, 0.02)
odometry = odometry[(odometry < 6.2) | (odometry > 6.9)]
odometry = odometry + draw.uniform(-0.004, 0.004, odometry.size)
speed = 0.4 + 0.1 * np.sin(odometry)
contact = np.arange(0.0, 10.0, 0.005) + draw.uniform(-0.001, 0.001, 2000)
force = np.zeros(contact.size)
force[700:702] = 3.0  # a knock of 10 ms at 3.5 s, shorter than a step of the clock

# Irregular stamps are refused until a rule says how they become samples.
try:
    sg.Trace.from_arrays({"speed": speed}, dt="0.02", times=odometry)
except sg.TraceError as error:
    print(f"refused: {error}\n")

# The rule: the line between neighbours for speed, the last value for force; a force sample stands
# for the largest since the sample before, so that the knock is kept. Between samples of speed more
# than 60 ms apart nothing is known.
trace = sg.Trace.from_stamps(
    {"speed": (odometry, speed), "contact_force": (contact, force)},
    dt="0.02",
    rule={"speed": "linear", "contact_force": "hold"},
    between={"speed": "sample", "contact_force": "max"},
    longest_gap={"speed": "0.06", "contact_force": "0.02"},
    units={"speed": "m/s", "contact_force": "N"},
    end="cut",
)
print(f"gaps, in samples: {dict(trace.unseen)}\n")

v = sg.Signal("speed", unit="m/s")
f = sg.Signal("contact_force", unit="N")
claims = {
    "no knock": sg.never(f >= 1.0),
    "no crash": sg.never(f >= 10.0),
    "slow at all times": sg.always(v <= 0.6),
    "slow in the first six seconds": sg.always(v <= 0.6, lasting=6.0),
    "very slow at all times": sg.always(v <= 0.45),
}
found = {}
for text, claim in claims.items():
    verdict = sg.check(claim, trace)
    found[text] = verdict.status
    print(f"{text}: {verdict.status}", *verdict.notes, sep="\n    ")

# The knock was seen, and the contact sensor had no hole. How fast the robot was in the hole of the
# odometry nobody knows, and no verdict pretends otherwise: only a limit that was broken outside of
# it is broken whatever happened there.
assert found == {
    "no knock": "violated",
    "no crash": "satisfied",
    "slow at all times": "inconclusive",
    "slow in the first six seconds": "satisfied",
    "very slow at all times": "violated",
}
