"""The code of the how-to page on scenarios runs, and gives what its comments say."""

import re
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from safegym_scenarios.braking import CLAIMS

import safegym as sg
from safegym.scenario.inputs import options_of
from safegym.scenario.registry import find

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "write-a-scenario.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def block(word):
    (found,) = (text for text in BLOCKS if word in text)
    return found


def test_the_page_has_the_blocks_that_are_tested():
    assert len(BLOCKS) == 4


def test_the_vehicle_of_the_page_takes_its_inputs():
    names = {"gym": gym, "np": np}
    exec(block("class Vehicle"), names)  # the page's own text
    names["Vehicle"].observation = lambda self: np.zeros(1, np.float32)
    env = names["Vehicle"]()
    options = {"parameters": {"start_speed": 11.0}, "disturbances": {"gust": [600.0] * 8}}
    _, info = env.reset(seed=0, options=options)
    assert (env.speed, len(env.gust), set(env.gust)) == (11.0, 120, {600.0})
    assert info["disturbances"] == {"gust": [600.0] * 8}
    env.reset(seed=0)
    assert env.gust is None


def test_the_record_of_the_page_tells_its_pieces():
    text = block("again = options_of").replace("mylab/vehicle-v0", "classic/braking-v0")
    names = {"sg": sg, "policy": find("classic/braking-v0").good(), "options_of": options_of}
    exec(text, names)
    assert names["trace"].parameters["gust[3]"] == 600.0
    assert names["again"]["disturbances"]["gust"] == [600.0] * 8


def test_the_fault_claim_of_the_page_holds_with_brakes_and_fails_without():
    text = re.sub(r"^sg\.check\(", "found += sg.check(", block("fault_stop"), flags=re.MULTILINE)
    statuses = []

    class Found:
        def __iadd__(self, verdict):
            statuses.append(verdict.status)
            return self

    exec(text, {"sg": sg, "policy": find("arm/human-stop-v0").good(), "found": Found()})
    assert statuses == re.findall(r"# (satisfied|violated)", text)
    assert statuses == ["satisfied", "violated"]


def test_the_slopes_of_the_page_are_there():
    policy = find("classic/braking-v0").good()
    names = {"claim": CLAIMS[0], "policy": policy}
    exec(block("robustness_gradient"), names)
    assert names["slopes"]["parameters", "grip"] == pytest.approx(1.985, abs=0.01)
    assert len(names["slopes"]["disturbances", "grade"]) == 8
