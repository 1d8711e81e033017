"""Motion of a hull in a plane: rigid body and added mass, drag, in Fossen's form.

M v' + C(v) v + D(v) v = tau for v = (surge, sway, yaw rate) against the water, all three in the
body's frame; in a vertical plane read heave for sway and pitch rate for yaw rate. M is diagonal,
C follows from M, D has a linear and a quadratic part.
Source: Fossen, Handbook of Marine Craft Hydrodynamics and Motion Control, 2011, chapter 6.
"""

from dataclasses import dataclass

Triple = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Hull:
    """mass in kg, inertia in kg m^2 about the vertical (or pitch) axis.

    added: what the water adds to (mass, mass, inertia). linear: N s/m, N s/m, N m s. quadratic:
    N s^2/m^2 twice, N m s^2.
    """

    mass: float
    inertia: float
    added: Triple
    linear: Triple
    quadratic: Triple

    def total(self) -> Triple:
        """Inertia in surge, sway and yaw, the water's included."""
        one, two, three = self.added
        return self.mass + one, self.mass + two, self.inertia + three

    def drag(self, speed: Triple) -> Triple:
        """Force and moment of the water against the motion, N, N, N m."""
        one, two, three = (
            -(linear + quadratic * abs(v)) * v
            for linear, quadratic, v in zip(self.linear, self.quadratic, speed, strict=True)
        )
        return one, two, three

    def acceleration(self, speed: Triple, push: Triple) -> Triple:
        """(surge, sway, yaw) acceleration in the body's frame under `push` (N, N, N m) and drag."""
        u, v, r = speed
        m1, m2, m3 = self.total()
        x, y, n = self.drag(speed)
        return (
            (push[0] + x + m2 * v * r) / m1,
            (push[1] + y - m1 * u * r) / m2,
            (push[2] + n + (m1 - m2) * u * v) / m3,
        )


BOAT = Hull(
    mass=6000.0,
    inertia=22000.0,
    added=(400.0, 4500.0, 12000.0),
    linear=(250.0, 1500.0, 6000.0),
    quadratic=(110.0, 1800.0, 25000.0),
)
"""A work boat of 9 m."""
BARGE = Hull(
    mass=15000.0,
    inertia=90000.0,
    added=(1500.0, 9000.0, 40000.0),
    linear=(600.0, 3000.0, 20000.0),
    quadratic=(700.0, 3500.0, 90000.0),
)
"""A small barge of 12 m."""
TORPEDO = Hull(
    mass=60.0,
    inertia=18.0,
    added=(4.0, 55.0, 14.0),
    linear=(4.0, 40.0, 20.0),
    quadratic=(14.0, 150.0, 60.0),
)
"""A slender underwater vehicle of 2 m, in the vertical plane."""
CRAWLER = Hull(
    mass=120.0,
    inertia=16.0,
    added=(60.0, 110.0, 10.0),
    linear=(60.0, 90.0, 30.0),
    quadratic=(90.0, 140.0, 40.0),
)
"""A box-shaped remotely operated vehicle, in the plane that it moves in."""
