"""Prove what a network does on every observation of a region, and find where it does not.

A controller that brakes in front of an obstacle is a small ReLU network. It never brakes late: that
is proved for every distance and speed, as the deployed program computes it. A stricter claim fails,
and the proof shows where.

Run: python examples/09_prove_a_policy.py [FOLDER]     (FOLDER: save the policy there)
"""

import sys

import numpy as np
from gymnasium import spaces

import safegym as sg
from safegym.check.neural.proof import monotone, prove
from safegym.policy.network import Layer, NetworkPolicy

# The distance needed from speed v at 4 m/s^2 is v^2 / 8; between its values at 0, 5, 10 ... 30 m/s
# the network goes straight. It begins to brake 10 m before that and brakes fully 5 m before it.
corners = np.arange(0.0, 30.0, 5.0)
needed = np.diff(np.arange(0.0, 31.0, 5.0) ** 2 / 8) / 5.0  # slope of each straight piece
rises = np.diff(needed, prepend=0.0)
first = [[1, 0], *[[0, 1]] * 6]  # the distance, and the speed for each corner
hidden = Layer(np.array(first, np.float32), np.array([0, *-corners], np.float32), "relu")
last = np.array([[-1, *rises]], np.float32) / np.float32(5)
brake = Layer(last, np.array([2], np.float32))
policy = NetworkPolicy(
    [hidden, brake],
    observation_space=spaces.Box(np.array([0, 0], np.float32), np.array([200, 30], np.float32)),
    action_space=spaces.Box(0.0, 1.0, (1,)),
    name="braking",
)

# Observations and actions are called obs[i] and action[i]; fields give them names.
fields = {"distance": "obs[0]", "speed": "obs[1]", "brake": "action[0]"}
claims = {
    "brake.in-time": "always(distance <= speed * speed / 8 + 5 implies brake >= 0.99)",
    "brake.not-early": "always(distance >= speed * speed / 8 + 11 implies brake <= 0.01)",
    "brake.sharp": "always(distance >= speed * speed / 8 + 10.2 implies brake <= 0.05)",
}
found = {}
for name, text in claims.items():
    proof = prove(policy, sg.Claim(id=name, statement=sg.parse(text)), fields=fields)
    found[name] = proof.result
    print(f"{name:16} {proof.result:9} {proof.boxes:4} boxes, {proof.seconds:.2f} s")
    if proof.witness is not None:
        distance, speed = proof.witness.observation
        print(
            f"  at {distance:.1f} m, {speed:.1f} m/s it brakes with {proof.witness.action[0]:.3f}"
        )

# Ready properties need no formula: braking never falls by 0.01 where only the speed rises.
rising = prove(policy, monotone("speed", 0, tolerance=0.01), fields=fields)
print(f"{'brake.rises':16} {rising.result}")
print("Evidence:", prove(policy, claims["brake.in-time"], fields=fields).evidence())

assert found == {
    "brake.in-time": "PROVED",
    "brake.not-early": "PROVED",
    "brake.sharp": "VIOLATED",
}
assert rising.result == "PROVED"
if len(sys.argv) > 1:
    print("saved", policy.save(sys.argv[1])[:19])
