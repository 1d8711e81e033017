"""The quadrotors against second opinions: weight, drag, ground effect, distances, faults."""

from math import atan, hypot, pi, sin, sqrt

import mujoco
import numpy as np
import pytest
from safegym_scenarios import SCENARIOS
from safegym_scenarios.quadrotor.airframe import FEET, MASS
from safegym_scenarios.quadrotor.claims import clear_of
from safegym_scenarios.quadrotor.env import DRAG, ground_effect

from safegym.scenario.snapshot import capture, restore

GRAVITY = 9.81


def made(name, **parameters):
    env = SCENARIOS[name]().make_env()
    env.reset(seed=0, options={"parameters": parameters} if parameters else None)
    return env


def flown(env, action, steps):
    for _ in range(steps):
        env.step(np.array(action, np.float32))
    return env


def quiet(name, **parameters):
    env = SCENARIOS[name]().make_env()
    rest = {each.name: [0.0] * each.pieces for each in env.setting.inputs.disturbances}
    env.reset(seed=0, options={"disturbances": rest, "parameters": parameters})
    return env


def test_hover_thrust_carries_the_weight():
    env = flown(quiet("drone/hover-gusts-v0"), (0.0, 0.0, 0.0), 60)
    assert env.data.act.sum() == pytest.approx(0.9 * GRAVITY, rel=1e-3)


def test_steady_flight_leans_as_far_as_the_air_drags():
    env = flown(quiet("drone/hover-gusts-v0"), (0.5, 0.0, 0.0), 120)
    speed, tilt = float(env.data.qvel[0]), env.stepper.values[1]
    assert 0.5 < speed < 1.0
    assert tilt == pytest.approx(atan(DRAG * speed / (0.9 * GRAVITY)), rel=0.02)


def test_a_load_adds_its_weight_to_the_thrust():
    env = flown(quiet("drone/heavy-load-v0", load=0.2), (0.0, 0.0, 0.5), 80)
    assert env.data.act.sum() == pytest.approx(1.1 * GRAVITY, rel=0.01)
    env.reset(seed=1, options={"parameters": {"load": 0.35}})
    mass = env.model.body("drone").mass[0] + env.model.body("load").mass[0]
    assert mass == pytest.approx(1.25)


def test_a_dropped_parcel_falls_freely():
    env = flown(made("drone/load-drop-v0", load=0.3, drop_time=2.0), (0.0, 0.0, 0.3), 40)
    released = env.here()[2] - 0.09
    flown(env, (0.0, 0.0, 0.0), 6)
    slot = int(env.model.body("parcel").mocapid[0])
    fallen = GRAVITY / 2.0 * (env.data.time - 0.01 - 2.0) ** 2
    assert released - env.data.mocap_pos[slot][2] == pytest.approx(fallen, abs=0.01)
    assert env.model.body("load").mass[0] < 0.01


@pytest.mark.parametrize("height", [0.1, 0.2, 0.6])
def test_ground_effect_is_the_textbook_curve(height):
    wanted = 1.0 / (1.0 - (0.2 / (4.0 * height)) ** 2)
    assert ground_effect(height) == pytest.approx(min(1.4, wanted))


@pytest.mark.parametrize(
    "name",
    ["drone/pillars-v0", "drone/window-v0", "drone/power-line-v0", "drone/pipe-inspection-v0"],
)
def test_clearance_agrees_with_the_simulators_distance(name):
    env = made(name)
    cage = env.model.geom("cage").id
    solids = [env.model.geom(f"obstacle_{shape.name}").id for shape in env.setting.shapes]
    generator = np.random.default_rng(0)
    for _ in range(20):
        env.data.qpos[:3] = generator.uniform((-1.0, -1.5, 0.5), (5.0, 1.5, 2.5))
        mujoco.mj_forward(env.model, env.data)
        if env.clearance() <= 0.0:
            continue
        found = [mujoco.mj_geomDistance(env.model, env.data, cage, s, 5.0, None) for s in solids]
        assert env.clearance() == pytest.approx(min(5.0, *found), abs=1e-4)


def test_a_rotor_that_is_lost_gives_nothing_from_its_time_on():
    fault = {"rotor_loss": 0.6, "rotor_loss_time": 1.0}
    env, sound = quiet("drone/hover-gusts-v0", **fault), quiet("drone/hover-gusts-v0")
    for step in range(24):
        env.step(np.zeros(3))
        sound.step(np.zeros(3))
        same = bool((env.data.act == sound.data.act).all())
        assert same == (step < 20)


def test_wind_pushes_with_the_drag_of_still_air():
    still, windy = (made("drone/landing-v0", cross_wind=speed) for speed in (0.0, 2.0))
    for env in (still, windy):
        env.step(np.zeros(3))
    force = windy.data.qfrc_applied[1] - still.data.qfrc_applied[1]
    gained = float(windy.data.qvel[1] - still.data.qvel[1])
    assert force == pytest.approx(DRAG * (2.0 - gained), abs=0.02)


def test_the_deck_heaves_as_declared():
    parameters = {"heave": 0.2, "heave_period": 4.0, "heave_phase": 0.0}
    env = flown(made("drone/landing-deck-v0", **parameters), (0.0, 0.0, 0.2), 16)
    time = env.data.time - 0.01
    assert env.goal[2] == pytest.approx(0.6 + 0.2 * sin(2.0 * pi * time / 4.0))


def test_a_snapshot_brings_the_autopilots_memory_back():
    env = flown(made("drone/hover-motor-loss-v0"), (0.2, 0.0, 0.0), 60)
    kept = capture(env)
    onward = [env.step(np.full(3, 0.3))[0].tobytes() for _ in range(20)]
    env.reset(seed=5)
    flown(env, (0.0, 0.5, 0.0), 3)
    restore(env, kept)
    assert [env.step(np.full(3, 0.3))[0].tobytes() for _ in range(20)] == onward


@pytest.mark.parametrize(("metres", "seconds"), [(0.1, 0.4), (0.4, 1.0)])
def test_a_push_of_1_5_n_moves_a_hovering_drone_as_far_as_the_claims_say(metres, seconds):
    env = made("drone/hover-gusts-v0", start_x=0.0, start_y=0.0)
    start = env.here()[1]
    for _ in range(round(seconds / 0.05)):
        env.disturb({"push_left": 1.5})
        env.stepper.advance(env.tick)
    assert metres <= abs(env.here()[1] - start) <= 1.2 * metres
    said = clear_of("any.near", metres, "any").source
    assert said.endswith(f"{metres:g} m within {seconds:g} s")


def test_legs_that_catch_tip_the_drone_from_four_times_the_speed_allowed():
    env = made("drone/landing-v0")
    inertia, arm, high = float(env.model.body("drone").inertia[0]), 0.1, FEET
    spin = MASS * high / (inertia + MASS * (arm**2 + high**2))
    lifted = 9.81 * MASS * (hypot(arm, high) - high)
    speed = sqrt(2.0 * lifted / (inertia + MASS * (arm**2 + high**2))) / spin
    assert speed == pytest.approx(1.3, abs=0.05)
