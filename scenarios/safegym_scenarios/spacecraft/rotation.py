"""Unit quaternions (w, x, y, z) in plain floats: faster than small arrays at this size."""

from math import acos, cos, sin, sqrt

Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


def product(p: Quaternion, q: Quaternion) -> Quaternion:
    """The rotation q, then p."""
    a, b, c, d = p
    e, f, g, h = q
    return (
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    )


def inverse(q: Quaternion) -> Quaternion:
    """The rotation back."""
    return q[0], -q[1], -q[2], -q[3]


def turned(q: Quaternion, v: Vector3) -> Vector3:
    """The vector after the rotation."""
    w, x, y, z = q
    a, b, c = v
    s, t, u = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return a + w * s + y * u - z * t, b + w * t + z * s - x * u, c + w * u + x * t - y * s


def about(axis: Vector3, angle: float) -> Quaternion:
    """Rotation about a unit vector by so many rad."""
    s = sin(angle / 2.0)
    return cos(angle / 2.0), axis[0] * s, axis[1] * s, axis[2] * s


def vector_of(q: Quaternion) -> Vector3:
    """Axis times angle in rad, the angle at most pi."""
    w, x, y, z = q if q[0] >= 0.0 else (-q[0], -q[1], -q[2], -q[3])
    size = sqrt(x * x + y * y + z * z)
    if size < 1e-9:
        return 2.0 * x, 2.0 * y, 2.0 * z
    scale = 2.0 * acos(min(1.0, w)) / size
    return x * scale, y * scale, z * scale


def cross(u: Vector3, v: Vector3) -> Vector3:
    """Vector product."""
    return u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]


def length(v: Vector3) -> float:
    """Euclidean norm."""
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


def less(u: Vector3, v: Vector3) -> Vector3:
    """The first less the second."""
    return u[0] - v[0], u[1] - v[1], u[2] - v[2]
