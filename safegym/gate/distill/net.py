"""A student that is a small stable-baselines3 network: what is asked for, without torch."""

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal, get_args

from safegym.errors import UnsupportedError

Activation = Literal["tanh", "relu"]
MOST = {"hidden": 4096, "updates": 2**53, "batch": 2**20}
"""Largest entry of each field, and the largest learning rate."""
LARGEST_RATE = 1.0
DEEPEST, LARGEST = 64, 2**24
"""Most hidden layers, and most weights between them."""


@dataclass(frozen=True, slots=True)
class Net:
    """A student that is the MlpPolicy of stable-baselines3's PPO, with its observations normalised.

    hidden: units of each hidden layer. activation: "tanh" or "relu". updates: gradient steps a
    round, each on about `batch` rows, as many of each teacher. learning_rate: of Adam in the first
    round; it falls evenly to 1/rounds of that in the last. normalise: mean and variance of each
    observation as they stand in the first round, a part of the policy from then on.
    """

    hidden: tuple[int, ...] = (64, 64)
    activation: Activation = "tanh"
    updates: int = 1_000
    batch: int = 256
    learning_rate: float = 1e-3
    normalise: bool = True

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "hidden", tuple(self.hidden))
        except TypeError:
            raise UnsupportedError(
                f"Net(hidden={self.hidden!r}): give the units of each layer, e.g. hidden=(64, 64)."
            ) from None
        for what, values in (
            ("hidden", self.hidden),
            ("updates", (self.updates,)),
            ("batch", (self.batch,)),
        ):
            most = MOST[what]
            if not all(type(value) is int and 1 <= value <= most for value in values):
                raise UnsupportedError(
                    f"Net({what}={getattr(self, what)!r:.60}): give whole numbers from 1 to {most},"
                    " e.g. Net(hidden=(64, 64), updates=1000, batch=256)."
                )
        if len(self.hidden) > DEEPEST:
            raise UnsupportedError(
                f"Net(hidden=...) has {len(self.hidden)} layers; give at most {DEEPEST}."
            )
        between = sum(left * right for left, right in pairwise(self.hidden))
        if between > LARGEST:
            raise UnsupportedError(
                f"Net(hidden={self.hidden!r:.60}) has {between} weights between its layers; give "
                f"fewer units, for at most {LARGEST}."
            )
        if self.activation not in get_args(Activation):
            raise UnsupportedError(f'Net(activation={self.activation!r}): write "tanh" or "relu".')
        rate: Any = self.learning_rate
        real = isinstance(rate, int | float) and not isinstance(rate, bool)
        if not real or not 0.0 < rate <= LARGEST_RATE:
            raise UnsupportedError(
                f"Net(learning_rate={rate!r:.60}): give a number above 0 and up to 1, e.g. 0.001."
            )

    def to_json(self) -> dict[str, Any]:
        """What was asked for."""
        return {"kind": "net", **asdict(self), "hidden": list(self.hidden)}
