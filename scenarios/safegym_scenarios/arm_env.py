"""The arm at its task, and a person who walks in, as a Gymnasium environment.

| index | observation | divided by |
|---|---|---|
| 0 to 3 | joint angles from mid-range: yaw, shoulder, elbow, wrist | half of the range |
| 4 to 7 | joint speeds | 1.4 rad/s |
| 8 to 11 | way to go to the present station, per joint, at most 1 rad | 1 rad |
| 12 | 1 while a person is inside the zone | 1 |
| 13, 14 | where the person is: ahead, to the left | 2.8, 0.25 m |
| 15 | distance from arm to person, at most 1 m | 1 m |

Action: joint speeds in [-1, 1]^4 of 1.4 rad/s.
"""

from copy import copy
from functools import cache
from importlib.resources import files
from math import hypot
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from safegym_predicates.signals import (
    HUMAN_CONTACT_FORCE,
    HUMAN_DISTANCE,
    INTRUSION,
    JOINT_LIMIT_MARGIN,
    JOINT_SPEED_NORM,
)

from safegym.formula.terms import Signal
from safegym.scenario.inputs import Drawn, Inputs
from safegym.scenario.signals import (
    Clearance,
    ContactForce,
    Custom,
    JointLimitMargin,
    JointSpeed,
    SubstepStepper,
)
from safegym.scenario.signals.engine import mj
from safegym_scenarios.arm_drive import DISTURBANCES, FAULTS, HORIZON, YAW, Drives, Scanner
from safegym_scenarios.arm_person import FAR, Person
from safegym_scenarios.arm_person import PARAMETERS as PERSON_PARAMETERS
from safegym_scenarios.arm_task import (
    JOINTS,
    RANGES,
    REACHED,
    Pose,
    largest_error,
    tool_position,
    working_pose,
)
from safegym_scenarios.arm_task import PARAMETERS as TASK_PARAMETERS
from safegym_scenarios.draws import draw_disturbance_seed

Observation = NDArray[np.float32]
SUBSTEPS = 10
TOP_SPEED = 1.4
SIZE = 16
PARAMETERS = (*PERSON_PARAMETERS, *TASK_PARAMETERS)
INPUTS = Inputs(HORIZON, PARAMETERS, FAULTS, DISTURBANCES)
STATIONS_REACHED = Signal("stations_reached", unit="1", scale=1.0)
"""How many stations the arm has reached so far in this episode."""
FAULT_ACTIVE = Signal("fault_active", unit="1", scale=1.0, hold="max")
"""1 from the instant on at which the drives have tripped, else 0."""
SIGNALS = (
    INTRUSION,
    HUMAN_CONTACT_FORCE,
    HUMAN_DISTANCE,
    JOINT_SPEED_NORM,
    JOINT_LIMIT_MARGIN,
    STATIONS_REACHED,
    FAULT_ACTIVE,
)
FARTHEST = 1.0
"""The distance between arm and person in m is recorded up to here."""
_OUT_OF_REACH = 0.94 + 0.29 + FARTHEST
"""Reach of the arm, half-width of the person, FARTHEST: beyond their sum all are FARTHEST."""
_MIDDLE = tuple((low + high) / 2.0 for low, high in RANGES)
_HALF = tuple((high - low) / 2.0 for low, high in RANGES)


@cache
def _compiled() -> Any:
    asset = files("safegym_scenarios").joinpath("arm.xml")
    return mj.MjModel.from_xml_string(asset.read_text(encoding="utf-8"))


class HumanStopEnv(gym.Env[Observation, Observation]):
    """Reach two stations in turn; a person walks in at some time; one step is 0.05 s.

    `reset(seed)` decides the whole episode; its option "parameters" (name -> value) overrides
    what the seed draws and sets faults, its option "disturbances" (name -> 10 numbers) changes the
    person's pace and pulls at the arm. No seed draws either of those, so "disturbance_seed" is
    only passed through. Never terminates. `signals` holds the declared signals, in order.

    From `drive_trip_time` on the drives ignore actions and brake. While `sensor_delay` is not 0,
    indices 12 to 15 of the observation are that old.

    Reward: radians gained on the present station and 1 for reaching it; while a person is inside
    the zone, minus the joint speed's norm; minus 0.05 per newton pressed on the person, at most 10.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012 (Gymnasium's form)

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.observation_space = gym.spaces.Box(-20.0, 20.0, (SIZE,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (4,), np.float32)
        self.model = copy(_compiled())
        self.data = mj.MjData(self.model)
        self.person = Person(0.0, 1.0, 1.0, 0.0, 1.0)
        self.signals: tuple[float, ...] = ()
        self._drives, self._scanner = Drives(self.model), Scanner()
        self._step = 0
        self._pace: tuple[float, ...] | None = None
        self._pull: tuple[float, ...] | None = None
        self._stepper = self._make_stepper()
        self._gap = Clearance("arm *", "person *", FARTHEST).bind(self.model, self.data)
        self._room = FARTHEST
        self._place = {n: self._mocap(n) for n in ("person", "station a", "station b")}
        self._pause = float(self.model.opt.timestep)
        self._targets: tuple[Pose, Pose] = (working_pose(0.0), working_pose(0.0))
        self._reached = 0
        self._renderer: Any = None

    def _make_stepper(self) -> SubstepStepper:
        readers = (
            (INTRUSION, Custom(lambda model, data: float(self.person.inside))),
            (HUMAN_CONTACT_FORCE, ContactForce("arm *", "person *")),
            (HUMAN_DISTANCE, Custom(lambda model, data: self._clear())),
            (JOINT_SPEED_NORM, JointSpeed(JOINTS)),
            (JOINT_LIMIT_MARGIN, JointLimitMargin(JOINTS)),
        )
        return SubstepStepper(self.model, self.data, readers, substeps=SUBSTEPS)

    def _mocap(self, name: str) -> int:
        return int(self.model.body_mocapid[self.model.body(name).id])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Draw when and where a person comes, and where the stations are.

        info has "parameters", "disturbances" where some are given, and "disturbance_seed". Raises
        ScenarioError for an unknown name, a value outside its range or a wrong number of pieces.
        """
        super().reset(seed=seed)
        disturbance_seed = draw_disturbance_seed(self.np_random, options)
        drawn = INPUTS.draw(self.np_random, options)
        values = drawn.parameters
        self._begin(drawn)
        self.person = Person(**{p.name: values[p.name] for p in PERSON_PARAMETERS})
        self._targets = (
            working_pose(values["station_a_yaw"]),
            working_pose(values["station_b_yaw"]),
        )
        self._reached = 0
        mj.mj_resetData(self.model, self.data)
        self.data.qpos[:] = working_pose(values["start_yaw"])
        for name, target in zip(("station a", "station b"), self._targets, strict=True):
            self.data.mocap_pos[self._place[name]] = tool_position(target)
        self._move_person()
        self._stepper.reset()
        self._note()
        return self._observe(), {**drawn.info, "disturbance_seed": disturbance_seed}

    def _begin(self, drawn: Drawn) -> None:
        """Healthy or faulty drives and scanner, and the disturbances that are given."""
        values = drawn.parameters
        self._drives.reset(values["drive_trip_time"], values["brake_loss"])
        self._scanner.reset(values["sensor_delay"])
        self._pace, self._pull = drawn.schedule("pace_change"), drawn.schedule("yaw_torque")
        self._step = 0

    def step(self, action: Observation) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Move 0.05 s. Components of the action beyond [-1, 1] are cut off there."""
        self.data.ctrl[:] = np.clip(action, -1.0, 1.0) * TOP_SPEED
        self._disturb()
        before = largest_error(self._pose(), self._target())
        self._stepper.advance(self._walk)
        after = largest_error(self._pose(), self._target())
        reached = after <= REACHED
        self._reached += reached
        self._note()
        return self._observe(), self._reward(before - after, reached), False, False, {}

    def _disturb(self) -> None:
        step = min(self._step, HORIZON - 1)
        if self._pace is not None:
            self.person.pace = self._pace[step]
        if self._pull is not None:
            self.data.qfrc_applied[YAW] = self._pull[step]
        self._step += 1

    def _walk(self) -> None:
        self._drives.tick(self.data)
        self.person.walk(self._pause, self._room)
        self._move_person()

    def _clear(self) -> float:
        """Clearance between arm and person in m, at most 1."""
        x, y = self.person.x, self.person.y
        self._room = FARTHEST if hypot(x, y) >= _OUT_OF_REACH else float(self._gap())
        return self._room

    def _move_person(self) -> None:
        self.data.mocap_pos[self._place["person"]] = (self.person.x, self.person.y, 0.0)

    def _pose(self) -> Pose:
        yaw, shoulder, elbow, wrist = self.data.qpos.tolist()
        return yaw, shoulder, elbow, wrist

    def _target(self) -> Pose:
        return self._targets[self._reached % 2]

    def _note(self) -> None:
        values = map(float, self._stepper.values)
        self.signals = (*values, float(self._reached), float(self._drives.tripped))

    def _observe(self) -> Observation:
        pose, target = self._pose(), self._target()
        angles = ((q - m) / h for q, m, h in zip(pose, _MIDDLE, _HALF, strict=True))
        speeds = (speed / TOP_SPEED for speed in self.data.qvel.tolist())
        ways = (max(-1.0, min(1.0, b - a)) for a, b in zip(pose, target, strict=True))
        person = self.person
        seen = (float(person.inside), person.x / FAR, person.y / 0.25, min(1.0, self.signals[2]))
        return np.array(
            (
                *angles,
                *speeds,
                *ways,
                *self._scanner.report(seen),
            ),
            dtype=np.float32,
        )

    def _reward(self, progress: float, reached: bool) -> float:
        intrusion, force, _, speed, _, _, _ = self.signals
        reward = progress + float(reached) - min(10.0, 0.05 * force)
        return reward - 0.2 * speed if intrusion >= 1.0 else reward

    def render(self) -> Any:
        """A picture (480, 640, 3) uint8, None unless render_mode is "rgb_array"."""
        if self.render_mode != "rgb_array":
            return None
        if self._renderer is None:
            self._renderer = mj.Renderer(self.model, 480, 640)
        self._renderer.update_scene(self.data, camera="overview")
        return self._renderer.render()

    def close(self) -> None:
        """Free the renderer, if there is one."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


def read_signals(env: Any) -> tuple[float, ...]:
    """Values of the declared signals, in order."""
    signals: tuple[float, ...] = env.signals
    return signals
