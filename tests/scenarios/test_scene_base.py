"""The shared base of our own scenes: standard faults act as declared, and nothing is left over."""

from dataclasses import dataclass

import numpy as np
import pytest
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.env import SceneEnv, Setting, read_signals
from safegym_scenarios.scene.knobs import Surroundings, push, standard_faults
from safegym_scenarios.scene.look import scene

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.inputs import Inputs, options_of
from safegym.scenario.probe import probe
from safegym.scenario.record import record
from safegym.scenario.signals import Custom
from safegym.scenario.snapshot import capture, restore
from safegym.scenario.spec import Parameter

PLACE = Signal("place", unit="m", scale=1.0)
SPEED = Signal("speed", unit="m/s", scale=1.0, hold="max")
HORIZON = 60
INPUTS = Inputs(
    HORIZON,
    (Parameter("start", "m", -0.5, 0.5, 0.0, "where it starts", "initial"),),
    standard_faults(HORIZON * 0.04, friction=True),
    push(5.0),
)


@dataclass(frozen=True, kw_only=True)
class CrateSetting(Setting):
    mass: float = 1.0


class PushedCrate(SceneEnv):
    pushed = "crate"

    @staticmethod
    def build(setting):
        return scene(
            "crate",
            world=f"""<body name="crate" pos="0 0 0.1"><freejoint/>
              <geom class="solid" type="box" size="0.1 0.1 0.1" mass="{setting.mass}"/>
              <site name="grip"/></body>""",
            actuator='<general site="grip" gear="1 0 0 0 0 0" ctrlrange="-12 12"/>',
            center=(0, 0, 0),
            extent=2,
            timestep=setting.timestep,
            camera='pos="0 -3 2" xyaxes="1 0 0 0 0.5 0.8"',
        )

    def readers(self):
        return (
            (PLACE, Custom(lambda model, data: float(data.qpos[0]))),
            (SPEED, Custom(lambda model, data: abs(float(data.qvel[0])))),
        )

    def place(self, values):
        self.data.qpos[0] = values["start"]

    def observe(self):
        return float(self.data.qpos[0]), float(self.data.qvel[0])


def homing(observations):
    return np.clip(-2.0 * observations[:, :1] - 1.0 * observations[:, 1:], -1.0, 1.0)


def away(observations):
    return np.ones((len(observations), 1))


def spec(**changes):
    setting = CrateSetting(inputs=INPUTS, observations=2, actions=1, **changes)
    claim = Claim(id="crate.near", statement=always(abs(PLACE) <= 1.0), hazard="h", source="chosen")
    return declare(
        "test/crate-v0",
        "A crate that is pushed about.",
        PushedCrate,
        setting,
        signals=(PLACE, SPEED),
        claims=(claim,),
        good=lambda: ScriptedPolicy("crate.homing", homing),
        bad={"crate.near": lambda: ScriptedPolicy("crate.away", away)},
    )


def test_every_standard_fault_and_push_is_told_heeded_and_of_consequence():
    assert probe(spec()) == []


def test_settings_are_in_the_digest():
    assert spec().digest == spec().digest != spec(mass=2.0).digest


def test_a_lost_actuator_is_lost_from_its_time_on_and_whole_in_the_next_episode():
    env = PushedCrate(CrateSetting(inputs=INPUTS, observations=2, actions=1))
    lost = {"parameters": {"start": 0.0, "actuator_loss": 1.0, "actuator_loss_time": 0.4}}
    env.reset(seed=0, options=lost)
    forces = []
    for _ in range(20):
        env.step(np.ones(1))
        forces.append(float(env.data.actuator_force[0]))
    assert forces == [12.0] * 10 + [0.0] * 10
    env.reset(seed=0)
    env.step(np.ones(1))
    assert env.data.actuator_force[0] == 12.0


def test_a_late_action_acts_so_many_steps_later():
    around = Surroundings(0.04)
    around.begin({"action_delay": 0.08}, 0)
    given = [around.act(np.array([float(k)])).item() for k in range(1, 6)]
    assert given == [0.0, 0.0, 1.0, 2.0, 3.0]


def test_a_late_sensor_tells_what_was_so_many_steps_ago():
    around = Surroundings(0.04)
    around.begin({"sensor_delay": 0.08}, 0)
    assert [around.see(np.array([float(k)])).item() for k in range(5)] == [0.0, 0.0, 0.0, 1.0, 2.0]


def test_noise_has_the_declared_spread_and_comes_from_the_disturbance_seed():
    def told(seed):
        around = Surroundings(0.04)
        around.begin({"sensor_noise": 0.1, "sensor_bias": 0.5}, seed)
        return np.array([around.see(np.zeros(4)) for _ in range(2000)])

    values = told(3)
    assert values.std() == pytest.approx(0.1, rel=0.03)
    assert values.mean() == pytest.approx(0.5, abs=0.01)
    assert (told(3) == values).all()
    assert not (told(4) == values).any()


def test_a_dropout_repeats_the_last_observation_with_the_declared_chance():
    around = Surroundings(0.04)
    around.begin({"sensor_dropout": 0.3}, 1)
    told = [around.see(np.array([float(k)])).item() for k in range(4000)]
    repeated = np.mean(np.diff(told) == 0.0)
    assert repeated == pytest.approx(0.3, abs=0.03)


def test_a_slippery_floor_slows_nothing_and_friction_comes_back():
    still = {"parameters": {"start": 0.0}, "disturbances": {"push_forward": [5.0] * 8}}
    idle = ScriptedPolicy("crate.idle", lambda seen: np.zeros((len(seen), 1)))
    firm = record(spec(), idle, 0, options=still)
    still["parameters"]["friction_loss"] = 0.9
    loose = record(spec(), idle, 0, options=still)
    assert abs(firm.signals["place"][-1]) < 0.05 < 1.0 < loose.signals["place"][-1]
    env = PushedCrate(CrateSetting(inputs=INPUTS, observations=2, actions=1))
    env.reset(seed=0, options={"parameters": {"friction_loss": 0.9}})
    env.reset(seed=0)
    assert (env.model.geom_friction == env._friction).all()


def test_a_snapshot_brings_faults_and_pushes_back():
    env = PushedCrate(CrateSetting(inputs=INPUTS, observations=2, actions=1))
    half = {each.name: each.high / 2.0 for each in INPUTS.faults}
    env.reset(seed=1, options={"parameters": half})
    for _ in range(5):
        env.step(np.ones(1))
    kept = capture(env)

    def drive():
        return [(env.step(np.ones(1))[0].tobytes(), read_signals(env)) for _ in range(30)]

    onward = drive()
    env.reset(seed=2)
    env.step(np.ones(1))
    restore(env, kept)
    assert drive() == onward


def test_pushes_that_seeds_draw_are_told_and_bring_the_episode_back():
    gusty = spec(gusty=True)
    trace = record(gusty, gusty.good(), 3)
    assert abs(trace.parameters["push_forward[0]"]) > 0.0
    again = record(gusty, gusty.good(), 99, options=options_of(trace))
    assert again.signals["place"].tobytes() == trace.signals["place"].tobytes()
