"""How a campaign's environments are made, in this process or in a worker."""

import pickle
from dataclasses import dataclass

from safegym.errors import ScenarioError
from safegym.scenario.registry import find
from safegym.scenario.runner import Stage
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.wrap import recorded


@dataclass(frozen=True, slots=True)
class Staging:
    """A scenario with the tail to run and what to keep."""

    spec: ScenarioSpec
    tail: int = 0
    keep_observations: bool = False

    def stage(self) -> Stage:
        """A fresh environment with its recorder."""
        env = recorded(self.spec, tail=self.tail, keep_observations=self.keep_observations)
        return Stage(env, env)


@dataclass(frozen=True, slots=True)
class Reference:
    """A staging that can cross to another process: by the scenario's name, or pickled."""

    name: str
    digest: str
    pickled: bytes
    tail: int
    keep_observations: bool

    @classmethod
    def of(cls, staging: Staging) -> "Reference":
        """Raises ScenarioError if the scenario is neither registered nor picklable."""
        spec = staging.spec
        rest = (staging.tail, staging.keep_observations)
        try:
            if find(spec.name).digest == spec.digest:
                return cls(spec.name, spec.digest, b"", *rest)
        except ScenarioError:
            pass  # not registered: it has to go as it is
        try:
            return cls(spec.name, spec.digest, pickle.dumps(spec), *rest)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ScenarioError(
                f"Scenario {spec.name} cannot go to a worker process: it is not registered in the "
                f"group 'safegym.scenarios' and does not pickle ({error}). Register it, define its "
                "functions at module level, or pass workers=1."
            ) from error

    def resolve(self) -> Staging:
        """The staging again. Raises ScenarioError if this process finds another scenario."""
        spec: ScenarioSpec = pickle.loads(self.pickled) if self.pickled else find(self.name)
        if spec.digest != self.digest:
            raise ScenarioError(
                f"Scenario {self.name} has digest {spec.digest} in the worker process and "
                f"{self.digest} in the main one; its files changed meanwhile, start again."
            )
        return Staging(spec, self.tail, self.keep_observations)
