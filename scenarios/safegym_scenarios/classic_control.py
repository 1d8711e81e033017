"""The laws by which the scripted policies of the classic systems act, for numpy and for torch.

`xp` is the namespace; the other arguments are the observation's entries, numbers or arrays.
"""

from typing import Any


def pump_and_catch(xp: Any, cosine: Any, sine: Any, speed: Any) -> Any:
    """Torque in N m: pump energy up to that of standing upright, then hold by state feedback.

    Source: Astrom and Furuta 2000, swinging up by energy control.
    """
    angle = xp.arctan2(sine, cosine)
    energy = 0.5 * speed**2 + 15.0 * (cosine - 1.0)
    pump = -energy * xp.where(speed >= 0.0, 1.0, -1.0)
    hold = -10.0 * angle - 3.0 * speed
    near = (xp.abs(angle) < 0.4) & (xp.abs(speed) < 4.0)
    return xp.clip(xp.where(near, hold, pump), -2.0, 2.0)


def hold_still(xp: Any, cosine: Any, sine: Any, speed: Any) -> Any:
    """No torque."""
    return xp.zeros_like(speed)


def whirl(xp: Any, cosine: Any, sine: Any, speed: Any) -> Any:
    """All the torque there is, along the motion."""
    return xp.where(speed >= 0.0, 2.0, -2.0)


def balance(xp: Any, x: Any, v: Any, angle: Any, rate: Any, *, target: float) -> Any:
    """State feedback to a bang-bang motor: 1 pushes right, 0 left. target: m from the middle."""
    offset = xp.clip(x - target, -1.0, 1.0)
    push = 0.5 * offset + 1.0 * v + 10.0 * angle + 2.0 * rate
    return xp.where(push > 0.0, 1, 0)
