"""Gymnasium's MuJoCo systems with named signals, faults and disturbances.

Without a knob in use, `reset(seed)` and `step` are Gymnasium's, bit for bit.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.envs.mujoco.ant_v5 import AntEnv
from gymnasium.envs.mujoco.half_cheetah_v5 import HalfCheetahEnv
from gymnasium.envs.mujoco.hopper_v5 import HopperEnv
from gymnasium.envs.mujoco.humanoid_v5 import HumanoidEnv
from gymnasium.envs.mujoco.humanoidstandup_v5 import HumanoidStandupEnv
from gymnasium.envs.mujoco.inverted_double_pendulum_v5 import InvertedDoublePendulumEnv
from gymnasium.envs.mujoco.inverted_pendulum_v5 import InvertedPendulumEnv
from gymnasium.envs.mujoco.pusher_v5 import PusherEnv
from gymnasium.envs.mujoco.reacher_v5 import ReacherEnv
from gymnasium.envs.mujoco.swimmer_v5 import SwimmerEnv
from gymnasium.envs.mujoco.walker2d_v5 import Walker2dEnv
from numpy.typing import NDArray

from safegym.errors import ScenarioError
from safegym.scenario.signals.engine import mj
from safegym.scenario.signals.select import body_id
from safegym.scenario.signals.stepper import has_diverged
from safegym_scenarios.mujoco_systems.knobs import Nominal, pushes
from safegym_scenarios.mujoco_systems.measures import Window
from safegym_scenarios.mujoco_systems.quiet import expected_warnings
from safegym_scenarios.mujoco_systems.sensing import Line, Sensing
from safegym_scenarios.mujoco_systems.starting import starting_seed
from safegym_scenarios.mujoco_systems.surroundings import Setup

if TYPE_CHECKING:
    from gymnasium.envs.mujoco.mujoco_env import MujocoEnv as _Base
else:
    _Base = object

Array = NDArray[np.float64]
_PARAMETERS = 0x9A5
_BASE, _OBJECT = (0.0, -0.6), (0.45, -0.05)
"""Where the pusher's base and its object at zero stand, m."""


class Surrounded(_Base):
    """Mixed into a Gymnasium MujocoEnv: measures, faults and disturbances of a `Setup`.

    The start is drawn by the disturbance seed, as Gymnasium draws it from its seed; a reset that
    gives none takes its own seed for it. `values` holds the declared signals, in order. info of a
    step that terminates has "terminal" "unhealthy".
    """

    def __init__(self, setup: Setup, render_mode: str | None = None) -> None:
        self.setup = setup
        self.values: tuple[float, ...] = ()
        with expected_warnings():
            super().__init__(**dict(setup.options), render_mode=render_mode)
        model = self.model
        self._nominal = Nominal(model)
        self._body = body_id(model, setup.body)
        self._lost = list(setup.lost)
        self._readings = tuple(each.bind(model) for each in setup.measures)
        self._feels = any(each.needs_contacts for each in setup.measures)
        self._span = (model.actuator_ctrlrange[:, 1] - model.actuator_ctrlrange[:, 0]).copy()
        self._driven = model.jnt_dofadr[model.actuator_trnid[:, 0]].copy()
        floor = mj.mj_name2id(model, int(mj.mjtObj.mjOBJ_GEOM), setup.floor)
        self._floor, self._room = floor, np.zeros(6)
        aside = body_id(model, setup.aside) if setup.aside else -1
        self._aside = set(np.flatnonzero(model.geom_bodyid == aside).tolist())
        self._knobs: dict[str, float] = {}
        self._schedules: dict[str, tuple[float, ...]] = {}
        self._count = 0
        self._command: Array | None = None
        self._line: Line | None = None
        self._sensing: Sensing | None = None
        self._window = self._opened(1)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Draw the episode. Raises ScenarioError for an unknown option or one out of its range."""
        base, start = starting_seed(seed, self.np_random, options)
        setup, model = self.setup, self.model
        drawn = setup.inputs.draw(np.random.default_rng((_PARAMETERS, base)), options)
        knobs = self._knobs = dict(drawn.parameters)
        given = ((name, drawn.schedule(name)) for name in drawn.disturbances)
        self._schedules = {name: found for name, found in given if found is not None}
        if "push" not in self._schedules and knobs.get("push_peak"):
            pieces = pushes(start, knobs["push_peak"])
            steps = range(setup.horizon)
            self._schedules["push"] = tuple(pieces[s * len(pieces) // setup.horizon] for s in steps)
        self._nominal.apply(model, knobs, self._body, self._lost, "wind" in self._schedules)
        self._calm = float(model.opt.wind[0])
        self._count, self._command = 0, None
        observation, info = super().reset(seed=start)
        self._line = Line(self._steps_of("action_delay"), np.zeros(model.nu))
        delay = self._steps_of("observation_delay") + self._steps_of("sensor_delay")
        self._sensing = sensing = Sensing(start, observation, knobs, delay)
        return sensing.seen(observation), {**info, **drawn.info, "disturbance_seed": start}

    def step(self, action: Any) -> Any:  # what the systems say they return differs
        """Gymnasium's step, with what acts from outside."""
        if self._line is None or self._sensing is None:
            raise ScenarioError("Call reset() before step().")
        self._surround()
        driven = self._line.pass_on(action)
        observation, reward, terminated, truncated, told = super().step(driven)
        self._count += 1
        info: dict[str, Any] = dict(told)
        if terminated:
            info["terminal"] = "unhealthy"
        return self._sensing.seen(observation), reward, bool(terminated), truncated, info

    def reset_model(self) -> Any:
        """Gymnasium's start, measured."""
        observation = super().reset_model()
        self._window = window = self._opened(1)
        self._see(window, 0)
        self._measure(window)
        return observation

    def _steps_of(self, name: str) -> int:
        return int(self._knobs.get(name, 0.0) / self.dt + 0.5)

    def _surround(self) -> None:
        step = min(self._count, self.setup.horizon - 1)
        push, wind = self._schedules.get("push"), self._schedules.get("wind")
        if push is not None:
            self.data.xfrc_applied[self._body, 0] = push[step]
        if wind is not None:
            self.model.opt.wind[0] = self._calm + wind[step]

    def _opened(self, steps: int) -> Window:
        model, data = self.model, self.data
        return Window(
            q=np.empty((steps, model.nq)),
            v=np.empty((steps, model.nv)),
            floor_force=np.zeros(steps),
            inner_contacts=np.zeros(steps),
            control=data.ctrl.copy(),
            before=data.qpos.copy(),
            dt=float(self.dt),
        )

    def _step_mujoco_simulation(self, ctrl: Any, n_frames: int) -> None:
        """Gymnasium's physics steps, each read."""
        model, data = self.model, self.data
        data.ctrl[:] = ctrl
        loss = self._knobs.get("actuator_loss", 0.0)
        if loss and self._count * self.dt >= self._knobs["actuator_loss_time"] - 1e-9:
            data.ctrl[self._lost] *= 1.0 - loss
        last, window = self._window, self._opened(n_frames)
        for index in range(n_frames):
            mj.mj_step(model, data)
            self._see(window, index)
        mj.mj_rnePostConstraint(model, data)
        window.control = np.clip(data.ctrl, *model.actuator_ctrlrange.T)
        if self._command is not None:
            window.change = float((np.abs(ctrl - self._command) / self._span).max())
        self._command = np.array(ctrl, np.float64)
        torque = window.control * model.actuator_gear[:, 0]
        powers = np.abs(window.v[:, self._driven] * torque).sum(axis=1)
        window.power = float(powers.max())
        window.energy = last.energy + float(powers.sum()) * float(model.opt.timestep)
        self._window = window
        self._measure(window)

    def _see(self, window: Window, index: int) -> None:
        data = self.data
        window.q[index], window.v[index] = data.qpos, data.qvel
        if self._feels:
            window.floor_force[index], window.inner_contacts[index] = self._touches()

    def _touches(self) -> tuple[float, int]:
        """Sum of normal forces on the floor in N, and how many contacts are between parts."""
        model, data, floor = self.model, self.data, self._floor
        total, inner = 0.0, 0
        if data.ncon:
            contact = data.contact
            for index, (one, two) in enumerate(contact.geom.tolist()):
                if one in self._aside or two in self._aside:
                    continue
                if floor in (one, two):
                    mj.mj_contactForce(model, data, index, self._room)
                    total += float(self._room[0])
                elif not contact.dist[index] > 0.0:
                    inner += 1
        return total, inner

    def _measure(self, window: Window) -> None:
        values = tuple(read(window) for read in self._readings)
        self.values = tuple(np.nan for _ in values) if has_diverged(self.data) else values


def read_signals(env: Any) -> tuple[float, ...]:
    """Values of the declared signals, in order."""
    values: tuple[float, ...] = env.unwrapped.values
    return values


class Ant(Surrounded, AntEnv):
    """Gymnasium's Ant-v5."""


class HalfCheetah(Surrounded, HalfCheetahEnv):
    """Gymnasium's HalfCheetah-v5."""


class Hopper(Surrounded, HopperEnv):
    """Gymnasium's Hopper-v5."""


class Humanoid(Surrounded, HumanoidEnv):
    """Gymnasium's Humanoid-v5."""


class HumanoidStandup(Surrounded, HumanoidStandupEnv):
    """Gymnasium's HumanoidStandup-v5."""


class InvertedDoublePendulum(Surrounded, InvertedDoublePendulumEnv):
    """Gymnasium's InvertedDoublePendulum-v5."""


class InvertedPendulum(Surrounded, InvertedPendulumEnv):
    """Gymnasium's InvertedPendulum-v5."""


_bare_pusher: Any = PusherEnv


class _Placed(PusherEnv):
    """Gymnasium's Pusher-v5 with the object where the parameters say, if they say so.

    object_distance (m) and object_bearing (rad) are polar, about the arm's base.
    """

    _knobs: dict[str, float]

    def reset_model(self) -> Any:
        """Gymnasium's start, the object put in its place."""
        observation = _bare_pusher.reset_model(self)
        distance = self._knobs.get("object_distance")
        if distance is None:
            return observation
        bearing = self._knobs["object_bearing"]
        qpos, qvel = self.data.qpos.copy(), self.data.qvel.copy()
        qpos[-4] = distance * np.sin(bearing) + _BASE[1] - _OBJECT[1]
        qpos[-3] = distance * np.cos(bearing) + _BASE[0] - _OBJECT[0]
        _bare_pusher.set_state(self, qpos, qvel)
        return _bare_pusher._get_obs(self)


class Pusher(Surrounded, _Placed):
    """Gymnasium's Pusher-v5; parameters may place the object."""


class Reacher(Surrounded, ReacherEnv):
    """Gymnasium's Reacher-v5."""


class Swimmer(Surrounded, SwimmerEnv):
    """Gymnasium's Swimmer-v5."""


class Walker2d(Surrounded, Walker2dEnv):
    """Gymnasium's Walker2d-v5."""
