"""Teachers, each on its scenario, and whether one student can learn from all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from safegym.errors import PolicyError, UnsupportedError
from safegym.formula.claim import Claim
from safegym.gate.distill.worlds import ScenarioWorld
from safegym.policy.base import Policy, as_policy
from safegym.scenario.registry import find
from safegym.scenario.runner import Runner
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.staging import Staging

LIGHTEST, HEAVIEST = 1e-6, 1e6


@dataclass(frozen=True, slots=True)
class Teacher:
    """A specialist on its scenario.

    scenario: its name, or the spec. policy: any deterministic one. claims: those on which the
    student is gated there, None for the scenario's. weight: how much its guidance counts beside
    the other teachers', from 1e-6 to 1e6.
    """

    scenario: str | ScenarioSpec
    policy: Any
    claims: Sequence[Claim] | None = None
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Course:
    """A teacher whose scenario was found and whose spaces were read."""

    spec: ScenarioSpec
    policy: Policy
    claims: tuple[Claim, ...] | None
    weight: float
    world: ScenarioWorld
    observation_space: Any
    action_space: Any

    def to_json(self) -> dict[str, Any]:
        """What is taught here, by digests."""
        return {
            "scenario": self.spec.name,
            "scenario_digest": self.spec.digest,
            "teacher": self.policy.card.name,
            "policy": self.policy.card.digest,
            "claims": [claim.digest for claim in self.world.claims],
            "weight": self.weight,
        }


def courses(teachers: Sequence[Teacher]) -> tuple[Course, ...]:
    """The teachers with their scenarios, checked before anything runs.

    Raises PolicyError for a teacher that does not fit its scenario or draws its actions, and
    UnsupportedError where scenarios have other spaces than the first, appear twice, or have spaces
    that no student has.
    """
    asked: Any = teachers
    given: Any = list(asked) if isinstance(asked, Iterable) else []
    if not given or not all(isinstance(each, Teacher) for each in given):
        raise UnsupportedError(
            "distil_teachers takes a list of teachers: "
            'distil_teachers([Teacher("mobile/aisle-v0", policy), ...]).'
        )
    found: list[Course] = []
    for teacher in given:
        course = _course(teacher)
        _refuse_twice(found, course)
        _refuse_other_spaces(found, course)
        found.append(course)
    return tuple(found)


def _course(teacher: Teacher) -> Course:
    spec: Any = find(teacher.scenario) if isinstance(teacher.scenario, str) else teacher.scenario
    if not isinstance(spec, ScenarioSpec):
        raise UnsupportedError(
            f"Teacher({spec!r:.60}, ...): give a scenario's name or a ScenarioSpec first, then the "
            'policy: Teacher("mobile/aisle-v0", policy).'
        )
    weight: Any = teacher.weight
    real = isinstance(weight, int | float) and not isinstance(weight, bool)
    if not real or not LIGHTEST <= weight <= HEAVIEST:
        raise UnsupportedError(
            f"Teacher(weight={weight!r:.60}) of {spec.name}: give a number from {LIGHTEST:g} to "
            f"{HEAVIEST:g}; leave the teacher out to have none of it."
        )
    policy = as_policy(teacher.policy)
    if policy.card.mode != "deterministic":
        raise PolicyError(
            f"Teacher {policy.card.name} draws its actions ({policy.card.mode} mode); guidance is "
            "its deterministic action. Freeze it: safegym.freeze(model)."
        )
    observation, action = _spaces(spec, policy)
    _refuse_unlearnable(spec, observation, action)
    claims = _claims(teacher, spec)
    asked = spec.claims if claims is None else claims
    world = ScenarioWorld(spec, tuple(claim for claim in asked if claim.kind != "mean"))
    return Course(spec, policy, claims, float(weight), world, observation, action)


def _claims(teacher: Teacher, spec: ScenarioSpec) -> tuple[Claim, ...] | None:
    given: Any = teacher.claims
    if given is None:
        return None
    found: list[Any] = list(given) if isinstance(given, Iterable) else [given]
    wrong = [each for each in found if not isinstance(each, Claim)]
    if wrong:
        raise UnsupportedError(
            f"Teacher(claims=...) of {spec.name} takes a list of Claim, found {wrong[0]!r:.60}; "
            'write claims=[Claim("an.id", formula)], or None for the scenario\'s own.'
        )
    return tuple(found)


def _spaces(spec: ScenarioSpec, policy: Policy) -> tuple[Any, Any]:
    """The scenario's spaces, after one reset and one action of the policy that is dropped again."""
    runner = Runner(Staging(spec, 0).stage, policy, copies=1)
    try:
        runner.rehearse()
    finally:
        runner.close()
    env = spec.make_env()
    try:
        return env.observation_space, env.action_space
    finally:
        env.close()


def _refuse_unlearnable(spec: ScenarioSpec, observation: Any, action: Any) -> None:
    if not isinstance(observation, spaces.Box) or len(observation.shape) != 1:
        raise UnsupportedError(
            f"A student reads a row of numbers; observations of {spec.name} are {observation}. "
            "Wrap the environment in gymnasium.wrappers.FlattenObservation."
        )
    whole = isinstance(action, spaces.Discrete)
    if not whole and not (isinstance(action, spaces.Box) and len(action.shape) == 1):
        raise UnsupportedError(
            f"A student acts in a Box of one row, or chooses in a Discrete space; actions of "
            f"{spec.name} are {action}."
        )
    if isinstance(action, spaces.Box) and not action.is_bounded("both"):
        raise UnsupportedError(
            f"Actions of {spec.name} are unbounded ({action}), so no error has a scale; wrap the "
            "environment in gymnasium.wrappers.RescaleAction or ClipAction."
        )


def _refuse_twice(found: Sequence[Course], course: Course) -> None:
    name = course.spec.name
    if any(other.spec.digest == course.spec.digest for other in found):
        raise UnsupportedError(
            f"Two teachers teach {name}; a student can follow one of them there. Give "
            "one teacher a scenario, or one variant of it each."
        )
    if any(other.spec.name == name for other in found):
        raise UnsupportedError(
            f"Two variants are called {name}, so no result could say which is meant; name them "
            f'apart: dataclasses.replace(spec, name="{name}-2").'
        )


def _refuse_other_spaces(found: Sequence[Course], course: Course) -> None:
    if not found:
        return
    first = found[0]
    for what in ("observation", "action"):
        own, wanted = (getattr(each, f"{what}_space") for each in (course, first))
        if not same_space(own, wanted):
            raise UnsupportedError(
                f"{course.spec.name} has {what}s in {own}, {first.spec.name} in {wanted}; one "
                "student can learn from scenarios of exactly the same spaces only."
            )


def same_space(left: Any, right: Any) -> bool:
    """Whether two Box or Discrete spaces agree in kind, type, shape and exact bounds."""
    if isinstance(left, spaces.Box) and isinstance(right, spaces.Box):
        return (
            left.dtype == right.dtype
            and left.shape == right.shape
            and np.array_equal(left.low, right.low)
            and np.array_equal(left.high, right.high)
        )
    return type(left) is type(right) and bool(left == right)
