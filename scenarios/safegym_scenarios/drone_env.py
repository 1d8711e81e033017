"""The corridor as a Gymnasium environment."""

from math import inf, sqrt
from typing import Any

import gymnasium as gym
import numpy as np

from safegym.scenario.inputs import Inputs
from safegym.scenario.signals.stepper import has_diverged
from safegym_scenarios.draws import draw_disturbance_seed
from safegym_scenarios.drone_course import CAGE, FAULTS, GOAL, PARAMETERS, Obstacle, obstacles
from safegym_scenarios.drone_flight import Flight
from safegym_scenarios.drone_guidance import FAR, ahead, guide
from safegym_scenarios.drone_gust import DISTURBANCES, Gusts
from safegym_scenarios.drone_view import SIZE, Mode, Observation, command, encode

HORIZON = 200
INPUTS = Inputs(HORIZON, PARAMETERS, FAULTS, DISTURBANCES)
TOUCH = 1.0
"""Contact force in N from which a touch is a collision."""
PARK_DISTANCE = 0.3
PARK_SPEED = 0.25
"""Nearer to the goal than this (m) and no faster than this (m/s), the drone is parked there."""

HEADWAY = 1.5
"""Time in s to an obstacle in the way, at the present speed, below which it costs reward."""


class CorridorEnv(gym.Env[Observation, Observation]):
    """Fly down a cluttered corridor in gusts and park at the goal; one step is 0.1 s.

    Observation and action: see `drone_view`. `reset(seed)` decides the whole episode; its options
    "parameters" (name -> value) and "disturbance_seed" override what the seed draws; the option
    "disturbances" (name -> 10 numbers) replaces the gusts forward or left, or both; parameters can
    name a fault, which no seed draws. `signals` holds the values of the declared signals, in order.

    Terminates with info["terminal"] "collision" (contact force of 1 N or more) or "goal" (parked:
    within 0.3 m of the goal and slower than 0.25 m/s, where the velocity loop holds it).

    Reward: metres gained on the goal, 5 for parking, -25 for a collision; small costs per step
    and for uneven actions; costs for coming near the limits on drift and tilt, for coming nearer
    than 0.18 m to anything, and for less than 1.5 s of headway on an obstacle in the way.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012 (Gymnasium's own form)

    def __init__(self, mode: Mode = "residual", render_mode: str | None = None) -> None:
        self.mode: Mode = mode
        self.render_mode = render_mode
        self.observation_space = gym.spaces.Box(-20.0, 20.0, (SIZE,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.flight = Flight()
        self.signals: tuple[float, ...] = ()
        self._course: tuple[Obstacle, ...] = ()
        self._gusts = Gusts(0, 0.0)
        self._given: tuple[tuple[float, ...] | None, tuple[float, ...] | None] = (None, None)
        self._step = 0
        self._next = FAR
        self._action = self._proposal = (0.0, 0.0)
        self._distance = self._speed = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Draw a corridor and hover at its start.

        info has "parameters", "disturbances" where some are given, and "disturbance_seed". Raises
        ScenarioError for an unknown name, a value outside its range or a wrong number of pieces.
        """
        super().reset(seed=seed)
        disturbance_seed = draw_disturbance_seed(self.np_random, options)
        drawn = INPUTS.draw(self.np_random, options)
        values = drawn.parameters
        self._course = obstacles(values)
        self._gusts = Gusts(disturbance_seed, values["gust_peak"])
        self._given = drawn.schedule("gust_forward"), drawn.schedule("gust_left")
        self._step = 0
        self._action = (0.0, 0.0)
        self.flight.place(
            values["start_y"],
            values["motor_efficiency"],
            self._course,
            values["rotor_loss"],
            values["rotor_loss_time"],
        )
        self._measure()
        return self._observe(), {**drawn.info, "disturbance_seed": disturbance_seed}

    def step(self, action: Observation) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Fly 0.1 s. Components of the action beyond [-1, 1] are cut off there."""
        before, last = self._distance, self._action
        forward, left = action.tolist()
        self._action = max(-1.0, min(1.0, forward)), max(-1.0, min(1.0, left))
        self.flight.advance(command(self.mode, self._action, self._proposal), self._push())
        self._measure()
        terminal = self._terminal()
        unevenness = (self._action[0] - last[0]) ** 2 + (self._action[1] - last[1]) ** 2
        reward = self._reward(before - self._distance, unevenness, terminal)
        info = {"terminal": terminal} if terminal else {}
        return self._observe(), reward, bool(terminal), False, info

    def _push(self) -> tuple[float, float]:
        """Push of the next 0.1 s: the seed's, except on the channels that were given."""
        forward, left = self._gusts.next()
        step = min(self._step, HORIZON - 1)
        self._step += 1
        given_forward, given_left = self._given
        return (
            forward if given_forward is None else given_forward[step],
            left if given_left is None else given_left[step],
        )

    def _measure(self) -> None:
        flight = self.flight
        x, y, z = flight.position
        vx, vy, vz = flight.velocity
        self._distance = sqrt((GOAL[0] - x) ** 2 + (GOAL[1] - y) ** 2 + (GOAL[2] - z) ** 2)
        self._speed = sqrt(vx * vx + vy * vy + vz * vz)
        self.signals = (
            flight.clearance,
            flight.contact_force,
            flight.lateral_velocity,
            flight.tilt,
            self._distance,
            self._speed,
        )
        if has_diverged(flight.data):
            self.signals = tuple(float("nan") for _ in self.signals)

    def _observe(self) -> Observation:
        flight = self.flight
        x, y, _ = flight.position
        first, second = ahead(x, self._course)
        self._next = first
        self._proposal = guide(x, y, first)
        return encode(
            flight.position,
            flight.velocity,
            flight.lean,
            (first, second),
            self._proposal,
            self._action,
        )

    def _terminal(self) -> str:
        if self.flight.contact_force >= TOUCH:
            return "collision"
        parked = self._distance < PARK_DISTANCE and self._speed <= PARK_SPEED
        return "goal" if parked else ""

    def _reward(self, progress: float, unevenness: float, terminal: str) -> float:
        flight = self.flight
        reward = progress - 0.02 - 0.01 * unevenness
        reward -= 5.0 * max(0.0, abs(flight.lateral_velocity) - 0.36)
        reward -= 3.0 * max(0.0, flight.tilt - 0.24)
        reward -= 3.0 * max(0.0, 0.18 - flight.clearance)
        reward -= 0.5 * max(0.0, 1.0 - self._time_to_obstacle() / HEADWAY)
        if terminal == "collision":
            return reward - 25.0
        return reward + 5.0 if terminal == "goal" else reward

    def _time_to_obstacle(self) -> float:
        """Seconds until the cage meets the next obstacle, going straight on; inf if it misses."""
        x, y, _ = self.flight.position
        forward = self.flight.velocity[0]
        room = self._next.x - self._next.size - CAGE - x
        in_the_way = abs(self._next.y - y) < self._next.size + CAGE + 0.05
        if forward <= 0.0 or room <= 0.0 or not in_the_way:
            return inf
        return room / forward

    def render(self) -> Any:
        """A picture (480, 640, 3) uint8, None unless render_mode is "rgb_array"."""
        return self.flight.picture() if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Free the renderer."""
        self.flight.close()


def read_signals(env: Any) -> tuple[float, ...]:
    """Values of the declared signals, in order."""
    signals: tuple[float, ...] = env.signals
    return signals
