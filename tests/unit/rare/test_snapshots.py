"""Held and continued episodes: bit for bit as they were, or with chance of their own."""

import itertools
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any
from weakref import ref

import gymnasium as gym
import numpy as np
import pytest
from rare_chains import Climb, climb_spec, reach_probability
from scipy import stats

from safegym.check import live
from safegym.check.monitor import Monitor
from safegym.errors import ScenarioError
from safegym.scenario.registry import find
from safegym.scenario.signals.engine import mj
from safegym.scenario.snapshot import capture, restore
from safegym.scenario.wrap import recorded
from safegym.trace.record import Recorder

SCENARIOS = (
    "arm/human-stop-v0",
    "chain/plant-v0",
    "classic/cartpole-v0",
    "classic/pendulum-v0",
    "drone/corridor-v0",
    "drone/corridor-direct-v0",
)


def actions_of(env: Any, seed: int) -> Iterator[Any]:
    """Actions that the environment's own generator does not draw."""
    space = env.action_space
    generator = np.random.default_rng(seed)
    if isinstance(space, gym.spaces.Discrete):
        return (int(generator.integers(space.n)) for _ in itertools.count())
    return (generator.uniform(space.low, space.high).astype(space.dtype) for _ in itertools.count())


def run_on(env: Any, actions: Iterator[Any], steps: int) -> list[Any]:
    """What each step gives, as bytes, until the end or for `steps` steps."""
    seen = []
    for action in itertools.islice(actions, steps):
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append((np.asarray(observation).tobytes(), reward, terminated, truncated, repr(info)))
        if terminated or truncated:
            break
    return seen


def digest(env: Recorder) -> str:
    trace = env.prefix() if env.is_open else env.trace
    assert trace is not None
    return trace.digest


def opened(name: str, seed: int, steps: int) -> Recorder:
    env = recorded(find(name))
    env.reset(seed=seed)
    run_on(env, actions_of(env, seed), steps)
    return env


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_restored_episode_goes_on_bit_for_bit_from_random_cuts(name: str) -> None:
    for seed, cut in enumerate(np.random.default_rng(3).integers(0, 9, 3).tolist()):
        env = opened(name, seed, cut)
        if not env.is_open:
            continue
        held = capture(env)
        seen = run_on(env, actions_of(env, 90), 400)
        whole = digest(env)
        env.reset(seed=77)
        run_on(env, actions_of(env, 91), 20)
        restore(env, held)
        assert run_on(env, actions_of(env, 90), 400) == seen
        assert digest(env) == whole


@pytest.mark.parametrize("name", ["Ant-v5", "Humanoid-v5", "CartPole-v1", "Blackjack-v1"])
def test_gymnasiums_own_environments_go_on_bit_for_bit_too(name: str) -> None:
    env = gym.make(name)
    env.reset(seed=3)
    run_on(env, actions_of(env, 1), 7 if "v5" in name else 0)
    held = capture(env)
    seen = run_on(env, actions_of(env, 2), 30)
    env.reset(seed=4)
    run_on(env, actions_of(env, 3), 11)
    restore(env, held)
    assert run_on(env, actions_of(env, 2), 30) == seen


def test_the_warm_start_is_part_of_what_is_held() -> None:
    env = opened("arm/human-stop-v0", 5, 30)
    inner: Any = env.unwrapped
    held, warm = capture(env), inner.data.qacc_warmstart.copy()
    assert np.any(warm != 0.0)
    inner.data.qacc_warmstart[:] = 9.0
    inner.data.warning.number[0] = 3
    restore(env, held)
    assert np.array_equal(inner.data.qacc_warmstart, warm)
    assert inner.data.warning.number[0] == 0


def test_a_model_that_changes_in_the_middle_is_put_back() -> None:
    env = opened("drone/corridor-v0", 5, 10)
    model = env.unwrapped.flight.model  # type: ignore[attr-defined]  # the drone's own
    mass, sizes = float(model.body_mass[1]), model.geom_size.copy()
    held = capture(env)
    model.body_mass[1] *= 2.0
    model.opt.timestep, model.opt.wind[0] = 0.123, 4.0
    env.reset(seed=6)
    assert not np.array_equal(model.geom_size, sizes)
    restore(env, held)
    assert float(model.body_mass[1]) == mass
    assert np.array_equal(model.geom_size, sizes)
    assert (model.opt.timestep, model.opt.wind[0]) == (0.005, 0.0)


def test_one_snapshot_serves_many_clones_and_outlives_later_ones() -> None:
    env = opened("drone/corridor-v0", 1, 12)
    first = capture(env)
    run_on(env, actions_of(env, 1), 5)
    second = capture(env)
    seen = run_on(env, actions_of(env, 2), 9)
    restore(env, first, seed=8)
    run_on(env, actions_of(env, 3), 30)
    restore(env, second)
    assert run_on(env, actions_of(env, 2), 9) == seen


@pytest.mark.parametrize("name", ["drone/corridor-v0", "chain/plant-v0"])
def test_clones_with_other_seeds_part_and_with_one_seed_agree(name: str) -> None:
    env = opened(name, 2, 2)
    held = capture(env)
    ends = []
    for seed in (*range(12), 0):
        restore(env, held, seed)
        ends.append(run_on(env, actions_of(env, 2), 60))
    assert len({repr(end) for end in ends}) > 1
    assert ends[0] == ends[-1]


@pytest.mark.parametrize("name", ["arm/human-stop-v0", "classic/cartpole-v0"])
def test_clones_stay_together_where_only_the_reset_draws(name: str) -> None:
    env = opened(name, 2, 5)
    held = capture(env)
    restore(env, held, 1)
    one = run_on(env, actions_of(env, 2), 60)
    restore(env, held, 2)
    assert run_on(env, actions_of(env, 2), 60) == one


def test_clones_are_distributed_as_fresh_episodes_from_their_state() -> None:
    env = recorded(climb_spec(3, 6, 0.5, 40))
    seed = next(seed for seed in range(99) if climbed(env, seed) == 4)
    climbed(env, seed)
    held = capture(env)
    reached = 0
    for clone in range(1500):
        restore(env, held, clone)
        run_on(env, itertools.repeat(np.zeros(1, np.float32)), 99)
        trace = env.trace
        assert trace is not None
        reached += trace.end.kind == "failed"

    exact = float(reach_probability(4, 6, Fraction(1, 2), 39))
    assert stats.binomtest(reached, 1500, exact).pvalue > 1e-3


def climbed(env: Any, seed: int) -> int:
    env.reset(seed=seed)
    env.step(np.zeros(1, np.float32))
    return int(env.unwrapped.height)


def test_a_monitor_beside_the_environment_is_taken_along() -> None:
    spec = find("drone/corridor-v0")
    for exact in (False, True):
        env = recorded(spec)
        monitor = Monitor(spec.claims[1], spec.clock.dt, horizon=spec.horizon, exact=exact)
        names = [signal.name for signal in spec.signals]

        def seen(
            steps: int, seed: int, env: Any = env, monitor: Any = monitor, names: Any = names
        ) -> list[Any]:
            found = []
            for action in itertools.islice(actions_of(env, seed), steps):
                env.step(action)
                row = spec.read_signals(env.unwrapped)
                sample = {n: np.array([v]) for n, v in zip(names, row, strict=True)}
                found.append(repr(monitor.update(sample).episode))
            return found

        env.reset(seed=4)
        seen(10, 1)
        held = capture(env, monitor)
        after = seen(8, 2)
        env.reset(seed=5)
        monitor.reset()
        seen(20, 3)
        restore(env, held)
        assert seen(8, 2) == after


def test_claims_that_are_judged_live_are_part_of_the_episode() -> None:
    env = live.make("drone/corridor-v0", live=True)
    env.reset(seed=4)
    run_on(env, actions_of(env, 1), 9)
    held = capture(env)
    seen = run_on(env, actions_of(env, 2), 40)
    env.reset(seed=5)
    restore(env, held)
    assert run_on(env, actions_of(env, 2), 40) == seen


class Drawing(gym.Env[Any, Any]):
    """Draws from four kinds of generators, hidden in a closure, a list, and a slot."""

    observation_space = gym.spaces.Box(-9.0, 9.0, (4,))
    action_space = gym.spaces.Box(-1.0, 1.0, (1,))

    def __init__(self) -> None:
        legacy, python = np.random.RandomState(1), random.Random(2)
        total = 0.0

        def draw() -> tuple[float, float]:
            nonlocal total
            total += legacy.random_sample()
            return total, python.random()

        self.draw: Callable[[], tuple[float, float]] = draw
        self.kept = [np.random.default_rng(3)]

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=options.get("seed"))
        return np.zeros(4), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        drawn = (*self.draw(), self.kept[0].random(), self.np_random.random())
        return np.array(drawn), 0.0, False, False, {}


def test_generators_are_found_wherever_they_hang_and_each_is_seeded_anew() -> None:
    env = Drawing()
    env.reset(seed=1)
    run_on(env, itertools.repeat(0), 3)
    held = capture(env)
    assert len(held.generators) == 4
    seen = run_on(env, itertools.repeat(0), 5)
    restore(env, held)
    assert run_on(env, itertools.repeat(0), 5) == seen
    restore(env, held, 1)
    parted = [np.frombuffer(one[0]) for one in run_on(env, itertools.repeat(0), 5)]
    before = [np.frombuffer(one[0]) for one in seen]
    assert np.all(np.array(parted)[0] != np.array(before)[0])


class Native(Climb):
    """Its state is held by something that Python cannot look into."""

    def __init__(self) -> None:
        super().__init__(1, 9, 0.5)
        self.engine = [(number for number in range(99))]


class Kept(Native):
    """The same, but it keeps its own state."""

    def get_state(self) -> dict[str, int]:
        return {"height": self.height}

    def set_state(self, state: dict[str, int]) -> None:
        self.height = state["height"]


def test_state_outside_of_python_is_refused_by_name_with_the_line_that_works() -> None:
    env = gym.wrappers.TimeLimit(Native(), 50)
    env.reset(seed=1)
    with pytest.raises(
        ScenarioError, match=r"env\.env\.engine\.0 is a .*generator.* get_state\(\) -> state"
    ):
        capture(env)


def test_an_environment_that_keeps_its_own_state_is_asked_for_it() -> None:
    env = gym.wrappers.TimeLimit(Kept(), 50)
    env.reset(seed=1)
    env.step(0)
    held, height = capture(env), env.unwrapped.height  # type: ignore[attr-defined]  # the climb's
    seen = run_on(env, itertools.repeat(0), 20)
    env.reset(seed=2)
    restore(env, held)
    assert env.unwrapped.height == height  # type: ignore[attr-defined]  # the climb's
    assert run_on(env, itertools.repeat(0), 20) == seen
    restore(env, held, 12)
    assert run_on(env, itertools.repeat(0), 20) != seen


def test_a_snapshot_of_another_environment_is_refused() -> None:
    one, two = Climb(1, 5, 0.5), Climb(1, 5, 0.5)
    one.reset(seed=1)
    with pytest.raises(ScenarioError, match="taken from another Climb"):
        restore(two, capture(one))


def test_where_finished_traces_go_is_no_part_of_the_episode() -> None:
    traces: list[Any] = []
    env = recorded(climb_spec(2, 4, 0.5, 30), on_trace=traces.append)
    env.reset(seed=1)
    held = capture(env)
    run_on(env, itertools.repeat(np.zeros(1, np.float32)), 99)
    restore(env, held)
    assert len(traces) == 1


class Compiled(gym.Env[Any, Any]):
    """Compiles a new MuJoCo model at each reset, of a mass that the seed decides."""

    observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
    action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        ball = f"<freejoint/><geom size='.1' mass='{1 + (seed or 0)}'/>"
        world = f"<worldbody><body pos='0 0 1'>{ball}</body></worldbody>"
        self.model = mj.MjModel.from_xml_string(f"<mujoco>{world}</mujoco>")
        self.data = mj.MjData(self.model)
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        mj.mj_step(self.model, self.data)
        return np.zeros(1, np.float32), 0.0, False, False, {}


def test_models_compiled_at_each_reset_are_never_taken_for_one_that_is_gone() -> None:
    """Python gives the number of an object that is gone to a new one, soon and often."""
    env, numbers = Compiled(), list[tuple[int, int]]()
    first: ref[Any] | None = None
    for seed in range(60):
        env.reset(seed=seed)
        first = first or ref(env.model)
        numbers.append((id(env.model), id(env.data)))
        env.step(0)
        at, masses = env.data.qpos.copy(), env.model.body_mass.copy()
        held = capture(env)
        env.step(0)
        env.model.body_mass[:] = 7.0
        restore(env, held)
        assert env.data.qpos.tolist() == at.tolist()
        assert env.model.body_mass.tolist() == masses.tolist()
    assert len({data for _, data in numbers}) < 60
    assert first is not None
    assert first() is None  # nothing keeps a model whose episode is over
