"""Replay buffers: the row map and samples against slow references and stable-baselines3's own."""

import numpy as np
import pytest
import torch
from cart_training import make_cart
from gymnasium import spaces
from stable_baselines3.common.buffers import NStepReplayBuffer, ReplayBuffer
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from safegym.errors import GateError
from safegym.gate.trainer.learning.failing_rows import FailingRows, mixed_in
from safegym.gate.trainer.learning.off_policy_buffers import make_buffer
from safegym.gate.trainer.learning.ring_rows import RingRows

SEEN = spaces.Box(-np.inf, np.inf, (2,), np.float64)
ACTED = spaces.Box(-1.0, 1.0, (1,), np.float32)
SLOTS, SIZE, GAMMA = 3, 40, 0.9


def steps_of(seed: int, rows: int):
    """Random dones and rewards; an observation names its row and slot."""
    draws = np.random.default_rng(seed)
    for row in range(rows):
        seen = np.array([[row, slot] for slot in range(SLOTS)], dtype=np.float64)
        dones = draws.random(SLOTS) < 0.15
        infos = [{"TimeLimit.truncated": bool(draws.random() < 0.3 and done)} for done in dones]
        rewards = draws.normal(size=SLOTS).astype(np.float32)
        yield seen, seen + np.array([1.0, 0.0]), np.zeros((SLOTS, 1)), rewards, dones, infos


def filled(seed: int = 0, rows: int = 100, share: float = 0.25, n_steps: int = 1):
    """Ours and stable-baselines3's buffer after the same rows."""
    ours = make_buffer(
        size=SIZE * SLOTS,
        observation_space=SEEN,
        action_space=ACTED,
        n_envs=SLOTS,
        failing_share=share,
        n_steps=n_steps,
        gamma=GAMMA,
    )
    ours.rows.begin([0] * SLOTS, [0] * SLOTS)
    plain = (
        ReplayBuffer(SIZE * SLOTS, SEEN, ACTED, "cpu", SLOTS)
        if n_steps == 1
        else NStepReplayBuffer(
            SIZE * SLOTS, SEEN, ACTED, "cpu", SLOTS, n_steps=n_steps, gamma=GAMMA
        )
    )
    for step in steps_of(seed, rows):
        ours.add(*step)
        plain.add(*step)
    return ours, plain


def same(one, two) -> bool:
    return all(
        (a is None and b is None) or (a is not None and b is not None and torch.equal(a, b))
        for a, b in zip(one, two, strict=True)
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_row_map_agrees_with_a_ring_that_writes_down_who_is_where(seed):
    draws = np.random.default_rng(seed)
    rows = RingRows(size=int(draws.integers(5, 30)), slots=2)
    begun = [int(n) for n in draws.integers(0, 9, 2)]
    taken = [int(n) for n in draws.integers(0, 4, 2)]
    rows.begin(begun, taken)
    ring: dict[int, list] = {}
    now = [[episode, step] for episode, step in zip(begun, taken, strict=True)]
    for row in range(80):
        dones = draws.random(2) < 0.12
        ring[row % rows.size] = [(slot, *now[slot]) for slot in range(2)]
        rows.add(dones)
        for slot in range(2):
            now[slot][1] += 1
            if dones[slot]:
                episode, length = now[slot]
                assert rows.length(slot, episode) == length
                for step in range(length):
                    found = rows.row(slot, episode, step)
                    places = [p for p, who in ring.items() if who[slot] == (slot, episode, step)]
                    assert places == ([] if found is None else [found % rows.size])
                now[slot] = [episode + 1, 0]


def test_only_an_episode_that_ended_in_the_rollout_has_rows():
    rows = RingRows(size=10, slots=1)
    rows.begin([4], [0])
    for done in (False, True, False):
        rows.add(np.array([done]))
    assert rows.row(0, 4, 1) == 1
    with pytest.raises(GateError, match="has 2 steps, not 3"):
        rows.row(0, 4, 2)
    with pytest.raises(GateError, match="Episode 5 of slot 0 did not end"):
        rows.row(0, 5, 0)
    rows.forget_ended()
    with pytest.raises(GateError, match="Episode 4 of slot 0 did not end"):
        rows.row(0, 4, 1)
    with pytest.raises(GateError, match="has 1 slots, not 2"):
        rows.begin([0, 0], [0, 0])


def test_marks_are_counted_once_and_go_with_the_rows_that_are_overwritten():
    marks = FailingRows(slots=2)
    marks.mark(1, 3, 6, oldest=0)
    marks.mark(1, 5, 8, oldest=0)
    marks.mark(0, -4, 1, oldest=0)
    rows, slots = marks.places(marks.standing(0))
    assert sorted(zip(slots.tolist(), rows.tolist(), strict=True)) == [
        (0, 0),
        (0, 1),
        *((1, row) for row in range(3, 9)),
    ]
    assert marks.places(marks.standing(7))[0].tolist() == [7, 8]
    marks.mark(0, 20, 20, oldest=8)
    assert len(marks.ids) == 2


@pytest.mark.parametrize("failing", [0, 1, 7, 60, 250, 999])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_failing_rows_make_up_the_share_and_no_row_loses_more_than_it(failing, share):
    batch, total = 256, 1000
    extra = mixed_in(batch, share, failing, total)
    natural = failing / total
    expected = (extra + (batch - extra) * natural) / batch
    assert expected <= max(share, natural) + 1e-12
    assert 0 <= extra <= min(failing, batch - 1)
    if extra < failing < share * total:
        assert expected > share - 1.0 / batch
    kept = (batch - extra) / batch
    assert kept >= 1.0 - share - 1e-12


@pytest.mark.parametrize("n_steps", [1, 3])
@pytest.mark.parametrize("rows", [25, 100])
def test_without_a_failing_row_a_sample_is_that_of_the_plain_buffer(n_steps, rows):
    ours, plain = filled(rows=rows, n_steps=n_steps)
    for buffer in (ours, plain):
        np.random.seed(3)
        buffer.drawn = [buffer.sample(16) for _ in range(5)], np.random.random()
    assert all(same(a, b) for a, b in zip(ours.drawn[0], plain.drawn[0], strict=True))
    assert ours.drawn[1] == plain.drawn[1]


@pytest.mark.parametrize("n_steps", [1, 3])
@pytest.mark.parametrize("rows", [25, 97, 120])
@pytest.mark.parametrize("normalised", [False, True])
def test_a_mixed_row_is_what_the_plain_buffer_holds_there(n_steps, rows, normalised):
    ours, plain = filled(rows=rows, n_steps=n_steps, share=0.9)
    ours.mark_failing(1, rows - 6, rows - 1)
    ours.mark_failing(2, rows - 20, rows - 18)
    ours.lower(rows - 2, 1, -5.0)
    plain.rewards[(rows - 2) % SIZE, 1] += np.float32(-5.0)
    env = None
    if normalised:
        env = VecNormalize(DummyVecEnv([make_cart]), norm_obs=False)
        env.ret_rms.var = np.array(4.0)
    sample = ours.sample(20, env)
    marked = {(rows - 6 + n, 1) for n in range(6)} | {(rows - 20 + n, 2) for n in range(3)}
    chosen = [tuple(int(n) for n in seen) for seen in sample.observations]
    assert set(chosen[-9:]) <= marked
    assert len(chosen) == 20
    for row, seen in enumerate(chosen):
        alone = _alone(plain, seen, env)
        mixed = [None if part is None else part[row : row + 1] for part in sample]
        assert same(mixed, alone)


def _alone(plain, seen, env):
    """The plain buffer's sample of that one row, found by trying its random slots."""
    row, slot = seen
    for seed in range(200):
        np.random.seed(seed)
        found = plain._get_samples(np.array([row % SIZE]), env)
        if int(found.observations[0, 1]) == slot:
            return found
    raise AssertionError("no seed drew that slot")


def test_failing_rows_are_drawn_at_their_share():
    ours, _ = filled(rows=100, share=0.5)
    ours.mark_failing(0, 70, 99)
    np.random.seed(1)
    drawn = [ours.sample(64).observations.numpy() for _ in range(200)]
    hits = np.mean([(seen[:, 0] >= 70) & (seen[:, 1] == 0) for seen in drawn])
    assert abs(hits - 0.5) < 0.02
    ours.mark_failing(0, 60, 99)
    ours.mark_failing(1, 60, 99)
    np.random.seed(5)
    one = ours.sample(64)
    np.random.seed(5)
    assert same(one, ReplayBuffer.sample(ours, 64))
