"""Somebody else's environment becomes a scenario file that runs and conforms."""

import json
import sys
from fractions import Fraction
from importlib.util import module_from_spec, spec_from_file_location

import gymnasium as gym
import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from safegym.cli import scenarios
from safegym.cli.scenarios_adapt import adapt
from safegym.errors import ScenarioError
from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.adapt import (
    AdaptedEnv,
    bare,
    conformance_issues,
    detect,
    from_env,
    from_info,
    from_mujoco,
    from_observation,
    read_adapted,
)
from safegym.scenario.record import record
from safegym.scenario.signals import JointSpeed
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Clock

PLACE = Signal("place", unit="m", scale=1.0)
SPEED = Signal("speed", unit="rad/s", scale=1.0, hold="max")
app = typer.Typer()
app.command()(adapt)


def command(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def loaded(path):
    description = spec_from_file_location(path.stem, path)
    module = module_from_spec(description)
    sys.modules[path.stem] = module
    description.loader.exec_module(module)
    return module


def hopper():
    return gym.make("Hopper-v5", disable_env_checker=True)


def cart():
    return gym.make("CartPole-v1", disable_env_checker=True)


def spec_of(make_env, **changes):
    given = {
        "name": "test/adapted-v0",
        "summary": "s",
        "make_env": make_env,
        "read_signals": read_adapted,
        "signals": (PLACE,),
        "clock": Clock(Fraction(1, 50)),
        "horizon": 50,
        "claims": (Claim(id="a.b", statement=always(PLACE <= 3.0), hazard="h", source="chosen"),),
        "terminals": {"terminated": "failed"},
        "physics": ("gymnasium",),
    }
    return ScenarioSpec(**{**given, **changes})


@pytest.mark.parametrize("env_id", ["Hopper-v5", "CartPole-v1", "MountainCarContinuous-v0"])
def test_the_drafted_file_runs_and_conforms(env_id, tmp_path):
    path = tmp_path / f"drafted_{env_id[:4].lower()}.py"
    found = command(env_id, "--out", path)
    assert found.exit_code == 0, found.output
    assert f"wrote {path}" in found.output.replace("\n", "")
    module = loaded(path)
    spec = module.scenario()
    assert conformance_issues(spec) == []
    assert spec.validate() == []
    trace = record(spec, spec.good(), 0)
    assert trace.end.kind in ("failed", "horizon")
    assert module.scenario().digest == spec.digest


def test_json_tells_every_signal_with_its_source_and_range(tmp_path):
    found = command("Hopper-v5", "--out", tmp_path / "h.py", "--json")
    document = json.loads(found.output)
    assert document["dt_s"] == "0.008"
    assert document["horizon_steps"] == 1000
    names = {each["name"]: each for each in document["signals"]}
    assert names["joint_speed"]["unit"] == "rad/s"
    assert 0.0 <= names["joint_speed"]["seen"][0] < names["joint_speed"]["seen"][1]
    assert "reward_forward" not in names


def test_a_file_that_is_there_is_not_overwritten(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("kept")
    found = command("CartPole-v1", "--out", path)
    assert isinstance(found.exception, ScenarioError)
    assert "is there already; give another --out" in str(found.exception)
    assert path.read_text() == "kept"


def test_what_cannot_be_adapted_is_told_in_words(tmp_path):
    found = command("NoSuchEnv-v0", "--out", tmp_path / "x.py")
    assert "failed: NameNotFound" in str(found.exception)
    assert "--import PACKAGE" in str(found.exception)
    found = command("CartPole-v1", "--import", "no_such_module", "--out", tmp_path / "x.py")
    assert "--import no_such_module: No module named" in str(found.exception)


def test_the_inner_environment_is_unchanged_and_without_its_time_limit():
    plain = gym.make("Hopper-v5").unwrapped
    adapted = AdaptedEnv(hopper, ((SPEED, from_mujoco(JointSpeed(("thigh_joint",)))),))
    one, two = plain.reset(seed=3)[0], adapted.reset(seed=3)[0]
    plain.action_space.seed(0)
    for _ in range(40):
        assert np.array_equal(one, two)
        action = plain.action_space.sample()
        one, two = plain.step(action)[0], adapted.step(action)[0]
    layer = adapted.inner
    while isinstance(layer, gym.Wrapper):
        assert not isinstance(layer, gym.wrappers.TimeLimit)
        layer = layer.env


def test_readings_of_mujoco_are_the_worst_of_the_physics_steps_between_samples():
    adapted = AdaptedEnv(hopper, ((SPEED, from_mujoco(JointSpeed(("thigh_joint",)))),))
    adapted.reset(seed=0)
    adapted.action_space.seed(0)
    above = 0
    for _ in range(30):
        adapted.step(adapted.action_space.sample())
        speed = abs(float(adapted.inner.unwrapped.data.qvel[3]))
        assert adapted.signals[0] >= speed - 1e-12
        above += adapted.signals[0] > speed + 1e-9
    assert above > 5


def test_a_time_limit_under_other_wrappers_is_taken_off_too():
    wrapped = gym.wrappers.ClipAction(gym.make("Hopper-v5"))
    found = bare(wrapped)
    assert isinstance(found, gym.wrappers.ClipAction)
    layer = found
    while isinstance(layer, gym.Wrapper):
        assert not isinstance(layer, gym.wrappers.TimeLimit)
        layer = layer.env


def reads_nothing():
    return AdaptedEnv(cart, ((PLACE, from_info("missing")),))


def forgets_its_seed():
    return AdaptedEnv(Unseeded, ((PLACE, from_observation(0)),))


def stands_still():
    return AdaptedEnv(cart, ((PLACE, from_env(constant)),))


def constant(env):
    return 1.0


def works():
    return AdaptedEnv(cart, ((PLACE, from_observation(0)),))


class Unseeded(gym.Env):
    observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float64)
    action_space = gym.spaces.Discrete(2)
    drawn = np.random.default_rng(0)

    def reset(self, *, seed=None, options=None):
        return self.drawn.uniform(-1, 1, 1), {}

    def step(self, action):
        return self.drawn.uniform(-1, 1, 1), 0.0, False, False, {}


def test_conformance_names_what_an_adapter_gets_wrong():
    assert conformance_issues(spec_of(works)) == []
    (issue,) = conformance_issues(spec_of(reads_nothing))
    assert "info has no 'missing'" in issue
    issues = conformance_issues(spec_of(forgets_its_seed))
    assert any("Seed 0 gives another place at sample 0" in each for each in issues)
    issues = conformance_issues(spec_of(stands_still))
    assert any("No signal changes" in each for each in issues)
    issues = conformance_issues(spec_of(works, terminals={}), steps=200)
    assert any("undeclared terminal: terminated" in each for each in issues)
    assert any(
        "No signal is declared" in each for each in conformance_issues(spec_of(works, signals=()))
    )


def test_options_that_an_adapter_does_not_heed_are_refused():
    spec = spec_of(works)
    with pytest.raises(ScenarioError, match="the scenario declares none"):
        record(spec, ScriptedPolicy("p", zeros), 0, options={"parameters": {"mass": 1.0}})


def zeros(observations):
    return np.zeros(len(observations), np.int64)


def test_an_environment_without_a_model_cannot_be_read_by_mujoco():
    with pytest.raises(ScenarioError, match="CartPoleEnv has no MuJoCo model"):
        AdaptedEnv(cart, ((SPEED, from_mujoco(JointSpeed("*"))),))


def test_an_environment_that_tells_no_number_is_refused():
    class Silent(gym.Env):
        observation_space = gym.spaces.Box(0, 255, (4, 4, 3), np.uint8)
        action_space = gym.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return np.zeros((4, 4, 3), np.uint8), {}

        def step(self, action):
            return np.zeros((4, 4, 3), np.uint8), 0.0, False, False, {}

    with pytest.raises(ScenarioError, match=r"Silent-v0 tells no number .* from_env"):
        detect("Silent-v0", Silent)


class Odd(gym.Env):
    """Tells numbers under odd keys, one of them never finite, and has no dt that can be read."""

    observation_space = gym.spaces.Box(-9.0, 9.0, (2,), np.float32)
    action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
    metadata = {"render_fps": 0.5, "render_modes": []}  # noqa: RUF012 (Gymnasium's form)
    keys = ("dt", "Speed", "speed", "a b", "a-b", "reads", '\'"""\\n1 / 0', "\u2028", "")

    @property
    def dt(self):
        raise RuntimeError("not now")

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = float(self.np_random.normal())
        return self.seen()

    def step(self, action):
        self.x += 0.01 * float(action[0])
        return *self.seen()[:1], 0.0, False, False, self.seen()[1]

    def seen(self):
        info = {key: self.x + place for place, key in enumerate(self.keys)}
        return np.array([self.x, 0.0], np.float32), {**info, "lost": float("nan")}


class Stuck(Odd):
    def step(self, action):
        raise RuntimeError("the gearbox broke")

    def close(self):
        raise RuntimeError("cannot close")


for kind in (Odd, Stuck):
    gym.register(f"safegym_tests/{kind.__name__}-v0", kind)


def test_odd_names_become_signals_of_their_own_and_nothing_in_them_is_run(tmp_path):
    path = tmp_path / "odd.py"
    found = json.loads(command("safegym_tests/Odd-v0", "--out", path, "--json").output)
    names = [each["name"] for each in found["signals"]]
    assert names[:6] == ["dt_2", "speed", "speed_2", "a_b", "a_b_2", "reads_2"]
    assert len(set(names)) == len(names) == 11
    assert found["dt_s"] == "2"
    assert "info['lost'], unit unknown was nan at times, so it is left out." in found["notes"]
    module = loaded(path)
    assert conformance_issues(module.scenario()) == []
    env = module.make_env()
    _, info = env.reset(seed=3)
    assert env.signals[:9] == tuple(info[key] for key in Odd.keys)


def test_an_environment_that_breaks_is_told_in_words_and_nothing_is_written(tmp_path):
    path = tmp_path / "stuck.py"
    found = command("safegym_tests/Stuck-v0", "--out", path)
    said = "does not run with random actions: RuntimeError: the gearbox broke"
    assert isinstance(found.exception, ScenarioError)
    assert said in str(found.exception)
    assert not path.exists()
    missing = command("safegym_tests/Odd-v0", "--out", tmp_path / "none" / "odd.py")
    assert "none is not there; create it first." in str(missing.exception)


def test_the_command_is_one_of_the_scenarios_commands():
    assert CliRunner().invoke(scenarios.app, ["adapt", "--help"]).exit_code == 0


def test_an_observation_that_no_policy_can_be_given_does_not_conform():
    class Nested(Odd):
        observation_space = gym.spaces.Dict({"x": gym.spaces.Box(-9.0, 9.0, (2,), np.float32)})

        def seen(self):
            observation, info = super().seen()
            return {"x": observation}, info

    spec = ScenarioSpec(
        name="test/nested-v0",
        summary="An observation by name.",
        make_env=lambda: AdaptedEnv(Nested, ((PLACE, from_observation(0, key="x")),)),
        read_signals=read_adapted,
        signals=(PLACE,),
        clock=Clock.parse("0.1"),
        horizon=20,
        claims=(Claim(id="nested.place", statement=always(PLACE <= 9.0)),),
        physics=("gymnasium",),
    )
    (issue,) = conformance_issues(spec)
    assert "a policy is run on arrays only. Wrap it in gymnasium.wrappers.FlattenObs" in issue
