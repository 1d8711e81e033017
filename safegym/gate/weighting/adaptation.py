"""How the multiplier of a penalty moves during training: by a schedule, or by a controller."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from safegym.errors import GateError


@dataclass(frozen=True, slots=True)
class Ramp:
    """A multiplier that goes from `start` to `end` over the first `fraction` of the run's steps.

    Linear, then constant. start, end: multiples of the claim's own weight, >= 0. fraction: in
    (0, 1]. Raises GateError.
    """

    start: float
    end: float
    fraction: float = 1.0

    def __post_init__(self) -> None:
        for name in ("start", "end", "fraction"):
            object.__setattr__(self, name, _number("Ramp", name, getattr(self, name), least=0.0))
        if not 0.0 < self.fraction <= 1.0:
            raise GateError(f"Ramp(fraction={self.fraction}): give a share in (0, 1].")

    def at(self, progress: float) -> float:
        """The multiplier when `progress` of the run's steps, in [0, 1], are done."""
        done = min(1.0, max(0.0, progress) / self.fraction)
        return self.start + (self.end - self.start) * done


@dataclass(frozen=True, slots=True)
class PID:
    """A multiplier that a PID controller steers towards a violation rate.

    After each rollout, with e = rate - target: integral = clip(integral + ki e), and the multiplier
    is clip(kp e + integral + kd (rise of the rate since the rollout before, never below 0)). Each
    claim has its own controller. Rates are of training episodes, which explore; they steer, and are
    no evidence.

    kp, ki, kd: multiples of the claim's own weight per unit of violation probability. initial:
    where the integral starts. least, most: the clip. target: the rate aimed at, in [0, 1); None is
    the claim's own threshold, or 0.01 for a claim without one. memory: episodes that the
    estimated rate looks back on (exponentially weighted). Raises GateError.
    Source: Stooke, Achiam and Abbeel 2020, algorithm 2.
    """

    kp: float = 4.0
    ki: float = 0.5
    kd: float = 4.0
    initial: float = 1.0
    least: float = 0.0
    most: float = 10.0
    target: float | None = None
    memory: int = 100

    def __post_init__(self) -> None:
        for name in ("kp", "ki", "kd", "initial", "least", "most"):
            object.__setattr__(self, name, _number("PID", name, getattr(self, name), least=0.0))
        if not self.least <= self.initial <= self.most or self.most == 0.0:
            raise GateError(
                f"PID(least={self.least}, initial={self.initial}, most={self.most}): give "
                "least <= initial <= most, and most > 0."
            )
        if self.target is not None:
            object.__setattr__(self, "target", _number("PID", "target", self.target, least=0.0))
            if not self.target < 1.0:
                raise GateError(
                    f"PID(target={self.target}): it is a share of episodes in [0, 1); for one "
                    "violation in a hundred episodes give target=0.01."
                )
        check_count("PID", "memory", self.memory)


Adaptation = Ramp | PID
_KINDS: dict[str, type[Ramp] | type[PID]] = {"ramp": Ramp, "pid": PID}


def adaptation_to_json(adaptation: Adaptation | None) -> dict[str, Any] | None:
    """As JSON: {"kind": "ramp" | "pid", ...its fields}; None for fixed weights."""
    if adaptation is None:
        return None
    kind = "ramp" if isinstance(adaptation, Ramp) else "pid"
    return {"kind": kind, **asdict(adaptation)}


def adaptation_from_json(data: object) -> Adaptation | None:
    """What `adaptation_to_json` wrote; fields left out take their defaults. Raises GateError."""
    if data is None or isinstance(data, (Ramp, PID)):
        return data
    if data == "pid":
        return PID()
    if not isinstance(data, Mapping):
        raise _no_adaptation(data)
    fields: dict[str, Any] = dict(data)
    kind = _KINDS.get(str(fields.pop("kind", "")))
    if kind is None:
        raise _no_adaptation(data)
    try:
        return kind(**fields)
    except TypeError as error:
        raise GateError(f"adapt={data!r:.200} is malformed: {error}.") from error


def check_count(owner: str, name: str, value: Any) -> None:
    """Raises GateError unless the value is a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise GateError(f"{owner}({name}={value!r}): give a whole number of at least 1.")


def check_switch(owner: str, name: str, value: Any) -> None:
    """Raises GateError unless the value is True or False."""
    if not isinstance(value, bool):
        raise GateError(f"{owner}({name}={value!r}): give True or False.")


def _no_adaptation(data: object) -> GateError:
    return GateError(
        f"adapt={data!r:.200} says not how penalties adapt; give None for fixed weights, "
        'PID(), Ramp(start, end), or as plain data {"kind": "pid", "ki": 0.5} or '
        '{"kind": "ramp", "start": 0.0, "end": 1.0}.'
    )


def _number(owner: str, name: str, value: Any, *, least: float) -> float:
    wrong = isinstance(value, bool) or not isinstance(value, (int, float))
    if wrong or not math.isfinite(value) or value < least:
        raise GateError(f"{owner}({name}={value!r}): give a finite number >= {least:g}.")
    return float(value)
