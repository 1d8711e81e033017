"""A Menagerie robot that holds its home pose, and may be told to leave it."""

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from safegym.scenario.signals.engine import mj
from safegym_scenarios.packs.menagerie.scene import compiled, home, is_free

Observation = NDArray[np.float64]
SUBSTEPS_S = 0.02
REACH = 0.5
"""An action of 1 moves a servo's target by this share of half its control range."""
_NO_BIAS = int(mj.mjtBias.mjBIAS_NONE)


class MenagerieEnv(gym.Env[Observation, Observation]):
    """50 Hz. Observation: joint positions from home, joint velocities. Action: [-1, 1] a servo.

    Actions move the targets of position servos about home; torque motors follow such targets by
    a proportional-derivative law. A seed draws joint offsets of up to 0.02 rad or 2 mm.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012 (Gymnasium's form)

    def __init__(self, robot: str, surroundings: str, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.model = compiled(robot, surroundings)
        self.data = mj.MjData(self.model)
        model = self.model
        self._home, self._skip = home(model), 7 if is_free(model) else 0
        self._substeps = max(1, round(SUBSTEPS_S / float(model.opt.timestep)))
        self._low, self._high = model.actuator_ctrlrange.T.copy()
        self._motor = model.actuator_biastype == _NO_BIAS
        self._rest = self._rest_controls()
        size = (int(model.nq) - self._skip) + int(model.nv)
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (int(model.nu),), np.float64)
        self._renderer: Any = None

    def _rest_controls(self) -> Observation:
        """What holds home: the key frame's controls, or the home position of each servo's joint."""
        model = self.model
        if int(model.nkey) and np.any(model.key_ctrl[0]):
            held: Observation = np.clip(model.key_ctrl[0], self._low, self._high)
            return held
        joints = [int(joint) for joint in model.actuator_trnid[:, 0]]
        adr = [int(model.jnt_qposadr[j]) if 0 <= j < int(model.njnt) else 0 for j in joints]
        wanted = np.array([self._home[a] for a in adr])
        return np.where(self._motor, wanted, np.clip(wanted, self._low, self._high))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """At home, but for small offsets."""
        super().reset(seed=seed)
        mj.mj_resetData(self.model, self.data)
        offset = self.np_random.uniform(-1.0, 1.0, len(self._home) - self._skip)
        self.data.qpos[:] = self._home
        hinge = self.model.jnt_type[self.model.jnt_type >= 2] == int(mj.mjtJoint.mjJNT_HINGE)
        self.data.qpos[self._skip :] += offset * np.where(hinge, 0.02, 0.002)
        mj.mj_forward(self.model, self.data)
        return self._seen(), {}

    def step(self, action: Observation) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """One control step; reward: how near home it is."""
        half = 0.5 * (self._high - self._low)
        for _ in range(self._substeps):
            self.data.ctrl[:] = self._controls(np.clip(action, -1.0, 1.0), half)
            mj.mj_step(self.model, self.data)
        mj.mj_forward(self.model, self.data)
        away = float(np.abs(self.data.qpos[self._skip :] - self._home[self._skip :]).mean())
        return self._seen(), -away, False, False, {}

    def _controls(self, action: Observation, half: Observation) -> Observation:
        if not self._motor.any():
            target: Observation = np.clip(self._rest + REACH * action * half, self._low, self._high)
            return target
        joints = self.model.actuator_trnid[:, 0]
        q = self.data.qpos[self.model.jnt_qposadr[joints]]
        v = self.data.qvel[self.model.jnt_dofadr[joints]]
        torque = 2.0 * half * (self._rest + REACH * action - q) - 0.05 * half * v
        limited: Observation = np.clip(torque, self._low, self._high)
        return limited

    def _seen(self) -> Observation:
        away = self.data.qpos[self._skip :] - self._home[self._skip :]
        return np.concatenate([away, self.data.qvel])

    def render(self) -> Any:
        """A picture (480, 640, 3) uint8, None unless render_mode is "rgb_array"."""
        if self.render_mode != "rgb_array":
            return None
        if self._renderer is None:
            self._renderer = mj.Renderer(self.model, 480, 640)
        self._renderer.update_scene(self.data, camera="overview")
        return self._renderer.render()
