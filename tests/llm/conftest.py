"""The scripted endpoint, and cart-pole as a language model is told it."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from endpoint import serving
from llm_kit import QUICK, MakePolicy, Serve

from safegym.policy.llm import Brief, Control, Endpoint, LLMPolicy, Sampling
from safegym.scenario.brief import brief_of
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec


@pytest.fixture(scope="session")
def cartpole() -> ScenarioSpec:
    return find("classic/cartpole-v0")


@pytest.fixture(scope="session")
def cartpole_brief(cartpole: ScenarioSpec) -> Brief:
    return brief_of(cartpole)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts scripted endpoints, which stop at the test's end."""
    with ExitStack() as stack:
        yield lambda **given: stack.enter_context(serving(**given))


@pytest.fixture
def make_policy(cartpole_brief: Brief) -> Iterator[MakePolicy]:
    """Makes LLM policies on cart-pole, closed at the test's end."""
    made: list[LLMPolicy] = []

    def make(url: str, *, model: str = "scripted", key: str = "", **given: Any) -> LLMPolicy:
        given.setdefault("limits", QUICK)
        given.setdefault("sampling", Sampling())
        given.setdefault("control", Control())
        brief = given.pop("brief", cartpole_brief)
        made.append(LLMPolicy(Endpoint(url, model, key), brief, **given))
        return made[-1]

    yield make
    for policy in made:
        policy.close()
