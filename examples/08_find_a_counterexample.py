"""Find an episode that violates a claim, make it small, and run it again bit for bit.

Run: python examples/08_find_a_counterexample.py
"""

import json
from pathlib import Path

import safegym as sg
from safegym.check.falsify import read_finds
from safegym.gate.falsifying import falsify
from safegym.scenario.registry import find

# A driver that stops before the line in gusts and on slopes; but does it always brake gently?
scenario = find("classic/braking-v0")
assert scenario.good is not None
driver = scenario.good()

result = falsify(scenario, driver, "braking.gentle", faults=False, budget=300, seed=1)
for method in result.methods:
    best = "" if method.best is None else f", least margin {method.best:.3f}"
    first = "" if method.first is None else f", first counterexample at episode {method.first}"
    print(f"{method.name:10} {method.episodes:4} episodes{best}{first}")
print(result)

# `if result:` is refused: finding nothing would not show that the claim holds.
assert result.finds, "no counterexample found; this shows nothing about the probability"
found = result.finds[0]
for component in found.components:
    print("  ", component)
print(found.why)

# It is the same episode whenever and wherever it is run again.
trace = found.replay()
assert trace.digest == found.trace_digest
claim = next(each for each in scenario.claims if each.id == found.claim_id)
assert sg.check(claim, trace).status == "violated"

# Kept as JSON; read back, it replays with the policy it was found with, and with no other.
Path("finds.json").write_text(json.dumps(result.to_json()), encoding="utf-8")
(again,) = read_finds("finds.json")
assert again.replay(driver).digest == found.trace_digest

# Harmless weather: the same search, with the wind kept small.
calm = {each.name: each.neutral for each in scenario.disturbances}
print(falsify(scenario, driver, "braking.gentle", faults=False, where=calm, budget=60))
