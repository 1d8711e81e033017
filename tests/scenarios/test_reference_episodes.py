"""Without options an episode is what it was before scenarios took faults and disturbances.

reference_episodes.json holds digests of signals, actions, rewards and ends from then. Where the
physics library or the machine's arithmetic differs, bits may; then the means must agree.
"""

import hashlib
import json
import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from numpy._core import _multiarray_umath

from safegym.scenario.record import record
from safegym.scenario.registry import find

DOCUMENT = json.loads((Path(__file__).parent / "reference_episodes.json").read_text())
FEATURES = getattr(_multiarray_umath, "__cpu_features__", {})
SAME_MACHINE = DOCUMENT["made_with"] == {
    **{name: version(name) for name in ("mujoco", "gymnasium", "numpy")},
    "libc": " ".join(platform.libc_ver()),
    "machine": platform.machine(),
    "simd": " ".join(n for n in ("FMA3", "AVX2", "AVX512F", "AVX512_SKX") if FEATURES.get(n)),
}
EPISODES = DOCUMENT["episodes"]


def key(episode):
    return "{scenario} {policy} {seed}".format(**episode)


def content(trace, names):
    """A digest of what happened, without scenario and policy, whose digests have changed."""
    hasher = hashlib.sha256()
    for name in names:
        hasher.update(name.encode())
        hasher.update(np.ascontiguousarray(trace.signals[name]).tobytes())
    for values in (trace.actions, trace.rewards):
        hasher.update(np.ascontiguousarray(values).tobytes())
    hasher.update(repr((trace.end.kind, str(trace.end.time), trace.end.reason)).encode())
    return hasher.hexdigest()


def agrees(episode):
    spec = find(episode["scenario"])
    which = episode["policy"]
    trace = record(spec, (spec.good if which == "good" else spec.bad[which])(), episode["seed"])
    told = {name: trace.parameters[name] for name in episode.get("parameters", {})}
    assert told == episode.get("parameters", {})
    assert trace.disturbance_seed == episode["disturbance_seed"]
    faults = {fault.name: fault.resting for fault in spec.faults}
    assert {name: trace.parameters[name] for name in faults} == faults
    if SAME_MACHINE:
        assert content(trace, episode["mean"]) == episode["digest"]
    else:
        found = {name: float(np.mean(trace.signals[name])) for name in episode["mean"]}
        assert found == pytest.approx(episode["mean"], rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("episode", [e for e in EPISODES if e["policy"] == "good"], ids=key)
def test_an_episode_without_options_is_bit_for_bit_what_it_was(episode):
    agrees(episode)


@pytest.mark.slow
@pytest.mark.parametrize("episode", [e for e in EPISODES if e["policy"] != "good"], ids=key)
def test_an_episode_that_breaks_a_claim_is_bit_for_bit_what_it_was(episode):
    agrees(episode)


def test_the_references_cover_every_policy_of_the_scenarios_of_then():
    names = {episode["scenario"] for episode in EPISODES}
    assert len(names) == 5
    for name in names:
        policies = {episode["policy"] for episode in EPISODES if episode["scenario"] == name}
        assert policies == {"good", *find(name).bad}
