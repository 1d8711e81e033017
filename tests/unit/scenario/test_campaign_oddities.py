"""Environments, policies and callers that do what nobody should: the same traces all the same."""

import sys
import time
from dataclasses import replace
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from scenario_models import LEVEL, Walk, follow, follower, walk

from safegym.errors import PolicyError, ScenarioError
from safegym.formula.terms import Signal
from safegym.policy.base import PolicyCard, ScriptedPolicy
from safegym.scenario.campaign import Campaign
from safegym.scenario.lost import is_lost
from safegym.scenario.process import end_idle_workers
from safegym.scenario.pulse import BUILDING, IDLE, Pulse, read
from safegym.scenario.record import record
from safegym.scenario.runner import Runner, Task
from safegym.scenario.staging import Staging
from safegym.trace.record import speakable

SEEDS = range(20)


@pytest.fixture(autouse=True, scope="module")
def no_workers_left():
    yield
    end_idle_workers()


def traces(spec, policy, *, copies=5, by_step=False, pulse=None, seeds=SEEDS):
    """Traces by index. by_step: through `Recorder.step`; so does a pulse, as workers have it."""
    runner = Runner(Staging(spec).stage, policy, copies=copies)
    runner.pulse = pulse
    if by_step:
        runner._hands.take = lambda *_: None
    waiting = [Task(index, seed) for index, seed in enumerate(seeds)]
    found = {}
    while waiting or runner.running:
        begun, waiting = waiting[: runner.room], waiting[runner.room :]
        runner.submit(begun)
        found.update(runner.collect())
    runner.close()
    return found


def digests(*args, **more):
    return {index: trace.digest for index, trace in traces(*args, **more).items()}


class Oddity(Walk):
    """A walk that does `what` at step 2 of seeds 0 mod 3."""

    shared = np.zeros(2, np.float32)

    def __init__(self, what):
        super().__init__()
        self.what = what

    @property
    def odd(self):
        return self.count == 2 and self.seed % 3 == 0

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed)
        match self.what if seed % 3 == 0 else "":
            case "list":
                return observation.tolist(), info
            case "no info":
                return observation, None
            case "exit at reset":
                sys.exit(0)
            case "wide reset":
                return np.zeros(3, np.float32), info
            case "narrow reset":
                return np.zeros(1, np.float32), info
        return observation, info

    def step(self, action):
        observation, *rest, info = super().step(action)
        if self.what == "shared":
            self.shared[:] = np.nan if self.odd else observation
            return self.shared, *rest, info
        if self.what == "no info":
            return observation, *rest, info or None
        if self.what == "writes":
            action += 0.25
        return self._oddly(observation, rest, info) if self.odd else (observation, *rest, info)

    def _oddly(self, observation, rest, info):
        match self.what:
            case "wide":
                return np.zeros(3, np.float32), *rest, info
            case "narrow":
                return np.ones(1, np.float32), *rest, info
            case "number":
                return 3.0, *rest, info
            case "list":
                return observation.tolist(), *rest, info
            case "nan and events":
                return np.float32([np.nan, 0.0]), *rest, {"events": 3}
            case "exit":
                sys.exit(0)
            case "both":
                return observation, rest[0], True, True, info
            case "array reward":
                return observation, np.array(2.5, np.float32), *rest[1:], info
            case "repr":
                raise RuntimeError(f"{object()} broke")
        return observation, *rest, info


ODDITIES = (
    "wide",
    "narrow",
    "number",
    "list",
    "no info",
    "nan and events",
    "shared",
    "writes",
    "exit",
    "exit at reset",
    "wide reset",
    "narrow reset",
    "both",
    "array reward",
    "repr",
)


@pytest.mark.parametrize("what", ODDITIES)
def test_an_oddity_gives_the_same_traces_by_either_step_and_with_any_copies(what):
    spec = walk(partial(Oddity, what), horizon=12)
    expected = digests(spec, follower(), copies=1, by_step=True)
    assert len(expected) == len(SEEDS)
    assert digests(spec, follower(), copies=1) == expected
    assert digests(spec, follower(), copies=7) == expected
    assert digests(spec, follower(), copies=7, by_step=True) == expected
    assert digests(spec, follower(), copies=7, pulse=Pulse([0.0, 0.0], 60.0)) == expected


@pytest.mark.parametrize("what", ["wide", "narrow", "number"])
def test_an_observation_of_another_shape_ends_its_episode_before_it_is_acted_on(what):
    found = traces(walk(partial(Oddity, what), horizon=12), follower())
    reasons = {found[seed].end.reason for seed in SEEDS if seed % 3 == 0}
    assert {found[seed].steps for seed in SEEDS if seed % 3 == 0} == {1}
    assert len(reasons) == 1
    assert "The observation has shape" in reasons.pop()
    assert all(found[seed].end.kind != "interrupted" for seed in SEEDS if seed % 3)


@pytest.mark.parametrize("what", ["wide reset", "narrow reset", "exit at reset"])
def test_a_first_observation_of_another_shape_or_an_exit_loses_its_episode(what):
    found = traces(walk(partial(Oddity, what), horizon=12), follower())
    assert [seed for seed in SEEDS if is_lost(found[seed])] == [s for s in SEEDS if s % 3 == 0]


def test_an_environment_that_exits_ends_its_episode_and_not_the_program():
    found = traces(walk(partial(Oddity, "exit"), horizon=12), follower())
    assert found[0].end.kind == "interrupted"
    assert found[0].end.reason == "SystemExit in step: 0"


def test_an_address_in_an_error_does_not_make_a_repeat_another_trace():
    assert speakable("<Motor object at 0x7f3a10> broke, code 0x1f") == (
        "<Motor object at 0x...> broke, code 0x1f"
    )


class Reuser:
    """A policy that hands out the same array each time, and normalises what it sees in place."""

    card = PolicyCard(name="reuser", digest="sha256:r", kind="scripted")

    def __init__(self):
        self.actions = np.zeros((64, 1), np.float32)

    def act(self, observations, state, starts):
        observations -= 1.0
        observations *= 1e9
        if not np.isfinite(observations).all():
            raise ValueError("too large")
        return self.actions, state


def test_an_action_that_an_environment_writes_into_is_not_the_policys_nor_a_neighbours():
    spec = walk(partial(Oddity, "writes"), horizon=12)
    expected = digests(spec, Reuser(), copies=1)
    assert digests(spec, Reuser(), copies=6) == expected
    found = traces(spec, Reuser(), copies=6)
    assert all((trace.actions == 0.0).all() for trace in found.values())
    assert all(trace.end.kind != "interrupted" for trace in found.values())


class Switches(Walk):
    action_space = gym.spaces.MultiDiscrete([3], dtype=np.int8)


def wraps(observations):
    return np.full((len(observations), 1), 257, np.int64)


def test_a_whole_number_that_would_wrap_into_the_space_is_outside_it():
    with pytest.raises(PolicyError, match=r"outside the environment's action space"):
        record(walk(Switches), ScriptedPolicy("wraps", wraps), seed=0)


class Drawer:
    """A sampled policy that cannot be told some seeds."""

    card = PolicyCard(name="drawer", digest="sha256:d", kind="scripted", mode="sampled")

    def begin(self, row, seed):
        if seed in (3, 4):
            raise OverflowError("seed too odd")

    def act(self, observations, state, starts):
        if len(observations) and np.isnan(observations).any():
            sys.exit(3)
        return follow(observations), state


@pytest.mark.parametrize("copies", [1, 6])
def test_a_policy_that_cannot_begin_an_episode_interrupts_that_one(copies):
    found = traces(walk(), Drawer(), copies=copies)
    reasons = {seed: found[seed].end.reason for seed in SEEDS if found[seed].steps == 0}
    assert reasons == dict.fromkeys((3, 4), "OverflowError in the policy: seed too odd")
    assert record(walk(), Drawer(), seed=3).digest == found[3].digest


def exits(observations):
    if (observations[:, 1] == 2.0).any():
        sys.exit(0)
    return follow(observations)


def test_a_policy_that_exits_ends_its_episode_and_not_the_program():
    found = traces(walk(), ScriptedPolicy("exits", exits))
    assert {trace.end.reason for trace in found.values()} == {"SystemExit in the policy: 0"}


class Interrupted(Walk):
    def step(self, action):
        if self.seed == 5 and self.count == 2:
            raise KeyboardInterrupt
        return super().step(action)


def test_after_ctrl_c_amid_a_step_what_was_under_way_is_not_handed_out_as_surplus():
    with Campaign(walk(Interrupted), follower(), seed_of=int, tail=0, episodes=20) as campaign:
        with pytest.raises(KeyboardInterrupt):
            list(campaign)
        campaign.stop()
        with pytest.raises(ScenarioError, match="closed or cut off with episodes under way"):
            _ = campaign.surplus


def test_a_surplus_is_refused_where_a_campaign_was_closed_with_episodes_under_way():
    with Campaign(walk(), follower(), seed_of=int, tail=0) as campaign:
        for _ in campaign:
            campaign.stop()
            break
    with pytest.raises(ScenarioError, match="those that are there are the quick ones"):
        _ = campaign.surplus


def test_an_episode_that_an_engine_forgets_ends_the_campaign():
    class Forgetful(Runner):
        def collect(self, *, steps=None):
            return [each for each in super().collect(steps=steps) if each[0] != 7]

    with Campaign(walk(), follower(), seed_of=int, tail=0, episodes=20) as campaign:
        campaign._open = lambda: Forgetful(campaign._staging.stage, follower(), copies=4)
        with pytest.raises(ScenarioError, match="Episode 7 was started and never came back"):
            list(campaign)


class Greedy(Walk):
    """Takes its options out of the mapping, and fails once before it does as asked."""

    failed = False

    def reset(self, *, seed=None, options=None):
        observation, _ = super().reset(seed=seed)
        level = options["parameters"].pop("level")
        if not Greedy.failed:
            Greedy.failed = True
            raise RuntimeError("not yet")
        self.level = level
        return observation, {"parameters": {"level": level}}


@pytest.mark.parametrize("how", [{"copies": 1}, {"copies": 9}, {"workers": 2}])
def test_options_that_a_caller_or_an_environment_changes_later_are_those_of_their_episode(how):
    shared = {"parameters": {}}

    def options_of(index):
        shared["parameters"]["level"] = float(index)
        return shared

    Greedy.failed = False
    campaign = Campaign(
        walk(Greedy),
        follower(),
        seed_of=np.int64,
        options_of=options_of,
        tail=0,
        episodes=12,
        **how,
    )
    campaign._rehearse = lambda: None
    campaign._options = options_of  # what a scenario declares is another question
    original, Runner.rehearse = Runner.rehearse, lambda self: None
    try:
        with campaign:
            found = [(trace.seed, trace.parameters["level"]) for _, trace in campaign]
    finally:
        Runner.rehearse = original
    assert found == [(index, float(index)) for index in range(12)]


def test_a_policy_that_raised_is_not_seen_as_one_that_still_acts():
    cells = [float(IDLE), 0.0]
    traces(walk(), ScriptedPolicy("exits", exits), pulse=Pulse(cells, 60.0))
    assert cells[0] == IDLE


def test_a_reader_of_a_pulse_that_is_put_to_sleep_does_not_make_a_call_longer():
    class Slow(list):
        def __getitem__(self, at):
            time.sleep(0.05)
            return super().__getitem__(at)

    _, seconds = read(Slow([3.0, time.monotonic()]))
    assert seconds < 0.05


def test_building_an_environment_afresh_is_seen_from_outside_and_counts_for_no_episode():
    cells, seen = [float(IDLE), 0.0], []

    class Watched(Walk):
        def __init__(self):
            super().__init__({1: "raise"})
            seen.append(cells[0])

    pulse = Pulse(cells, 60.0)
    traces(walk(Watched), follower(), copies=1, pulse=pulse, seeds=(1, 2))
    assert seen[-1] == BUILDING
    assert cells[0] == IDLE


class Sticks(Walk):
    """Fails at step 3 of seed 2; whatever is built in this process after that never is."""

    broken = False

    def __init__(self):
        super().__init__({2: "raise"})
        while Sticks.broken:
            time.sleep(1.0)

    def step(self, action):
        Sticks.broken = Sticks.broken or (self.seed == 2 and self.count == 2)
        return super().step(action)


def test_an_environment_that_hangs_while_it_is_built_afresh_does_not_stop_the_campaign(monkeypatch):
    monkeypatch.setattr("safegym.scenario.workers._BUILD_SECONDS", 1.0)
    expected = digests(walk(partial(Walk, {2: "raise"})), follower(), copies=1, seeds=range(4))
    with Campaign(
        walk(Sticks),
        follower(),
        seed_of=int,
        tail=0,
        episodes=4,
        copies=1,
        episode_seconds=60.0,
    ) as campaign:
        found = {index: trace for index, trace in campaign}
    spec = walk(partial(Walk, {2: "raise"}))
    assert {
        index: replace(trace, scenario_digest=spec.digest, digest="").digest
        for index, trace in found.items()
    } == expected


class Buffered(Walk):
    """A number at reset, and from then on a buffer that every step overwrites."""

    def reset(self, *, seed=None, options=None):
        found = super().reset(seed=seed)
        self.buffer = np.zeros(())
        return found

    def step(self, action):
        self.level = float(self.level)
        found = super().step(action)
        self.buffer[...] = self.level
        self.level = self.buffer
        return found


def read_level_and_pair(env):
    return env.level, (0.0, 1.0)


@pytest.mark.parametrize("mixed", [False, True])
def test_a_number_that_becomes_a_buffer_loses_its_episode_and_is_not_believed(mixed):
    spec = walk(Buffered)
    if mixed:
        signals = (LEVEL, Signal("pair", unit="m", shape=(2,)))
        spec = replace(spec, signals=signals, read_signals=read_level_and_pair)
    found = traces(spec, follower(), copies=4)
    assert all(is_lost(trace) for trace in found.values())
    assert "returned a ndarray for one of the numbers level" in found[0].end.reason
    expected = digests(spec, follower(), copies=1, by_step=True)
    assert {index: trace.digest for index, trace in found.items()} == expected


class Buffer(Walk):
    """A number in a buffer from the start: it is copied at each sample."""

    def __init__(self):
        super().__init__()
        self.buffer = np.zeros(())

    def _seen(self):
        self.buffer[...] = self.level
        return super()._seen()


def read_buffer(env):
    return (env.buffer,)


def test_a_number_in_a_buffer_from_the_start_is_kept_as_it_was():
    spec = replace(walk(Buffer), read_signals=read_buffer)
    plain, found = traces(walk(), follower()), traces(spec, follower())
    for index, trace in plain.items():
        np.testing.assert_array_equal(trace.signals["level"], found[index].signals["level"])


def test_a_hard_seed_does_not_refuse_a_whole_scenario():
    spec = walk(partial(Walk, {0: "reset", 1: "reset"}))
    with Campaign(spec, follower(), seed_of=int, tail=0, episodes=4) as campaign:
        assert [is_lost(trace) for _, trace in campaign] == [True, True, False, False]
