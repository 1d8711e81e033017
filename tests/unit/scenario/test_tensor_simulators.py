"""Episodes of simulators that step many copies as tensors, against one copy stepped alone."""

import numpy as np
import pytest
import torch

from safegym.check.monitor import judge
from safegym.errors import ScenarioError, TraceError
from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.lost import is_lost
from safegym.scenario.tensors import TensorCampaign, TensorRecorder
from safegym.trace.model import Clock

PLACE = Signal("place", unit="m", scale=1.0)
STATE = Signal("state", unit="1", shape=(2,))
SIGNALS = (PLACE, STATE)
HORIZON = 20
LIMIT = 1.0
DT = np.float32(0.1)


class Carts:
    """Carts with a wall at 1 m, in torch; a copy that ends is reset within the step."""

    def __init__(self, copies=64, autoreset="same step", device="cpu"):
        self.num_envs, self.autoreset, self.device = copies, autoreset, device
        self.generator = torch.Generator(device).manual_seed(0)
        self.state = torch.zeros(copies, 2, device=device)
        self.age = torch.zeros(copies, dtype=torch.int64, device=device)
        self.over = torch.zeros(copies, dtype=torch.bool, device=device)

    def reset(self, seed=0):
        self.generator.manual_seed(seed)
        self._reset_idx(torch.arange(self.num_envs, device=self.device))
        self.over[:] = False
        return self.state.clone(), {}

    def _reset_idx(self, ids):
        drawn = torch.rand(len(ids), 2, generator=self.generator, device=self.device)
        self.state[ids] = drawn - 0.5
        self.age[ids] = 0

    def step(self, actions):
        waiting = self.over.clone()
        moved = torch.stack(
            (self.state[:, 0] + 0.1 * self.state[:, 1], self.state[:, 1] + 0.1 * actions[:, 0]), 1
        )
        self.state[~waiting] = moved[~waiting]
        self.age[~waiting] += 1
        if waiting.any():
            self._reset_idx(torch.nonzero(waiting).flatten())
        hit = (self.state[:, 0] > LIMIT) & ~waiting
        late = (self.age >= HORIZON) & ~hit & ~waiting
        self.hit = hit.clone()
        rewards = -self.state[:, 0].abs()
        if self.autoreset == "same step":
            if (hit | late).any():
                self._reset_idx(torch.nonzero(hit | late).flatten())
        else:
            self.over = hit | late
        return self.state.clone(), rewards, hit, late, {}


def read(env):
    return env.state[:, 0], env.state


def recorder(env, **changes):
    given = {
        "signals": SIGNALS,
        "read": read,
        "clock": Clock.parse("0.1"),
        "horizon": HORIZON,
        "autoreset": env.autoreset,
        "before_reset": "_reset_idx" if env.autoreset == "same step" else None,
        "reasons": lambda env: {"wall": env.hit},
        "terminals": {"wall": "failed"},
    }
    return TensorRecorder(env, **{**given, **changes})


def push(states):
    return torch.where(states[:, 1:] > 0, 0.8, -0.3).float()


def alone(first, actions):
    """The same cart stepped by itself in binary32."""
    states = [np.asarray(first, np.float32)]
    for action in actions:
        place, speed = states[-1]
        states.append(
            np.array(
                (place + np.float32(0.1) * speed, speed + np.float32(0.1) * np.float32(action[0])),
                np.float32,
            )
        )
    return np.array(states)


@pytest.mark.parametrize("autoreset", ["same step", "next step"])
@pytest.mark.parametrize("stretch", [1, 7, 64])
def test_every_trace_is_what_one_cart_does_alone_with_its_last_sample(autoreset, stretch):
    env = Carts(autoreset=autoreset)
    kinds = set()
    for _, trace in TensorCampaign(recorder(env, stretch=stretch), push, rounds=3):
        expected = alone(trace.signals["state"][0], trace.actions)
        assert trace.signals["state"].astype(np.float32).tobytes() == expected.tobytes()
        assert np.array_equal(trace.signals["place"], trace.signals["state"][:, 0])
        hit = expected[-1, 0] > LIMIT
        assert not (expected[:-1, 0] > LIMIT).any()
        assert trace.end.kind == ("failed" if hit else "horizon")
        assert trace.steps <= HORIZON if hit else trace.steps == HORIZON
        assert np.array_equal(trace.rewards.astype(np.float32), -abs(expected[1:, 0]))
        kinds.add(trace.end.kind)
    assert kinds == {"failed", "horizon"}


@pytest.mark.parametrize("autoreset", ["same step", "next step"])
def test_a_campaign_takes_the_same_number_of_episodes_from_every_copy_in_order(autoreset):
    env = Carts(copies=16, autoreset=autoreset)
    found = list(TensorCampaign(recorder(env), push, rounds=4, seed=5))
    assert [index for index, _ in found] == list(range(64))
    assert [trace.parameters["copy"] for _, trace in found] == [*range(16)] * 4
    again = list(TensorCampaign(recorder(Carts(16, autoreset)), push, rounds=4, seed=5))
    assert [trace.digest for _, trace in again] == [trace.digest for _, trace in found]


def test_whichever_ends_first_would_overstate_failures():
    """Failures are short here; a fixed number a copy counts them as often as they are."""
    env = Carts(copies=400)
    whole = recorder(env)
    fair = np.mean([t.end.kind == "failed" for _, t in TensorCampaign(whole, push, rounds=4)])
    observations, _ = whole.reset(seed=0)
    early = []
    for _ in range(2 * HORIZON - 1):
        observations, *_ = whole.step(push(observations))
    early = [trace.end.kind == "failed" for _, _, trace in whole.finished()]
    assert np.mean(early) > fair + 0.02


def test_steps_pass_through_unchanged():
    plain, hooked = Carts(), Carts()
    whole = recorder(hooked)
    one, two = plain.reset(seed=3)[0], whole.reset(seed=3)[0]
    for _ in range(50):
        first, second = plain.step(push(one)), whole.step(push(two))
        assert all(torch.equal(a, b) for a, b in zip(first[:4], second[:4], strict=True))
        one, two = first[0], second[0]


def test_judging_the_traces_finds_the_walls():
    claim = Claim(id="cart.wall", statement=always(PLACE <= LIMIT), hazard="h", source="chosen")
    for _, trace in TensorCampaign(recorder(Carts()), push):
        hit = trace.signals["place"].max() > LIMIT
        assert judge(claim, trace).status == ("violated" if hit else "satisfied")


def test_a_number_that_is_not_finite_interrupts_its_own_copy_alone():
    class Broken(Carts):
        def step(self, actions):
            if int(self.age[3]) == 4:
                self.state[3, 1] = torch.nan
            return super().step(actions)

    traces = [trace for _, trace in TensorCampaign(recorder(Broken(copies=8)), push)]
    assert traces[3].end.kind == "interrupted"
    assert "not finite at sample 5" in traces[3].end.reason
    assert traces[3].steps == 4
    assert "interrupted" not in {t.end.kind for i, t in enumerate(traces) if i != 3}


def test_an_episode_without_a_finite_sample_is_lost_and_counts_as_undecided():
    class Dead(Carts):
        def _reset_idx(self, ids):
            super()._reset_idx(ids)
            self.state[0] = torch.nan

    claim = Claim(id="cart.wall", statement=always(PLACE <= LIMIT), hazard="h", source="chosen")
    (_, first), *_ = TensorCampaign(recorder(Dead(copies=2)), push)
    assert is_lost(first)
    assert judge(claim, first).status == "inconclusive"


def test_data_stay_on_their_device_between_fetches():
    env = Carts()
    whole = recorder(env, stretch=1000)
    observations, _ = whole.reset()
    for _ in range(5):
        observations, *_ = whole.step(push(observations))
    assert all(isinstance(each.after["place"], torch.Tensor) for each in whole._instants)
    assert whole._instants[0].after["state"].data_ptr() != env.state.data_ptr()


def test_an_autoreset_that_would_lose_the_last_sample_is_refused():
    with pytest.raises(ScenarioError, match=r'needs before_reset=.*"_reset_idx"'):
        recorder(Carts(), before_reset=None)
    with pytest.raises(ScenarioError, match="has no method 'restart'"):
        recorder(Carts(), before_reset="restart")
    with pytest.raises(ScenarioError, match='write "same step" or "next step"'):
        recorder(Carts(), autoreset="never")


def test_signals_without_a_row_for_each_copy_are_refused():
    with pytest.raises(TraceError, match=r"Signal place has shape \(64, 2\).*\(64,\)"):
        recorder(Carts(), read=lambda env: (env.state, env.state)).reset()
    with pytest.raises(TraceError, match="returned 1 arrays for 2 signals: place, state"):
        recorder(Carts(), read=lambda env: (env.state,)).reset()
    whole = recorder(Carts(), reasons=lambda env: {"walls": env.hit})
    whole.reset()
    with pytest.raises(TraceError, match="gives 'walls', which terminals does not declare"):
        whole.step(torch.zeros(64, 1))


def test_episodes_that_never_end_are_named():
    class Endless(Carts):
        def step(self, actions):
            self.age[:] = 0
            return super().step(actions)

    with pytest.raises(ScenarioError, match="must truncate at its horizon of 20 steps"):
        list(TensorCampaign(recorder(Endless()), lambda states: torch.zeros(len(states), 1)))


class Counter:
    """Two copies that count; a copy in `ends` (step -> copies) ends there, and is reset next."""

    num_envs = 2

    def __init__(self, ends=()):
        self.ends, self.broken = dict(ends), False

    def reset(self, seed=0):
        self.taken, self.count = 0, torch.zeros(2, dtype=torch.int32)
        self.over = torch.zeros(2, dtype=torch.bool)
        return self.count, {}

    def step(self, actions):
        self.count = torch.where(self.over, 0, self.count + 1)
        if self.broken:
            raise RuntimeError("the gearbox broke")
        self.taken += 1
        self.over = torch.tensor([copy in self.ends.get(self.taken, ()) for copy in (0, 1)])
        return self.count, torch.zeros(2), self.over.clone(), torch.zeros(2, dtype=torch.bool), {}


COUNT = Signal("count", unit="1")


def counting(env, **more):
    given = {"signals": (COUNT,), "read": lambda env: (env.count,), "clock": Clock("0.1")}
    return TensorRecorder(env, **{**given, "horizon": 9, "autoreset": "next step", **more})


def counts(recorder):
    return [
        (copy, number, trace.signals["count"].tolist(), len(trace.actions))
        for copy, number, trace in recorder.finished()
    ]


@pytest.mark.parametrize("stretch", [1, 2, 64])
def test_a_copy_that_ends_by_the_step_that_resets_it_gives_an_episode_of_one_sample(stretch):
    env = Counter({2: (0,), 3: (0,), 6: (0, 1)})
    recorder = counting(env, stretch=stretch)
    recorder.reset()
    for _ in range(6):
        recorder.step(torch.ones(2, 1))
    assert sorted(counts(recorder)) == [
        (0, 0, [0.0, 1.0, 2.0], 2),
        (0, 1, [0.0], 0),
        (0, 2, [0.0, 1.0, 2.0], 2),
        (1, 0, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 6),
    ]


def test_after_an_error_in_a_step_nothing_is_joined_over_the_gap():
    env = Counter({2: (1,)})
    recorder = counting(env)
    recorder.reset()
    for _ in range(3):
        recorder.step(torch.ones(2, 1))
    env.broken = True
    with pytest.raises(RuntimeError, match="gearbox"):
        recorder.step(torch.ones(2, 1))
    env.broken = False
    with pytest.raises(TraceError, match=r"Call reset\(seed=...\) before step"):
        recorder.step(torch.ones(2, 1))
    assert counts(recorder) == [(1, 0, [0.0, 1.0, 2.0], 2)]
    recorder.reset()
    recorder.step(torch.ones(2, 1))
    assert counts(recorder) == []


def test_actions_from_the_host_and_numbers_that_numpy_lacks_are_recorded():
    env = Counter({3: (0, 1)})
    recorder = counting(env, read=lambda env: (env.count.to(torch.bfloat16),))
    recorder.reset()
    for actions in (torch.ones(2, 1), np.full((2, 1), 2.0), torch.full((2, 1), 3.0)):
        recorder.step(actions)
    (_, _, trace), _ = recorder.finished()
    assert trace.actions.ravel().tolist() == [1.0, 2.0, 3.0]
    assert trace.signals["count"].tolist() == [0.0, 1.0, 2.0, 3.0]
    with pytest.raises(TraceError, match=r"actions has shape \(\); with 2 copies"):
        recorder.step([[1.0], [1.0]])
    assert env.taken == 3
