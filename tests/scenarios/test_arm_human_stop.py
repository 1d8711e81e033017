"""The arm scenario: the person, the signals, seeds, and what the policies do."""

import mujoco
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from safegym_scenarios.arm import CLAIMS, human_stop
from safegym_scenarios.arm_env import PARAMETERS, HumanStopEnv
from safegym_scenarios.arm_person import FAR, SHY, ZONE, Person
from safegym_scenarios.arm_task import JOINTS, RANGES, tool_position, working_pose

from safegym.check.monitor import judge
from safegym.errors import ScenarioError
from safegym.scenario.record import record

TAIL = 26
STILL = np.zeros(4, np.float32)


def person(**changes):
    values = {
        "entry_time": 1.0,
        "walking_speed": 1.0,
        "standing_place": 0.8,
        "side_step": 0.0,
        "dwell_time": 2.0,
    }
    return Person(**(values | changes))


def test_the_person_comes_stands_and_goes():
    walker = person()
    xs = []
    for _ in range(2000):
        walker.walk(0.005, 1.0)
        xs.append(walker.x)
    assert xs[198] == FAR
    assert min(xs) == 0.8
    standing = sum(x == 0.8 for x in xs) * 0.005
    assert standing == pytest.approx(2.0, abs=0.02)
    assert xs[-1] == FAR
    assert np.abs(np.diff(xs)).max() <= 0.005 + 1e-12


def test_the_person_halts_short_of_an_arm_in_the_way_but_does_not_flee():
    walker = person(entry_time=0.0)
    for _ in range(200):
        walker.walk(0.005, SHY)
    assert walker.x == FAR
    assert walker.stood == pytest.approx(1.0)
    assert walker.approaching


def test_the_zone_is_round_the_arm():
    walker = person(side_step=0.25)
    walker.x = float(np.sqrt(ZONE**2 - 0.25**2)) - 1e-6
    assert walker.inside
    walker.x += 2e-6
    assert not walker.inside


def test_it_keeps_gymnasiums_rules():
    check_env(HumanStopEnv(), skip_render_check=True)


def test_the_task_knows_its_own_model():
    env = HumanStopEnv()
    for joint, limits in zip(JOINTS, RANGES, strict=True):
        assert tuple(env.model.joint(joint).range) == limits
    for yaw in (-0.9, 0.0, 1.0):
        env.data.qpos[:] = working_pose(yaw)
        mujoco.mj_forward(env.model, env.data)
        assert np.allclose(env.data.site("tool").xpos, tool_position(working_pose(yaw)))


def rollout(env, seed, steps=60, options=None):
    observation, info = env.reset(seed=seed, options=options)
    actions = np.random.default_rng(seed).uniform(-1, 1, (steps, 4)).astype(np.float32)
    seen = [(observation.tobytes(), env.signals)]
    for action in actions:
        observation, reward, *_ = env.step(action)
        seen.append((observation.tobytes(), env.signals, reward))
    return seen, info


def test_a_seed_decides_an_episode_bit_for_bit_even_in_a_used_environment():
    used = HumanStopEnv()
    rollout(used, 3)
    fresh, info = rollout(HumanStopEnv(), 1)
    again, same = rollout(used, 1)
    assert fresh == again
    assert info == same
    assert rollout(used, 1, options=info)[0] == fresh


def test_a_wrong_parameter_is_refused():
    with pytest.raises(ScenarioError, match="no parameter 'entry'; did you mean entry_time"):
        HumanStopEnv().reset(options={"parameters": {"entry": 1.0}})
    assert len({parameter.name for parameter in PARAMETERS}) == len(PARAMETERS)


def test_the_arm_stands_still_within_a_quarter_of_a_second_from_full_speed():
    env = HumanStopEnv()
    env.reset(seed=0, options={"parameters": {"entry_time": 5.5}})
    for _ in range(12):
        env.step(np.ones(4, np.float32))
    assert env.signals[3] > 2.0
    speeds = []
    for _ in range(8):
        env.step(STILL)
        speeds.append(env.signals[3])
    assert max(speeds[5:]) <= 0.01


def test_distance_is_cut_at_a_metre_and_else_the_engines_least_over_all_pairs():
    env = HumanStopEnv()
    names = [env.model.geom(i).name for i in range(env.model.ngeom)]
    arm = [i for i, name in enumerate(names) if name.startswith("arm ")]
    people = [i for i, name in enumerate(names) if name.startswith("person ")]
    assert (len(arm), len(people)) == (3, 6)
    env.reset(seed=2, options={"parameters": {"entry_time": 0.5, "start_yaw": 0.0}})
    seen = []
    for _ in range(70):
        env.step(STILL)
        found = min(
            mujoco.mj_geomDistance(env.model, env.data, a, b, 3.0, None)
            for a in arm
            for b in people
        )
        seen.append((env.signals[2], min(1.0, found)))
    for recorded, exact in seen[:40]:  # while the person comes nearer, the last is the least
        assert recorded == pytest.approx(exact, abs=1e-9)
    assert min(exact for _, exact in seen) == pytest.approx(SHY, abs=0.02)


def test_the_good_policy_keeps_every_claim_and_needs_the_tail_for_a_late_intrusion():
    spec = human_stop()
    assert spec.validate() == []
    for seed in range(3):
        trace = record(spec, spec.good(), seed, tail=TAIL)
        assert [judge(claim, trace).status for claim in CLAIMS] == ["satisfied"] * 4
        assert trace.signals["intrusion"].max() == 1.0


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_each_bad_policy_breaks_its_claim(claim):
    spec = human_stop()
    policy = spec.bad[claim.id]()
    found = [judge(claim, record(spec, policy, seed, tail=TAIL)).status for seed in range(2)]
    assert found == ["violated", "violated"]


def test_creeping_breaks_the_stop_claim_alone():
    spec = human_stop()
    trace = record(spec, spec.bad["arm.stop"](), 0, tail=TAIL)
    statuses = {claim.id: judge(claim, trace).status for claim in CLAIMS}
    assert [name for name, status in statuses.items() if status != "satisfied"] == ["arm.stop"]
