"""Why a verdict came out as it did: in words, and as a picture.

Run: python examples/07_why_a_verdict.py
"""

import numpy as np

import safegym as sg

fault = sg.Signal("fault_active") >= 1
speed = sg.Signal("joint_speed_norm", unit="rad/s") <= 0.01
STOP = sg.Claim(
    id="arm.stop",
    statement=sg.always(sg.rising(fault).implies(sg.eventually(speed, within="0.3"))),
)

# A fault at 3.2 s; the arm brakes, but not fast enough.
t = np.arange(251) * 0.02
episode = sg.Trace.from_arrays(
    {
        "fault_active": (t >= 3.2).astype(float),
        "joint_speed_norm": 0.8 * np.exp(-6.5 * np.maximum(t - 3.2, 0.0)),
    },
    dt="0.02",
    end="horizon",
)

verdict = sg.check(STOP, episode)
why = verdict.explain()
print(why)
why.save("why.svg")  # the picture; why.plot() draws it with matplotlib

# The same as data: what was due, by when, and what came nearest.
(duty,) = verdict.obligations
assert duty.nearest is not None
print(f"{duty.duty} was due by {duty.deadline} s; nearest: {duty.nearest.values}")
assert (duty.time, duty.deadline, duty.nearest.time) == (3.2, 3.5, 3.5)
