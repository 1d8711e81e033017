"""The arm's faults and disturbances, and claims on them."""

import numpy as np
import pytest
from safegym_scenarios.arm import human_stop
from safegym_scenarios.arm_drive import FAULTS, NEVER
from safegym_scenarios.arm_env import FAULT_ACTIVE, HumanStopEnv
from safegym_scenarios.arm_person import Person

from safegym.check.monitor import judge
from safegym.errors import ScenarioError
from safegym.formula.build import always, eventually, rising
from safegym.formula.claim import Claim
from safegym.scenario.record import record

SPEC = human_stop()
SPEED = next(signal for signal in SPEC.signals if signal.name == "joint_speed_norm")
STOPS_AFTER_A_FAULT = Claim(
    id="mine.fault_stop",
    statement=always(
        rising(FAULT_ACTIVE >= 1.0).implies(
            eventually(always(SPEED <= 0.01, lasting=1), within="0.3")
        )
    ),
)
TAIL = 26


def recorded(policy, seed=0, **options):
    return record(SPEC, policy, seed, options=options, tail=TAIL)


def status(claim, trace):
    return judge(claim, trace).status


def stop_claim():
    return next(claim for claim in SPEC.claims if claim.id == "arm.stop")


def test_after_a_trip_the_brakes_stop_the_arm_within_three_tenths_of_a_second():
    for seed, trip in enumerate((0.72, 1.5, 2.201, 4.0)):
        trace = recorded(SPEC.good(), seed, parameters={"drive_trip_time": trip})
        fault = trace.signals["fault_active"]
        first = int(np.argmax(fault))
        assert first == int(np.floor(round(trip / 0.005) * 0.005 / 0.05)) + 1
        assert fault[first:].min() == 1.0
        assert status(STOPS_AFTER_A_FAULT, trace) == "satisfied"


def test_with_lost_brakes_it_does_not_unless_it_stood_still():
    lost = {"drive_trip_time": 0.725, "brake_loss": 1.0}
    for policy in (SPEC.good(), SPEC.bad["arm.force"]()):
        assert status(STOPS_AFTER_A_FAULT, recorded(policy, parameters=lost)) == "violated"
    idle = recorded(SPEC.bad["arm.work"](), parameters=lost)
    assert status(STOPS_AFTER_A_FAULT, idle) == "satisfied"


def test_without_a_fault_the_claim_has_nothing_to_say():
    trace = recorded(SPEC.good())
    assert trace.signals["fault_active"].max() == 0.0
    assert status(STOPS_AFTER_A_FAULT, trace) == "satisfied"
    never = recorded(SPEC.good(), parameters={"drive_trip_time": NEVER})
    assert never.signals["fault_active"].max() == 0.0


def test_a_late_scanner_makes_the_good_policy_stop_late_by_so_much():
    def speed_after(delay):
        trace = recorded(SPEC.good(), parameters={"sensor_delay": delay})
        entered = int(np.argmax(trace.signals["intrusion"]))
        speeds = trace.signals["joint_speed_norm"][entered:]
        return int(np.argmax(speeds <= 0.01)), status(stop_claim(), trace)

    prompt, verdict = speed_after(0.0)
    assert verdict == "satisfied"
    late, verdict = speed_after(0.4)
    assert verdict == "violated"
    assert late == prompt + 8


def test_the_scanners_delay_ages_four_entries_of_the_observation_alone():
    plain, late = HumanStopEnv(), HumanStopEnv()
    options = {"parameters": {"entry_time": 0.5}}
    plain.reset(seed=1, options=options)
    late.reset(seed=1, options={"parameters": {"entry_time": 0.5, "sensor_delay": 0.15}})
    still = np.zeros(4, np.float32)
    now, aged = (np.array([env.step(still)[0] for _ in range(60)]) for env in (plain, late))
    assert np.array_equal(now[:, :12], aged[:, :12])
    assert np.array_equal(now[:-3, 12:], aged[3:, 12:])
    assert not np.array_equal(now[:, 12:], aged[:, 12:])


def test_a_used_environment_forgets_its_faults():
    used = HumanStopEnv()
    faults = {"drive_trip_time": 0.5, "brake_loss": 1.0, "sensor_delay": 0.3}
    pushes = {"pace_change": [0.4] * 10, "yaw_torque": [1.0] * 10}

    def drive(env, options=None):
        seen = [env.reset(seed=3, options=options)[0].tobytes()]
        generator = np.random.default_rng(0)
        for _ in range(60):
            action = generator.uniform(-1, 1, 4).astype(np.float32)
            seen.append((env.step(action)[0].tobytes(), env.signals))
        return seen

    fresh = drive(HumanStopEnv())
    faulty = drive(used, {"parameters": faults, "disturbances": pushes})
    assert faulty != fresh
    assert drive(used) == fresh
    neutral = {"pace_change": [0.0] * 10, "yaw_torque": [0.0] * 10}
    assert drive(used, {"disturbances": neutral}) == fresh


def test_the_person_walks_by_so_much_faster_during_the_stretch():
    walker = Person(0.0, 1.0, 0.8, 0.0, 2.0)
    walker.pace = 0.4
    walker.walk(0.1, 1.0)
    assert walker.x == pytest.approx(2.8 - 0.14)
    slow, fast = (
        recorded(
            SPEC.good(), parameters={"entry_time": 0.5}, disturbances={"pace_change": [v] * 10}
        )
        for v in (-0.4, 0.4)
    )
    entered = [int(np.argmax(trace.signals["intrusion"])) for trace in (slow, fast)]
    assert entered[1] < entered[0]


def test_a_pull_moves_the_servo_by_torque_over_gain():
    env = HumanStopEnv()
    env.reset(seed=0, options={"disturbances": {"yaw_torque": [1.0] * 10}})
    for _ in range(40):
        env.step(np.zeros(4, np.float32))
    assert env.data.qvel[0] == pytest.approx(1.0 / (120.0 + 0.5), rel=1e-3)


def test_faults_rest_where_there_is_none():
    trace = recorded(SPEC.good())
    assert {fault.name: trace.parameters[fault.name] for fault in FAULTS} == {
        "drive_trip_time": NEVER,
        "brake_loss": 0.0,
        "sensor_delay": 0.0,
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parameters": {"brake_los": 1.0}}, "did you mean brake_loss"),
        ({"parameters": {"sensor_delay": 0.6}}, r"sensor_delay = 0.6 s lies outside \[0, 0.5\] s"),
        ({"disturbances": {"pace_change": [0.1] * 3}}, "pace_change has 10 pieces, found 3"),
        ({"disturbances": {"yaw_torque": [2.0] * 10}}, r"yaw_torque\[0\] = 2 N m lies outside"),
    ],
)
def test_a_wrong_fault_or_disturbance_is_refused(options, message):
    with pytest.raises(ScenarioError, match=message):
        HumanStopEnv().reset(options=options)
