"""The declared reward, inside a scenario's environment."""

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, NoReturn, SupportsFloat

import gymnasium as gym

from safegym.errors import SafegymError, ScenarioError
from safegym.scenario.reward import Meter, Reward, Row, Step

if TYPE_CHECKING:
    from safegym.scenario.spec import ScenarioSpec


class DeclaredReward(gym.Wrapper[Any, Any, Any, Any]):
    """Replaces the environment's reward by the sum of the declared terms; nothing else changes.

    info["rewards"]: term name -> what it paid for this step. info["reward_totals"]: term name ->
    what it has paid in the episode so far. Raises ScenarioError, naming term, step and seed, for a
    term that is not finite or that raises; and at once for terms that do not fit the scenario.
    """

    def __init__(self, env: gym.Env[Any, Any], spec: "ScenarioSpec", reward: Reward) -> None:
        super().__init__(env)
        self._read = spec.read_signals
        self._terminals: Mapping[str, str] = spec.terminals
        self._scenario = spec.name
        meters = reward.meters(spec)
        self._names = tuple(meters)
        self._meters: tuple[Meter, ...] = tuple(meters.values())
        self._totals = [0.0] * len(self._names)
        self._steps, self._seed = 0, -1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode: every term sees sample 0."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._steps, self._seed = 0, -1 if seed is None else seed
        self._totals = [0.0] * len(self._names)
        row = self._row()
        for name, meter in zip(self._names, self._meters, strict=True):
            try:
                meter.begin(row)
            except SafegymError:
                raise
            except Exception as error:
                self._refuse(name, error, row)
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Steps, and pays the sum of the terms."""
        observation, own, terminated, truncated, info = self.env.step(action)
        self._steps += 1
        reason = str(info.get("terminal", "terminated")) if terminated else ""
        ends = self._terminals.get(reason, "interrupted") if terminated else ""
        step = Step(self._row(), action, float(own), bool(terminated), ends, reason)
        paid = [
            self._pay(name, meter, step)
            for name, meter in zip(self._names, self._meters, strict=True)
        ]
        self._totals = [total + part for total, part in zip(self._totals, paid, strict=True)]
        told = {
            **info,
            "rewards": dict(zip(self._names, paid, strict=True)),
            "reward_totals": dict(zip(self._names, self._totals, strict=True)),
        }
        return observation, sum(paid), terminated, truncated, told

    def at_terminal(self) -> float:
        """What the newest step would have paid more had it been a terminal, in units of reward.

        To be added to its reward by whoever ends the episode there: potentials take back what they
        paid for a sample from which nothing follows. info tells what was paid without it.
        """
        return sum(meter.at_terminal() for meter in self._meters)

    def _row(self) -> Row:
        return self._read(self.env.unwrapped)

    def _pay(self, name: str, meter: Meter, step: Step) -> float:
        try:
            paid = meter.pay(step)
        except SafegymError:
            raise
        except Exception as error:
            self._refuse(name, error, step.row)
        if not isfinite(paid):
            self._refuse(name, paid, step.row)
        return paid

    def _refuse(self, name: str, found: float | Exception, row: Row) -> NoReturn:
        what = (
            f"raised {type(found).__name__}: {found}"
            if isinstance(found, Exception)
            else f"is {found}"
        )
        cause = found if isinstance(found, Exception) else None
        raise ScenarioError(
            f"Reward term {name!r} of {self._scenario} {what} at step {self._steps} of the episode "
            f"with seed {self._seed}, where the signals are {_shown(row)}. Run that seed alone; a "
            "term must be finite wherever the environment can go."
        ) from cause


def owed_at_terminal(env: gym.Env[Any, Any]) -> float:
    """`DeclaredReward.at_terminal` of the declared reward inside `env`; 0 where none is."""
    layer: Any = env
    while isinstance(layer, gym.Wrapper):
        if isinstance(layer, DeclaredReward):
            return layer.at_terminal()
        layer = layer.env
    return 0.0


def _shown(row: Row) -> str:
    values = [value.tolist() if hasattr(value, "tolist") else value for value in row]
    return ", ".join(str(value) for value in values)[:200]
