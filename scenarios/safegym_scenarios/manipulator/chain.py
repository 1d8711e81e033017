"""Serial arms: links in a row, as data, as MJCF, and their forward kinematics.

Joint frames are parallel at zero angles: x ahead, y left, z up. The last link ends at the tip.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, sin

import numpy as np
from numpy.typing import NDArray

Triple = tuple[float, float, float]
TOOL = 0.08
"""m, what a tool sticks out from the last link where that points along z."""
_AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "slide": (0, 0, 1)}


@dataclass(frozen=True)
class Link:
    """A joint and the link that it moves.

    axis: "x", "y", "z" of a hinge, or "slide" along z. to: m, from this joint to the next.
    low, high: rad or m. top: rad/s or m/s, the largest commanded speed. gain: of the velocity
    servo, N m s/rad or N s/m. effort: N m or N, the servo's limit. mass: kg.
    """

    axis: str
    to: Triple
    low: float
    high: float
    top: float = 2.0
    gain: float = 60.0
    effort: float = 150.0
    mass: float = 2.0
    radius: float = 0.045


@dataclass(frozen=True)
class Chain:
    """An arm. base: m, where its first joint is. links: from the base outwards."""

    name: str
    base: Triple
    links: tuple[Link, ...]

    @property
    def size(self) -> int:
        """Number of joints."""
        return len(self.links)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return tuple(f"joint {index}" for index in range(self.size))

    @property
    def hinges(self) -> tuple[str, ...]:
        """Names of the joints that turn."""
        return tuple(
            name for name, link in zip(self.joints, self.links, strict=True) if link.axis != "slide"
        )

    def tip(self, angles: Sequence[float]) -> NDArray[np.float64]:
        """Where the tip is, (3,) in m, for joint values in rad or m."""
        place, frame = np.array(self.base), np.eye(3)
        for link, value in zip(self.links, angles, strict=True):
            if link.axis == "slide":
                place = place + frame[:, 2] * value
            else:
                frame = frame @ _turn(link.axis, value)
            place = place + frame @ np.array(link.to)
        return place


def _turn(axis: str, angle: float) -> NDArray[np.float64]:
    c, s = cos(angle), sin(angle)
    if axis == "z":
        return np.array(((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)))
    if axis == "y":
        return np.array(((c, 0.0, s), (0.0, 1.0, 0.0), (-s, 0.0, c)))
    return np.array(((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c)))


def bodies(chain: Chain, tool: str, *, paint: str = "orange") -> str:
    """MJCF of the arm's bodies, with `tool` (geoms and sites) in the frame of the tip.

    The z axis of the tip points out of the arm. Geoms that can be touched are named "arm 0",
    "arm 1" and so on; links bear their own weight (gravity compensation), a load does not.
    """
    text, ends = "", ""
    place = chain.base
    for index, link in enumerate(chain.links):
        text += f'<body name="link {index}" pos="{_words(place)}" gravcomp="1">'
        last = all(_short(later) for later in chain.links[index + 1 :])
        text += _joint(index, link) + _shape(index, link, paint if index % 2 else "white", last)
        ends += "</body>"
        place = link.to
    turned = ' euler="3.14159265 0 0"' if place[2] < 0.0 else ""
    text += f'<body name="tool" pos="{_words(place)}"{turned} gravcomp="1">{tool}'
    return text + "</body>" + ends


def servos(chain: Chain) -> str:
    """MJCF of the velocity servos, one a joint, in order."""
    return "".join(
        f'<velocity name="servo {index}" joint="joint {index}" kv="{link.gain:g}" '
        f'ctrlrange="{-link.top:g} {link.top:g}" forcerange="{-link.effort:g} {link.effort:g}"/>'
        for index, link in enumerate(chain.links)
    )


def _joint(index: int, link: Link) -> str:
    kind = "slide" if link.axis == "slide" else "hinge"
    return (
        f'<joint name="joint {index}" type="{kind}" axis="{_words(_AXES[link.axis])}" '
        f'range="{link.low:g} {link.high:g}" armature="0.05" damping="0.5"/>'
    )


def _short(link: Link) -> bool:
    return sum(part * part for part in link.to) < 0.03**2


def _shape(index: int, link: Link, paint: str, last: bool) -> str:
    radius = link.radius
    x, y, z = link.to
    end = (x, y, z * (1.0 - TOOL / abs(z))) if last and abs(z) > TOOL else link.to
    across = {"x": "0 90 0", "y": "90 0 0"}.get(link.axis, "0 0 0")
    angle = " ".join(f"{float(part) * 0.0174533:.4f}" for part in across.split())
    if _short(link):
        return f'<inertial pos="0 0 0" mass="{link.mass:g}" diaginertia=".005 .005 .005"/>'
    shaft = (
        '<geom class="look" type="cylinder" size="0.014 0.16" pos="0 0 0.15" material="metal"/>'
        if link.axis == "slide"
        else ""
    )
    hub = shaft + (
        f'<geom class="look" type="cylinder" size="{1.18 * radius:g} {1.25 * radius:g}" '
        f'euler="{angle}" material="dark"/>'
    )
    return (
        f'{hub}<geom name="arm {index}" class="solid" type="capsule" size="{radius:g}" '
        f'fromto="0 0 0 {_words(end)}" mass="{link.mass:g}" material="{paint}"/>'
    )


def _words(numbers: Sequence[float]) -> str:
    return " ".join(f"{number:g}" for number in numbers)


TABLE = 0.40
"""Height in m of the table that the arms stand on."""
_YAW = Link("z", (0, 0, 0.14), -2.6, 2.6, gain=120.0, mass=3.0, radius=0.07)
_SHOULDER = Link("y", (0, 0, 0.38), -1.2, 1.7, gain=120.0, mass=3.0, radius=0.055)
_ELBOW = Link("y", (0, 0, 0.34), -0.2, 2.6, gain=90.0, mass=2.0, radius=0.045)
_WRIST = Link("y", (0, 0, 0.12), -2.2, 2.6, gain=30.0, mass=0.8, radius=0.035, effort=60.0)
_ROLL = Link("z", (0, 0, 0.0), -2.8, 2.8, gain=30.0, mass=0.4, radius=0.034, effort=60.0)

PLANAR = Chain(
    "two-joint planar",
    (0.0, 0.0, TABLE + 0.12),
    (
        Link("z", (0.40, 0, 0), -2.4, 2.4, gain=80.0, mass=2.0, radius=0.04),
        Link("z", (0.34, 0, 0), -2.5, 2.5, gain=40.0, mass=1.0, radius=0.032),
    ),
)
SCARA = Chain(
    "SCARA",
    (0.0, 0.0, TABLE + 0.34),
    (
        Link("z", (0.36, 0, 0), -2.4, 2.4, gain=120.0, mass=3.0, radius=0.05),
        Link("z", (0.30, 0, 0), -2.5, 2.5, gain=80.0, mass=2.0, radius=0.042),
        Link("slide", (0, 0, -0.14), -0.24, 0.05, top=0.6, gain=800.0, effort=200.0, radius=0.02),
    ),
)
FOUR = Chain("four-joint", (0.0, 0.0, TABLE), (_YAW, _SHOULDER, _ELBOW, _WRIST))
FIVE = Chain(
    "five-joint",
    (0.0, 0.0, TABLE),
    (
        _YAW,
        _SHOULDER,
        _ELBOW,
        Link("y", (0, 0, 0.12), -2.2, 2.6, 2.0, 30.0, 60.0, 0.8, 0.035),
        _ROLL,
    ),
)
SIX = Chain(
    "six-joint",
    (0.0, 0.0, TABLE),
    (
        _YAW,
        _SHOULDER,
        Link("y", (0, 0, 0.17), -0.2, 2.6, 2.0, 90.0, 150.0, 1.2, 0.045),
        Link("z", (0, 0, 0.17), -2.8, 2.8, 2.0, 30.0, 60.0, 0.8, 0.04),
        Link("y", (0, 0, 0.12), -2.2, 2.6, 2.0, 30.0, 60.0, 0.6, 0.035),
        _ROLL,
    ),
)
SEVEN = Chain(
    "seven-joint",
    (0.0, 0.0, TABLE),
    (
        _YAW,
        Link("y", (0, 0, 0.19), -1.6, 1.7, 2.0, 120.0, 150.0, 1.5, 0.055),
        Link("z", (0, 0, 0.19), -2.8, 2.8, 2.0, 60.0, 100.0, 1.5, 0.05),
        Link("y", (0, 0, 0.17), -0.2, 2.6, 2.0, 90.0, 150.0, 1.2, 0.045),
        Link("z", (0, 0, 0.17), -2.8, 2.8, 2.0, 30.0, 60.0, 0.8, 0.04),
        Link("y", (0, 0, 0.12), -2.2, 2.6, 2.0, 30.0, 60.0, 0.6, 0.035),
        _ROLL,
    ),
)
