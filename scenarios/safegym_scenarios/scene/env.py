"""A scene of our own as a Gymnasium environment."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from safegym.formula.terms import Signal
from safegym.scenario.inputs import Inputs
from safegym.scenario.signals.engine import mj
from safegym.scenario.signals.extremes import Reader
from safegym.scenario.signals.stepper import SubstepStepper
from safegym_scenarios.draws import draw_disturbance_seed
from safegym_scenarios.scene.knobs import FRICTION_LOSS, Surroundings, Vector, weaken

Observation = NDArray[np.float32]
Readers = Sequence[tuple[Signal, Reader]]
REACH = 10.0
"""Observations are cut off at this size."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What makes one variant of a family: plain data, part of the scenario's digest.

    inputs: parameters, faults, disturbances and horizon. timestep: s, of the physics; substeps: of
    a control step. observations, actions: sizes. gusty: whether seeds draw the disturbances'
    pieces (else they rest unless given). Families add fields of their own.
    """

    inputs: Inputs
    observations: int
    actions: int
    timestep: float = 0.005
    substeps: int = 8
    gusty: bool = False

    @property
    def dt(self) -> float:
        """Control step in s."""
        return self.timestep * self.substeps


class SceneEnv(gym.Env[Observation, Observation]):
    """One control step after the other in a MuJoCo scene; a seed decides the whole episode.

    Actions lie in [-1, 1] and are cut off there. `reset(options=...)` takes the declared
    parameters, faults and disturbances, and "disturbance_seed" (noise, dropouts). `signals` holds
    the declared signals, in order: those of `readers()`, then `task_signals()`.

    A family gives `build`, `readers`, `place`, `observe`, and where it differs `command`,
    `disturb`, `tick`, `progress`, `task_signals`, `terminal`, `reward`. What `place` changes in
    the model it sets at every reset.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012 (Gymnasium's form)
    pushed: ClassVar[str] = ""
    """The body that push_forward, push_left and push_up act on."""
    slippery: ClassVar[tuple[str, ...]] = ()
    """Geoms that `friction_loss` acts on, all if empty: a contact takes the larger friction."""

    def __init__(self, setting: Any, render_mode: str | None = None) -> None:
        self.setting = setting
        self.render_mode = render_mode
        self.observation_space = gym.spaces.Box(-REACH, REACH, (setting.observations,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (setting.actions,), np.float32)
        kind: Any = type(self)
        self.model = copy(_compiled(kind, setting))
        self.data = mj.MjData(self.model)
        self.signals: tuple[Any, ...] = ()
        self.values: dict[str, float] = {}
        self.steps = 0
        self.surroundings = Surroundings(setting.dt)
        self._healthy = (self.model.actuator_gainprm.copy(), self.model.actuator_biasprm.copy())
        self._left = 1.0
        self._friction = self.model.geom_friction.copy()
        self._schedules: dict[str, tuple[float, ...]] = {}
        self._renderer: Any = None
        self.prepare()
        self.stepper = SubstepStepper(
            self.model, self.data, self.readers(), substeps=setting.substeps
        )

    # what a family gives

    @staticmethod
    def build(setting: Any) -> str:
        """MJCF of the scene (`look.scene`)."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Look up ids and addresses, and set attributes of the family, before `readers`."""

    def readers(self) -> Readers:
        """(signal, reader) pairs; a `Custom` reader may read this environment's own attributes."""
        raise NotImplementedError

    def place(self, values: dict[str, float]) -> None:
        """Set positions, targets and model numbers for a new episode; data is freshly reset."""
        raise NotImplementedError

    def observe(self) -> Sequence[float]:
        """The observation before any sensor fault, about [-1, 1] each."""
        raise NotImplementedError

    def command(self, action: Vector) -> None:
        """Hand the action (in [-1, 1]) to the machine; by default scaled to the control ranges."""
        low, high = self.model.actuator_ctrlrange.T
        self.data.ctrl[:] = low + (action + 1.0) * 0.5 * (high - low)

    def tick(self) -> None:
        """Called before every physics step: inner loops, things that move by themselves."""

    def disturb(self, pushes: dict[str, float]) -> None:
        """Apply this step's disturbances, by name; by default pushes on the body `pushed`."""
        if not self.pushed:
            return
        force = self.data.xfrc_applied[self.model.body(self.pushed).id]
        for axis, name in enumerate(("push_forward", "push_left", "push_up")):
            force[axis] = pushes.get(name, 0.0)

    def weakened(self, left: float) -> None:
        """Only the share `left` of the actuators' effort is there from now on."""
        weaken(self.model, self._healthy, left)

    def progress(self) -> None:
        """Bring the task's state up to date after a step; also once after sample 0 was read."""

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals after those of `readers`."""
        return ()

    def terminal(self) -> str:
        """Reason why the episode ends now, "" if it goes on."""
        return ""

    def reward(self, action: Vector) -> float:
        """Reward of the step that was just made."""
        return 0.0

    # Gymnasium's side

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Draw an episode. Raises ScenarioError for an unknown option or one out of its range."""
        super().reset(seed=seed)
        disturbance_seed = draw_disturbance_seed(self.np_random, options)
        drawn = self.setting.inputs.draw(self.np_random, options)
        if self.setting.gusty:
            drawn = self.setting.inputs.draw_pieces(self.np_random, drawn)
        found = ((name, drawn.schedule(name)) for name in drawn.disturbances)
        self._schedules = {name: values for name, values in found if values is not None}
        self.values, self.steps = dict(drawn.parameters), 0
        self.surroundings.begin(self.values, disturbance_seed)
        mj.mj_resetData(self.model, self.data)
        self._whole()
        self.place(self.values)
        self.stepper.reset()
        self.progress()
        self._note()
        return self._seen(), {**drawn.info, "disturbance_seed": disturbance_seed}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """One control step. Components of the action beyond [-1, 1] are cut off there."""
        wanted = np.clip(np.asarray(action, np.float64).reshape(-1), -1.0, 1.0)
        acting = self.surroundings.act(wanted)
        left = self.surroundings.effort_left
        if left != self._left:
            self._left = left
            self.weakened(left)
        self.command(acting)
        self.disturb(self._pushes())
        self.stepper.advance(self.tick)
        self.steps += 1
        self.progress()
        self._note()
        terminal = self.terminal()
        info = {"terminal": terminal} if terminal else {}
        return self._seen(), float(self.reward(acting)), bool(terminal), False, info

    def _whole(self) -> None:
        """No fault left over from the last episode; the friction of this one."""
        if self._left != 1.0:
            self._left = 1.0
            self.weakened(1.0)
        if FRICTION_LOSS in self.values:
            share = 1.0 - self.values[FRICTION_LOSS]
            chosen = [self.model.geom(name).id for name in self.slippery] or slice(None)
            self.model.geom_friction[chosen] = self._friction[chosen] * share

    def _pushes(self) -> dict[str, float]:
        last = self.setting.inputs.horizon - 1
        at = min(self.steps, last)
        return {name: values[at] for name, values in self._schedules.items()}

    def _note(self) -> None:
        self.signals = (*self.stepper.values, *self.task_signals())

    def _seen(self) -> Observation:
        told = self.surroundings.see(np.asarray(self.observe(), np.float64))
        return np.clip(told, -REACH, REACH).astype(np.float32)

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


@cache
def _compiled(kind: Any, setting: Any) -> Any:
    return mj.MjModel.from_xml_string(kind.build(setting))


def read_signals(env: Any) -> tuple[Any, ...]:
    """Values of the declared signals, in order."""
    signals: tuple[Any, ...] = env.signals
    return signals
