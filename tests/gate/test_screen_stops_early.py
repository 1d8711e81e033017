"""A screen that stops early has run few episodes, and finds the same with any number of workers."""

from pathlib import Path

import numpy as np
import pytest
from chain import acted_spec, failing
from gusty import gusty_spec

from safegym.gate.plan import Gate, GatePlan
from safegym.gate.screen import Screen, Screener
from safegym.gate.setting import make_setting
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.campaign import Campaign
from safegym.scenario.runner import Runner


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))


def weak(seen: np.ndarray) -> np.ndarray:
    """Strength 0.4: fails six episodes of ten."""
    return np.full((len(seen), 1), 0.4, np.float32)


def screened(workers: int = 1, copies: int = 64) -> Screen:
    plan = GatePlan(screen_episodes=100, cap=700, copies=copies)
    setting = make_setting(gusty_spec(), Gate(plan=plan), workers=workers)
    return Screener(setting).screen(ScriptedPolicy("weak", weak), 1)


def test_failing_episodes_that_training_replays_do_not_depend_on_workers_or_copies() -> None:
    found = [screened(), screened(copies=4), screened(workers=2)]
    digests = [[judged.trace.digest for judged in screen.failing] for screen in found]
    assert digests[0] == digests[1] == digests[2] != []
    assert all(judged.index < found[0].episodes for judged in found[0].failing)


def test_a_campaign_with_a_first_number_starts_as_many_as_have_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[int] = []
    submit = Runner.submit

    def counted(runner: Runner, tasks: list) -> None:
        started.extend(task.index for task in tasks)
        submit(runner, tasks)

    monkeypatch.setattr(Runner, "submit", counted)
    with Campaign(
        acted_spec(), failing("bad", 0.6), seed_of=lambda i: i, tail=0, episodes=90, first=4
    ) as run:
        for index, _ in run:
            assert len(started) <= index + max(4, index)
        assert started == list(range(90))
