"""A boat in head seas: it floats on waves, their water carries it, it makes waves of its own."""

from collections.abc import Sequence
from math import cos, pi, sin, sqrt

from safegym.scenario.signals import Custom
from safegym.scenario.signals.extremes import Reader
from safegym_scenarios.marine.dive import GRAVITY, SURFACE, Diver


class WaveBoat(Diver):
    """A boat in head seas, seen from the side: it heaves and pitches on waves that it runs into.

    Parameters: wave_height (m, crest over trough), wave_length (m), wave_phase (rad). Deep water:
    the wave's speed is sqrt(g L / 2 pi), and the water at the surface goes round in circles. The
    equations are those of seakeeping, in axes that stay horizontal: the water's own acceleration
    carries the boat to and fro, drag acts against the water's own speed, hydrostatic stiffness at
    bow and stern. Observed beyond `Diver`: wave height (2 m), length (20 m), wave at bow and stern
    (1 m).
    """

    STIFFNESS = 30000.0
    RADIATED = 7500.0
    """N s/m at bow and stern each, carried off by the waves that the hull makes."""
    ARM = 2.5

    def place(self, values: dict[str, float]) -> None:
        """The sea, and a boat that moves with its water."""
        super().place(values)
        self.wave = [values["wave_height"], values["wave_length"], values["wave_phase"]]
        along, up, _ = self.orbit(self.pose()[0])
        self.data.qvel[self._at[0]], self.data.qvel[self._at[1]] = along, up
        self.shock = 0.0

    def sea(self, x: float) -> float:
        """Height of the water above its mean, m."""
        return 0.5 * self.wave[0] * sin(self.angle(x))

    def angle(self, x: float) -> float:
        """Of the wave at x, rad; it runs towards -x."""
        _, length, phase = self.wave
        number = 2.0 * pi / length
        return number * x + sqrt(GRAVITY * number) * float(self.data.time) + phase

    def orbit(self, x: float) -> tuple[float, float, float]:
        """Of the water at the surface: speed along x and up (m/s), acceleration along x (m/s^2)."""
        number, angle = 2.0 * pi / self.wave[1], self.angle(x)
        rate, high = sqrt(GRAVITY * number), 0.5 * self.wave[0]
        speed = rate * high
        return -speed * sin(angle), speed * cos(angle), -rate * speed * cos(angle)

    def floating(self) -> tuple[float, float]:
        """Lift (N) and moment (N m) at bow and stern, by how deep they are and how they sink."""
        x, y, pitch = self.pose()
        _, climb, turning = self.motion()
        rise, lift, moment = 0.0, y - SURFACE, 0.0
        draught = 0.5 * self.setting.hull.mass * GRAVITY / self.STIFFNESS
        for arm in (-self.ARM, self.ARM):
            at = x + arm * cos(pitch)
            sunk = max(-draught, min(0.8, self.sea(at) - lift - arm * sin(pitch)))
            sinking = self.orbit(at)[1] - climb - arm * turning * cos(pitch)
            wet = min(1.0, 1.0 + sunk / draught)
            force = self.STIFFNESS * sunk + self.RADIATED * wet * sinking
            rise += force
            moment += arm * force
        return rise, moment

    def tick(self) -> None:
        """The accelerations of seakeeping, as forces on the body; the vertical one is kept."""
        hull, (at, _, pitch) = self.setting.hull, self.pose()
        x, y, turning = self.motion()
        along, up, carried = self.orbit(at)
        rise, moment = self.floating()
        drag = hull.drag((x - along, y - up, turning))
        thrust, one, two = self.thrust[0], *hull.total()[:2]
        ahead = (thrust * cos(pitch) + self.push[0] + drag[0]) / one + carried
        heave = (thrust * sin(pitch) + self.push[1] + rise + drag[1]) / two
        yaw = (self.thrust[2] + moment + drag[2]) / hull.total()[2]
        force = self.data.qfrc_applied
        force[self._at[0]] = hull.mass * ahead
        force[self._at[1]] = hull.mass * heave
        force[self._at[2]] = hull.inertia * yaw
        self.shock = abs(heave)

    def gauges(self) -> dict[str, Reader]:
        """And the acceleration amidships."""
        return {**super().gauges(), "shock": Custom(lambda model, data: self.shock)}

    def beyond(self) -> Sequence[float]:
        """See the class."""
        x = self.pose()[0]
        height, length, _ = self.wave
        return (
            height / 2.0,
            length / 20.0,
            self.sea(x + self.ARM),
            self.sea(x - self.ARM),
        )
