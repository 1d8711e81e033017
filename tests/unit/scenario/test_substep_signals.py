from fractions import Fraction

import gymnasium as gym
import mujoco
import numpy as np
import pytest

from safegym.errors import ScenarioError
from safegym.formula.terms import Signal
from safegym.scenario.signals import (
    ActuatorEffort,
    ActuatorSaturation,
    AngularSpeed,
    Clearance,
    Collision,
    ContactForce,
    Custom,
    JointLimitMargin,
    JointSpeed,
    LateralDrift,
    LateralOffset,
    Speed,
    SubstepStepper,
    Tilt,
    geom_ids,
    hook_substeps,
    read_stepper,
)

BALL = """
<mujoco><option timestep="0.001" gravity="0 0 0" integrator="implicitfast"/>
<worldbody>
  <geom name="wall" type="box" size="0.1 1 1" pos="1.1 0 0" solref="-40000 -20"/>
  <geom name="ghost" type="box" size="0.1 1 1" pos="-3 0 0" contype="0" conaffinity="0"/>
  <body name="ball"><freejoint/><geom name="ball" type="sphere" size="0.1" mass="1"/></body>
</worldbody></mujoco>
"""
ARM = """
<mujoco><compiler angle="radian"/><option timestep="0.01"/>
<worldbody><body name="upper"><joint name="shoulder" axis="0 0 1" range="-1 1" limited="true"/>
  <geom name="upper" type="capsule" size=".05" fromto="0 0 0 1 0 0"/>
  <body name="lower" pos="1 0 0"><joint name="elbow" axis="0 0 1" range="-2 2" limited="true"/>
    <geom name="lower" type="capsule" size=".05" fromto="0 0 0 1 0 0"/>
    <body name="tool" pos="1 0 0"><joint name="reach" type="slide" axis="1 0 0"/>
      <geom name="tool" type="sphere" size=".05"/></body></body></body></worldbody>
<actuator>
  <motor name="m1" joint="shoulder" gear="3" ctrlrange="-2 2" ctrllimited="true"/>
  <motor name="m2" joint="elbow" forcerange="-5 10" forcelimited="true"/>
  <motor name="free" joint="reach"/>
</actuator></mujoco>
"""


def loaded(xml):
    model = mujoco.MjModel.from_xml_string(xml)
    return model, mujoco.MjData(model)


def stepper_of(xml, *pairs, substeps=10):
    model, data = loaded(xml)
    return SubstepStepper(model, data, pairs, substeps=substeps)


def signal(name, hold="sample", unit="1"):
    return Signal(name, unit=unit, hold=hold)


def test_a_collision_that_begins_and_ends_inside_one_control_step_is_seen():
    stepper = stepper_of(
        BALL,
        (signal("hit", "any"), Collision("ball", "wall")),
        (signal("hit_now"), Collision("ball", "wall")),
        (signal("force", "max", "N"), ContactForce("ball", "wall")),
        (signal("gap", "min", "m"), Clearance("ball", "wall", farthest=2.0)),
        (signal("gap_now", unit="m"), Clearance("ball", "wall", farthest=2.0)),
        substeps=100,
    )
    data = stepper.data
    data.qpos[0], data.qvel[0] = 0.85, 2.0  # 0.05 m from touching, at 2 m/s: 25 sub-steps
    stepper.reset()
    assert stepper.values[0] == 0.0
    stepper.advance()
    hit, hit_now, force, gap, gap_now = stepper.values
    assert (hit, hit_now) == (1.0, 0.0)
    assert force > 50.0
    assert gap < 0.0 < gap_now
    stepper.advance()
    assert stepper.values[:3] == (0.0, 0.0, 0.0)


def test_a_listed_contact_that_does_not_touch_is_no_collision():
    wide = BALL.replace('mass="1"/>', 'mass="1" margin="0.2"/>')
    stepper = stepper_of(
        wide,
        (signal("hit", "any"), Collision("ball", "wall")),
        (signal("gap", "min", "m"), Clearance("ball", "wall", farthest=2.0)),
    )
    stepper.data.qpos[0] = 0.85
    stepper.reset()
    assert stepper.data.ncon == 1
    assert stepper.values[0] == 0.0
    assert stepper.values[1] == pytest.approx(0.05)


def test_a_touching_contact_is_a_collision():
    stepper = stepper_of(BALL, (signal("hit", "any"), Collision("ball", "wall")))
    stepper.data.qpos[0] = 0.91
    stepper.reset()
    assert stepper.values == (1.0,)


def test_groups_that_the_model_keeps_from_touching_are_refused():
    with pytest.raises(ScenarioError, match="No geom of 'ball' can ever be listed in contact"):
        stepper_of(BALL, (signal("hit"), Collision("ball", "ghost")))


def test_parent_and_child_are_kept_from_touching_and_refused():
    with pytest.raises(ScenarioError, match="parent and child"):
        stepper_of(ARM, (signal("hit"), Collision("upper", "lower")))
    stepper_of(ARM, (signal("hit"), Collision("upper", "tool")))


def test_clearance_needs_no_collision_flags_and_is_capped():
    stepper = stepper_of(
        BALL, (signal("gap", "min", "m"), Clearance("ball", "ghost", farthest=1.5))
    )
    stepper.reset()
    assert stepper.values == (1.5,)
    stepper.data.qpos[0] = -2.0
    stepper.reset()
    assert stepper.values[0] == pytest.approx(0.8)


def test_extremes_are_those_of_a_plain_loop_over_all_substeps():
    holds = ("max", "min", "sample", "any")
    pairs = [(signal(f"s{h}", h), Custom(lambda m, d: float(d.qvel[0]))) for h in holds]
    stepper = stepper_of(BALL, *pairs)
    stepper.reset()
    rng = np.random.default_rng(0)
    pushes, seen = iter(rng.normal(size=40) * 50), []

    def control():
        stepper.data.qfrc_applied[0] = next(pushes)

    for _ in range(4):
        stepper.advance(control)
        seen.append(stepper.values)
    model, data = loaded(BALL)
    pushes = iter(np.random.default_rng(0).normal(size=40) * 50)
    for most, least, last, any_ in seen:
        speeds = []
        for _ in range(10):
            data.qfrc_applied[0] = next(pushes)
            mujoco.mj_step(model, data)
            speeds.append(float(data.qvel[0]))
        assert (most, least, last, any_) == (max(speeds), min(speeds), speeds[-1], max(speeds))


def test_the_split_step_takes_the_same_course_as_a_plain_step():
    model, data = loaded(ARM)
    stepper = stepper_of(ARM, (signal("speed"), JointSpeed(("shoulder", "elbow"))))
    stepper.reset()
    mujoco.mj_forward(model, data)
    rng = np.random.default_rng(1)
    for _ in range(30):
        ctrl = rng.uniform(-2, 2, 3)
        data.ctrl[:] = stepper.data.ctrl[:] = ctrl
        mujoco.mj_step(model, data, nstep=10)
        stepper.advance()
    np.testing.assert_array_equal(stepper.data.qpos, data.qpos)
    np.testing.assert_array_equal(stepper.data.qvel, data.qvel)


def test_positions_read_belong_to_the_new_instant_not_the_one_before():
    stepper = stepper_of(BALL, (signal("x"), Custom(lambda m, d: float(d.xpos[1, 0]))), substeps=1)
    stepper.data.qvel[0] = 1.0
    stepper.reset()
    stepper.advance()
    assert stepper.values[0] == stepper.data.qpos[0] == pytest.approx(0.001)


def test_a_state_set_from_outside_between_steps_is_stepped_from():
    one = stepper_of(ARM, (signal("speed"), JointSpeed("shoulder")))
    one.reset()
    one.advance()
    room = np.zeros(mujoco.mj_stateSize(one.model, mujoco.mjtState.mjSTATE_INTEGRATION))
    mujoco.mj_getState(one.model, one.data, room, mujoco.mjtState.mjSTATE_INTEGRATION)
    one.data.ctrl[0] = 1.0
    one.advance()
    after = one.data.qpos.copy()
    mujoco.mj_setState(one.model, one.data, room, mujoco.mjtState.mjSTATE_INTEGRATION)
    one.data.ctrl[0] = 1.0
    one.advance()
    np.testing.assert_array_equal(one.data.qpos, after)


def test_the_clock_of_the_stepper_is_exact():
    odd = BALL.replace("0.001", str(1 / 240))
    assert stepper_of(odd, substeps=12).dt == Fraction(1, 20)


def test_a_divergence_shows_as_nan_until_the_next_reset(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warning to a file here
    stepper = stepper_of(BALL, (signal("speed", "max"), Speed("ball")))
    stepper.reset()
    stepper.data.qvel[0] = np.nan
    stepper.advance()
    assert stepper.diverged
    assert np.isnan(stepper.values[0])
    stepper.advance()
    assert np.isnan(stepper.values[0])
    mujoco.mj_resetData(stepper.model, stepper.data)
    stepper.reset()
    assert stepper.values == (0.0,)


def test_a_nan_reading_is_never_dropped_by_an_extreme():
    readings = iter([1.0, 2.0, float("nan"), 5.0])
    stepper = stepper_of(
        BALL, (signal("odd", "max"), Custom(lambda m, d: next(readings))), substeps=3
    )
    stepper.reset()
    stepper.advance()
    assert np.isnan(stepper.values[0])


def test_vectors_keep_extremes_by_component():
    wave = iter(([0.0, 0.0], [1.0, -5.0], [3.0, -7.0], [2.0, -1.0]))
    vector = Signal("v", unit="1", shape=(2,), hold="max")
    stepper = stepper_of(BALL, (vector, Custom(lambda m, d: np.array(next(wave)))), substeps=3)
    stepper.reset()
    stepper.advance()
    np.testing.assert_array_equal(stepper.values[0], [3.0, -1.0])


def test_joint_limit_margin_is_the_smallest_of_all_joints():
    stepper = stepper_of(ARM, (signal("margin", "min"), JointLimitMargin(("shoulder", "elbow"))))
    stepper.data.qpos[:2] = 0.7, -1.9
    stepper.reset()
    assert stepper.values[0] == pytest.approx(0.1)
    stepper.data.qpos[0] = 1.25
    stepper.reset()
    assert stepper.values[0] == pytest.approx(-0.25)


@pytest.mark.parametrize(
    ("reader", "message"),
    [
        (JointLimitMargin("*"), "Joints shoulder, elbow, reach are not all hinges"),
        (JointSpeed("*"), "not all hinges"),
        (JointLimitMargin("reach"), "Joint 'reach' has no limit"),
        (JointSpeed("sholder"), "No joint of the model is named 'sholder'; it has shoulder"),
        (Speed("tol"), "No body of the model is named 'tol'; it has tool"),
        (Clearance("tool", "upr", farthest=1.0), "No geom of the model is named 'upr'; it has upp"),
        (Clearance("tool", "upper", farthest=float("inf")), "finite farthest > 0 m, found inf"),
        (Collision("tool", ("tool", "upper")), "Geom 'tool' is in both groups"),
        (ActuatorSaturation("free"), "Actuator 'free' has no force limit"),
        (LateralDrift("tool", along=(0, 0, 2)), r"direction \(0, 0, 2\) is vertical"),
    ],
)
def test_a_reader_that_does_not_fit_the_model_is_refused_in_words(reader, message):
    with pytest.raises(ScenarioError, match=message):
        stepper_of(ARM, (signal("s"), reader))


def test_joint_types_compare_with_numpy_numbers_on_this_mujoco():
    model, _ = loaded(ARM)
    assert int(model.jnt_type[2]) == int(mujoco.mjtJoint.mjJNT_SLIDE)


def test_joint_speed_is_the_norm_of_the_named_joints():
    stepper = stepper_of(ARM, (signal("speed"), JointSpeed(("shoulder", "elbow"))))
    stepper.data.qvel[:] = 3.0, 4.0, 100.0
    stepper.reset()
    assert stepper.values[0] == pytest.approx(5.0)


def test_effort_and_saturation_are_those_of_the_last_control():
    stepper = stepper_of(
        ARM,
        (signal("effort", "max"), ActuatorEffort(("m1", "m2"))),
        (signal("share", "max"), ActuatorSaturation(("m1", "m2"))),
    )
    stepper.data.ctrl[:] = 1.0, -4.0, 0.0
    stepper.reset()
    assert stepper.values == (pytest.approx(4.0), pytest.approx(0.8))
    stepper.data.ctrl[:] = 5.0, 7.0, 0.0
    stepper.advance()
    assert stepper.values == (pytest.approx(7.0), pytest.approx(1.0))


def test_speed_tilt_drift_and_offset_against_formulas():
    stepper = stepper_of(
        BALL,
        (signal("speed"), Speed("ball")),
        (signal("spin"), AngularSpeed("ball")),
        (signal("tilt"), Tilt("ball")),
        (signal("drift"), LateralDrift("ball", along=(3.0, 4.0, 9.0))),
        (
            signal("bent"),
            LateralDrift("ball", along=lambda position: (-position[1], position[0], 0)),
        ),
        (signal("offset"), LateralOffset("ball", along=(1, 1, 0), origin=(0, 1, 0))),
    )
    angle = 0.4
    stepper.data.qpos[:] = 0.5, 0.25, 0.1, np.cos(angle / 2), np.sin(angle / 2), 0, 0
    stepper.data.qvel[:] = 1.0, 2.0, -2.0, 0.0, 0.3, 0.4
    stepper.reset()
    speed, spin, tilt, drift, bent, offset = stepper.values
    assert speed == pytest.approx(3.0)
    assert spin == pytest.approx(0.5)
    assert tilt == pytest.approx(angle)
    assert drift == pytest.approx(abs(-0.8 * 1.0 + 0.6 * 2.0))
    radial = np.array([0.5, 0.25]) / np.hypot(0.5, 0.25)
    assert bent == pytest.approx(abs(radial @ [1.0, 2.0]))
    assert offset == pytest.approx(abs(0.5 - 0.25 + 1) / np.sqrt(2))


def test_geoms_are_selected_by_pattern_and_by_body():
    model, _ = loaded(ARM)
    assert geom_ids(model, "*er") == (0, 1)
    assert geom_ids(model, "body:lower") == (1, 2)
    assert geom_ids(model, ("tool", "body:upper")) == (0, 1, 2)


def test_a_runge_kutta_model_is_refused():
    with pytest.raises(ScenarioError, match="cannot split a Runge-Kutta step"):
        stepper_of(BALL.replace("implicitfast", "RK4"))


READERS = (
    (Signal("torso_speed", unit="m/s", hold="max"), Speed("torso")),
    (Signal("floor_force", unit="N", hold="max"), ContactForce("foot_geom", "floor")),
    (Signal("floor_gap", unit="m", hold="min"), Clearance("foot_geom", "floor", farthest=1.0)),
    (Signal("joint_speed", unit="rad/s", hold="max"), JointSpeed("*_joint")),
)


def hopper(hooked):
    env = gym.make("Hopper-v5").unwrapped
    if hooked:
        hook_substeps(env, READERS)
    return env


def course(env):
    observation, _ = env.reset(seed=3)
    rows, rng = [observation], np.random.default_rng(0)
    for _ in range(60):
        observation, reward, terminated, _, _ = env.step(rng.uniform(-1, 1, 3).astype(np.float32))
        rows.append([*observation, reward])
        if terminated:
            break
    return rows


def test_the_hook_leaves_a_gymnasium_environment_bit_for_bit_as_it_was():
    plain, hooked = course(hopper(False)), course(hopper(True))
    assert len(plain) == len(hooked) > 10
    for one, other in zip(plain, hooked, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_hook_reads_every_substep_as_a_hand_written_loop_does():
    env, loop = hopper(True), hopper(False)
    env.reset(seed=5)
    loop.reset(seed=5)
    assert read_stepper(env)[2] > 0.0
    names = [f"{part}_joint" for part in ("thigh", "leg", "foot")]
    dofs = [loop.model.jnt_dofadr[loop.model.joint(name).id] for name in names]
    for _ in range(10):
        env.step(np.float32([0.5, 0.5, 0.5]))
        speeds = []
        loop.data.ctrl[:] = 0.5
        for _ in range(loop.frame_skip):
            mujoco.mj_step(loop.model, loop.data)
            speeds.append(np.linalg.norm(loop.data.qvel[dofs]))
        assert read_stepper(env)[3] == pytest.approx(max(speeds))
        assert env.stepper.dt == Fraction(loop.frame_skip) * Fraction(1, 500)


def test_the_hook_needs_a_mujoco_environment():
    with pytest.raises(ScenarioError, match="CartPoleEnv is not a Gymnasium MujocoEnv"):
        hook_substeps(gym.make("CartPole-v1"), READERS)
