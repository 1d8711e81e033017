"""What counts as an action, and what does not, against a slow second reading of the schema."""

import json
import math
from typing import Any

import numpy as np
import pytest
from endpoint import message_of
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.errors import UnsupportedError
from safegym.policy.llm import Control, Entry, MalformedAnswer, decode, no_op, read_reply, schema_of
from safegym.policy.llm.actions import jsonable, size_of, unfit
from safegym.policy.llm.brief import one_line
from safegym.policy.llm.parse import split_reasoning

SPACES: dict[str, spaces.Space[Any]] = {
    "one number": spaces.Box(-1.0, 1.0, (1,), np.float32),
    "two numbers": spaces.Box(np.array([-1.0, 0.0]), np.array([1.0, 5.0]), dtype=np.float64),
    "a grid": spaces.Box(-2.0, 2.0, (2, 2), np.float32),
    "no limits": spaces.Box(-np.inf, np.inf, (2,), np.float32),
    "a choice": spaces.Discrete(3, start=1),
    "several choices": spaces.MultiDiscrete([2, 5]),
    "switches": spaces.MultiBinary(3),
    "named": spaces.Dict({"push": spaces.Box(-1.0, 1.0, (2,)), "gear": spaces.Discrete(4)}),
}
CART = spaces.Discrete(2)


def entries(space: spaces.Space[Any]) -> list[Entry]:
    return [Entry(f"a{at}") for at in range(size_of(space))]


def obeys(schema: dict[str, Any], value: Any) -> bool:
    """JSON schema as far as ours go, read slowly and apart from the code under test."""
    kind = schema["type"]
    if kind == "object":
        return (
            isinstance(value, dict)
            and set(value) == set(schema["required"])
            and all(obeys(schema["properties"][name], part) for name, part in value.items())
        )
    if kind == "array":
        return (
            isinstance(value, list)
            and schema["minItems"] <= len(value) <= schema["maxItems"]
            and all(obeys(schema["items"], part) for part in value)
        )
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return False
    if kind == "integer" and value != int(value):
        return False
    return schema.get("minimum", -math.inf) <= value <= schema.get("maximum", math.inf)


@pytest.mark.parametrize("name", SPACES)
def test_an_action_of_the_space_is_in_its_schema_and_comes_back_unchanged(name: str) -> None:
    space = SPACES[name]
    space.seed(1)
    for _ in range(50):
        action = space.sample()
        value = json.loads(json.dumps(jsonable(action)))
        found = decode(space, value)
        assert obeys(schema_of(space, entries(space)), value) or name == "a grid"
        assert space.contains(found)
        np.testing.assert_allclose(
            spaces.flatten(space, found), spaces.flatten(space, action), rtol=1e-5
        )


NUMBERS = st.one_of(
    st.integers(-7, 7), st.floats(-6.0, 6.0), st.sampled_from([1e400, math.nan, 10**30, True, None])
)
VALUES = st.recursive(
    st.one_of(NUMBERS, st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(["push", "gear", "x"]), inner, max_size=3),
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None, database=None)
@given(value=VALUES, name=st.sampled_from(sorted(SPACES)))
def test_whatever_a_model_sends_becomes_an_action_of_the_space_or_is_refused(
    value: Any, name: str
) -> None:
    space = SPACES[name]
    try:
        found = decode(space, value)
    except MalformedAnswer:
        assert not obeys(schema_of(space, entries(space)), value) or name == "two numbers"
    else:
        assert space.contains(found)


@pytest.mark.parametrize("name", SPACES)
def test_the_no_op_is_in_the_space_and_the_unfit_action_is_not(name: str) -> None:
    assert SPACES[name].contains(no_op(SPACES[name]))
    assert not SPACES[name].contains(unfit(SPACES[name]))


@pytest.mark.parametrize(
    ("space", "what"),
    [(spaces.Text(5), "cannot act in"), (spaces.Box(0, 1, (20, 20)), "400 numbers")],
)
def test_a_space_without_a_schema_is_refused(space: spaces.Space[Any], what: str) -> None:
    with pytest.raises(UnsupportedError, match=what):
        size_of(space)


@pytest.mark.parametrize("persona", ["good", "text", "reasoning"])
def test_a_call_is_read_from_a_tool_call_and_from_text(persona: str) -> None:
    message, finish = message_of(persona, 1)
    reply = read_reply(message, finish, CART, Control())
    assert reply.actions == (1,)
    assert ("maybe" in reply.reasoning) == (persona == "reasoning")


@pytest.mark.parametrize(
    ("persona", "said"),
    [
        ("endless", "cut off at max_tokens"),
        ("empty", "the answer is empty"),
        ("none", "the answer is empty"),
        ("two", "2 tool calls in one turn"),
        ("wrong-tool", "there is no tool shutdown"),
        ("wrong-argument", "found force"),
        ("out-of-range", r"outside \[0, 1\]"),
        ("nan", "NaN is no number"),
        ("half", "are no JSON"),
        ("deep", "are no JSON"),
        ("string", "must hold numbers"),
        ("hostile", 'has no "action"'),
    ],
)
def test_an_answer_that_is_no_action_says_why(persona: str, said: str) -> None:
    message, finish = message_of(persona, 1)
    with pytest.raises(MalformedAnswer, match=said) as refused:
        read_reply(message, finish, CART, Control())
    assert str(refused.value).isprintable()


def test_a_plan_has_one_action_to_as_many_as_are_allowed() -> None:
    control = Control(plan=3)
    message = {"content": 'here: {"actions": [1, 0, 1]}'}
    assert read_reply(message, "stop", CART, control).actions == (1, 0, 1)
    for wrong in ("[]", "[1,0,1,0]", "1", "[1, 7]"):
        with pytest.raises(MalformedAnswer, match="actions"):
            read_reply({"content": f'{{"actions": {wrong}}}'}, "stop", CART, control)


@pytest.mark.parametrize(
    ("text", "kept", "thought"),
    [
        ("<think>a</think>b", "b", "a"),
        ("a</think>b", "b", "a"),
        ("<think>a", "", "a"),
        ("a<think>b<think>c</think>d</think>e", "ae", "bcd"),
        ("plain", "plain", ""),
    ],
)
def test_reasoning_is_kept_apart(text: str, kept: str, thought: str) -> None:
    assert split_reasoning(text) == (kept, thought)


def test_of_several_objects_in_a_text_the_last_counts() -> None:
    text = 'not {"action": 0} but {"why": {"action": 0}, "action": 1} {broken'
    assert read_reply({"content": text}, "stop", CART, Control()).actions == (1,)


def test_a_text_of_many_braces_is_read_in_bounded_time() -> None:
    with pytest.raises(MalformedAnswer, match="no tool call and no JSON"):
        read_reply({"content": "{" * 500_000}, "stop", CART, Control())


@given(st.text(max_size=60))
def test_a_line_for_a_prompt_is_one_line_of_printable_ascii(text: str) -> None:
    line = one_line(text)
    assert line.isascii()
    assert line == "" or line.isprintable()
