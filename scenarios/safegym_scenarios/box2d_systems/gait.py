"""A walker's gait as a policy with memory: which leg swings, and in which of three phases."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.digest import digest_bytes, digest_json
from safegym.policy.base import WIDTH, PolicyCard

SWING, LOWER, PUSH_OFF = 0, 1, 2
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Gait:
    """How it walks.

    speed: that it holds, in the observation's unit (0.3 x 12 / 50 of m/s). knee: the standing
    leg's knee angle, rad + 1. reach: hip angle of a swinging leg, rad. gain: of all joints.
    """

    speed: float = 0.29
    knee: float = 0.1
    reach: float = 1.1
    gain: float = 0.5


@dataclass(frozen=True, slots=True)
class _Memory:
    phase: NDArray[np.int64]
    swinging: NDArray[np.int64]
    knee: Floats


class GaitPolicy:
    """Walks by a machine of three states, leg by leg.

    Source: after the heuristic that Gymnasium's `bipedal_walker.py` brings, for many rows at once.
    """

    def __init__(self, name: str, gait: Gait) -> None:
        self._gait = gait
        digest = digest_json(
            {
                "kind": "scripted",
                "name": name,
                "width": WIDTH,
                "gait": {key: repr(value) for key, value in asdict(gait).items()},
                "source": digest_bytes(Path(__file__).read_bytes()),
            }
        )
        self._card = PolicyCard(name=name, digest=digest, kind="scripted")

    @property
    def card(self) -> PolicyCard:
        """Name, and the digest over name, gait, width and this file."""
        return self._card

    def act(
        self, observations: NDArray[Any], state: Any, starts: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float32], Any]:
        """Actions (B, 4): hip and knee of each leg; the legs' phases are the state."""
        seen = observations.astype(np.float64)
        memory = _begun(state, starts, self._gait)
        memory, hips, knees = _targets(seen, memory, self._gait)
        return _torques(seen, hips, knees, self._gait), memory


def _begun(state: Any, starts: NDArray[np.bool_], gait: Gait) -> _Memory:
    rows = len(starts)
    if state is None:
        state = _Memory(np.zeros(rows, np.int64), np.zeros(rows, np.int64), np.zeros(rows))
        starts = np.ones(rows, np.bool_)
    return _Memory(
        np.where(starts, SWING, state.phase),
        np.where(starts, 0, state.swinging),
        np.where(starts, gait.knee, state.knee),
    )


def _targets(seen: Floats, memory: _Memory, gait: Gait) -> tuple[_Memory, Floats, Floats]:
    """The memory after this step, and targets of hips and knees (B, 2), nan where there is none."""
    rows = np.arange(len(seen))
    swing, stand = memory.swinging, 1 - memory.swinging
    phase, knee = memory.phase.copy(), memory.knee.copy()
    hips, knees = np.full((len(seen), 2), np.nan), np.full((len(seen), 2), np.nan)

    now = phase == SWING
    faster = np.where(seen[:, 2] > gait.speed, 0.06, 0.03)
    knee = np.where(now, np.minimum(knee + faster, gait.knee), knee)
    hips[rows[now], swing[now]] = gait.reach
    knees[rows[now], swing[now]] = -0.6
    knees[rows[now], stand[now]] = knee[now]
    phase[now & (seen[rows, 4 + 5 * stand] < 0.1)] = LOWER

    now = phase == LOWER
    hips[rows[now], swing[now]] = 0.1
    knees[rows[now], swing[now]] = gait.knee
    knees[rows[now], stand[now]] = knee[now]
    landed = now & (seen[rows, 8 + 5 * swing] > 0.5)
    phase[landed] = PUSH_OFF
    knee = np.where(landed, np.minimum(seen[rows, 6 + 5 * swing], gait.knee), knee)

    now = phase == PUSH_OFF
    knees[rows[now], swing[now]] = knee[now]
    knees[rows[now], stand[now]] = 1.0
    done = now & ((seen[rows, 6 + 5 * stand] > 0.88) | (seen[:, 2] > 1.2 * gait.speed))
    phase[done] = SWING
    return _Memory(phase, np.where(done, stand, swing), knee), hips, knees


def _torques(seen: Floats, hips: Floats, knees: Floats, gait: Gait) -> NDArray[np.float32]:
    """Joints towards their targets, hips against the hull's tilt, knees against its bouncing."""
    hip = np.nan_to_num(0.9 * (hips - seen[:, [4, 9]]) - 0.25 * seen[:, [5, 10]])
    knee = np.nan_to_num(4.0 * (knees - seen[:, [6, 11]]) - 0.25 * seen[:, [7, 12]])
    hip += (0.9 * seen[:, 0] + 1.5 * seen[:, 1])[:, None]
    knee -= (15.0 * seen[:, 3])[:, None]
    torques = np.stack((hip[:, 0], knee[:, 0], hip[:, 1], knee[:, 1]), axis=1)
    return np.clip(gait.gain * torques, -1.0, 1.0).astype(np.float32)
