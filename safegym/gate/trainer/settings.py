"""Hyperparameters of a training run. Loads neither torch nor stable-baselines3."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from safegym.digest import digest_json
from safegym.errors import GateError
from safegym.gate.burst_settings import BurstSettings
from safegym.gate.penalty import PenaltySettings
from safegym.gate.replay import ReplaySettings
from safegym.gate.reward.curriculum import Curriculum
from safegym.gate.trainer.algorithms import ALWAYS_READ, OWN_FIELDS, Algorithm, algorithm

Activation = Literal["tanh", "relu", "elu"]
_NESTED = ("penalty", "replay", "burst", "options")
_COUNTS = ("steps", "gate_every", "n_envs", "n_steps", "batch_size", "n_epochs")
_NUMBERS = ("gamma", "gae_lambda", "ent_coef", "vf_coef", "max_grad_norm", "log_std_init")


@dataclass(frozen=True, slots=True)
class Linear:
    """A number that goes from `start` to `end` over the first `fraction` of the run, then stays."""

    start: float
    end: float
    fraction: float = 1.0

    def __post_init__(self) -> None:
        for name in ("start", "end", "fraction"):
            object.__setattr__(self, name, _finite(name, getattr(self, name)))
        if not 0.0 < self.fraction <= 1.0:
            raise GateError(f"Linear(fraction={self.fraction}): give a share in (0, 1].")

    def to_json(self) -> dict[str, float]:
        """The schedule as JSON."""
        return {"start": self.start, "end": self.end, "fraction": self.fraction}


Schedule = float | Linear


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """Everything that decides a training run beside the scenario, its claims and the gate.

    steps: environment steps in all, over all environments. algo: a name of
    `safegym.gate.trainer.algorithms.ALGORITHMS`; fields that it does not read are left aside.
    gate_every: steps an epoch; a multiple of n_envs * n_steps, the steps of one rollout. n_envs:
    environments stepped together. n_steps: steps of each between two updates: the rollout of an
    on-policy algorithm, train_freq of an off-policy one. batch_size, n_epochs: minibatch size and
    passes of an update.
    learning_rate, clip_range: a number or a `Linear`. net_arch: widths of the hidden layers of
    policy and value network. normalise: running normalisation of observations;
    normalise_reward: of rewards. seed: root of all training randomness.
    stop_when_promoted: whether a promotion ends the run. start_policy: digest of the policy whose
    weights training starts from, "" for fresh ones; `train(start_from=...)` fills it in.
    save_replay: whether checkpoints hold the replay buffer, so that an off-policy run resumes
    bit-exactly. restart_optimiser: whether
    training goes on after a rollback with fresh optimisers, not with those of the checkpoint.
    options: what only the algorithm knows, under its own names ({"tau": 0.01}); its card lists
    them. burst: the search for counterexamples between a passed screen and an attempt.
    curriculum: easier thresholds and shorter episodes first, in training alone.
    The defaults are those of PPO in stable-baselines3, with 8 environments; `of({"algo": "sac"})`
    takes the defaults of another algorithm.
    """

    steps: int = 200_000
    algo: str = "ppo"
    gate_every: int = 20_480
    n_envs: int = 8
    n_steps: int = 256
    batch_size: int = 256
    n_epochs: int = 10
    learning_rate: Schedule = 3e-4
    clip_range: Schedule = 0.2
    gamma: float = 0.99
    gae_lambda: float = 0.95
    ent_coef: float = 0.0
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    target_kl: float | None = None
    net_arch: tuple[int, ...] = (64, 64)
    activation: Activation = "tanh"
    log_std_init: float = 0.0
    normalise: bool = False
    normalise_reward: bool = False
    seed: int = 0
    stop_when_promoted: bool = True
    start_policy: str = ""
    save_replay: bool = False
    restart_optimiser: bool = False
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    penalty: PenaltySettings = field(default_factory=PenaltySettings)
    replay: ReplaySettings = field(default_factory=ReplaySettings)
    burst: BurstSettings = field(default_factory=BurstSettings)
    curriculum: Curriculum | None = None

    def __post_init__(self) -> None:
        widths: Any = self.net_arch
        if not isinstance(widths, (list, tuple)):
            raise GateError(f"net_arch is {widths!r}; give a list of widths: [64, 64].")
        object.__setattr__(self, "net_arch", tuple(self.net_arch))
        card = algorithm(self.algo)
        object.__setattr__(self, "options", card.checked_options(self.options))
        if card.family == "off" and self.penalty.cost_critic is not None:
            raise GateError(
                f"A cost critic needs the advantages of a rollout, and {self.algo} learns from a "
                "replay buffer; leave cost_critic out, or take algo='ppo'."
            )
        for name in _COUNTS:
            _check_count(name, getattr(self, name), least=1)
        _check_count("seed", self.seed, least=0)
        for name in _NUMBERS:
            object.__setattr__(self, name, _finite(name, getattr(self, name)))
        if self.target_kl is not None:
            object.__setattr__(self, "target_kl", _finite("target_kl", self.target_kl))
        for name in ("learning_rate", "clip_range"):
            if not isinstance(getattr(self, name), Linear):
                object.__setattr__(self, name, _finite(name, getattr(self, name)))
        for width in self.net_arch:
            _check_count("net_arch", width, least=1)
        if self.activation not in ("tanh", "relu", "elu"):
            raise GateError(f"Unknown activation {self.activation!r}; use tanh, relu or elu.")
        curriculum: Any = self.curriculum
        if not isinstance(curriculum, Curriculum | None):
            raise GateError(
                f"curriculum is {curriculum!r:.60}; write Curriculum((Stage(until=0.3),))."
            )
        self._check_rollout()
        if card.family == "on" and "batch_size" in card.fields:
            self._check_batches()

    @property
    def rollout(self) -> int:
        """Environment steps of one rollout: n_envs * n_steps."""
        return self.n_envs * self.n_steps

    @property
    def digest(self) -> str:
        """Digest over every field."""
        return digest_json(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Every field as JSON."""
        plain = {item.name: _plain(getattr(self, item.name)) for item in fields(self)}
        nested = {
            "penalty": self.penalty.to_json(),
            "replay": self.replay.to_json(),
            "burst": self.burst.to_json(),
            "curriculum": None if self.curriculum is None else self.curriculum.to_json(),
        }
        return {**plain, "options": dict(self.options), **nested}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "TrainSettings":
        """The settings of `to_json`. Raises GateError for unknown or missing fields."""
        names = {item.name for item in fields(cls)}
        if set(data) != names:
            odd = ", ".join(sorted(set(data) ^ names))
            raise GateError(f"Stored training settings have unknown or missing fields: {odd}.")
        try:
            values = dict(data)
            for name in ("learning_rate", "clip_range"):
                values[name] = _schedule(values[name])
            values["penalty"] = PenaltySettings.from_json(values["penalty"])
            values["replay"] = ReplaySettings.from_json(values["replay"])
            values["burst"] = BurstSettings.from_json(values["burst"])
            if isinstance(values["curriculum"], Mapping):
                values["curriculum"] = Curriculum.from_json(values["curriculum"])
            return cls(**values)
        except (TypeError, ValueError) as error:
            raise GateError(f"Stored training settings are malformed: {error}.") from error

    @classmethod
    def of(cls, changes: Mapping[str, Any]) -> "TrainSettings":
        """The algorithm's defaults with some fields changed, given as plain data.

        Values are as in `to_json`; penalty and replay may name some of their fields only, and an
        option of the algorithm may stand beside the fields: {"algo": "sac", "tau": 0.01}.
        Raises GateError for an unknown field or option, one that the algorithm does not read, or a
        bad value.
        """
        card = algorithm(changes.get("algo", "ppo"))
        data: dict[str, Any] = {**cls().to_json(), "algo": card.name, **card.defaults}
        for name, value in changes.items():
            if name in card.options or name in card.network:
                data["options"] = {**data["options"], name: value}
            elif name not in data or _not_read(name, card):
                raise card.unknown(name, [each for each in data if not _not_read(each, card)])
            else:
                nested = name in _NESTED
                if nested and not isinstance(value, Mapping):
                    raise GateError(
                        f"{name} is {value!r:.80}; give fields of it by name: "
                        f"{', '.join(data[name]) or 'those of the algorithm'}."
                    )
                data[name] = {**data[name], **value} if nested else _plain(value)
        return cls.from_json(data)

    def _check_rollout(self) -> None:
        if self.gate_every % self.rollout:
            nearest = max(1, round(self.gate_every / self.rollout)) * self.rollout
            raise GateError(
                f"gate_every={self.gate_every} is not a whole number of rollouts of "
                f"n_envs * n_steps = {self.rollout} steps; gate_every={nearest} is."
            )

    def _check_batches(self) -> None:
        if self.batch_size < 2 or self.rollout % self.batch_size:
            raise GateError(
                f"batch_size={self.batch_size} does not divide the rollout of {self.rollout} steps;"
                f" batch_size={math.gcd(self.batch_size, self.rollout)} does."
            )


def _not_read(name: str, card: Algorithm) -> bool:
    """Whether the field belongs to other algorithms only."""
    return name in OWN_FIELDS and name not in (*ALWAYS_READ, *card.fields)


def _check_count(name: str, value: Any, *, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise GateError(f"{name} is {value!r}; give a whole number of at least {least}.")


def _finite(name: str, value: Any) -> float:
    """The number as a float: JSON writes 1.0 as 1, and a resumed run must not differ by that."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise GateError(f"{name} is {value!r}; give a finite number.")
    return float(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Linear):
        return value.to_json()
    return list(value) if isinstance(value, tuple) else value


def _schedule(value: Any) -> Schedule:
    return Linear(**value) if isinstance(value, Mapping) else value
