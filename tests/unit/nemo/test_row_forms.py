"""The three forms of a row, and what is missed in each."""

from typing import Any

import pytest

from safegym.errors import BlendError
from safegym.nemo.rows.forms import FORMS, agent_of, form_of, in_form, missing_keys

PARAMS = {"input": [{"role": "user", "content": "2+2?"}]}
AS_AGENT: dict[str, Any] = {
    "responses_create_params": PARAMS,
    "expected_answer": "4",
    "agent_ref": {"type": "responses_api_agents", "name": "math"},
}
AS_SOURCE: dict[str, Any] = {
    "responses_create_params": PARAMS,
    "expected_answer": "4",
    "task_source": "math",
}
AS_TASK: dict[str, Any] = {
    "task_id": {"taskset": "math", "task_id": "7"},
    "task_input": {"responses_create_params": PARAMS, "expected_answer": "4"},
}
ALL = {"agent_ref": AS_AGENT, "task_source": AS_SOURCE, "task": AS_TASK}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_known_and_says_who_plays(form: str) -> None:
    row = ALL[form]
    assert (form_of(row), agent_of(row), missing_keys(row)) == (form, "math", [])


@pytest.mark.parametrize("before", FORMS)
@pytest.mark.parametrize("after", FORMS)
def test_a_row_in_any_form_becomes_any_other_with_nothing_lost(before: Any, after: Any) -> None:
    row = in_form(ALL[before], after, index=7)
    assert (form_of(row), agent_of(row), missing_keys(row)) == (after, "math", [])
    inner = row.get("task_input", row)
    assert (inner["expected_answer"], inner["responses_create_params"]) == ("4", PARAMS)
    again = in_form(row, before, index=7)
    # the id that a row got on the way stays with it
    assert again.get("task_input", again).pop("task_id", "7") == "7"
    assert again == ALL[before]


def test_a_task_takes_its_name_from_the_first_id_that_the_row_has() -> None:
    named = in_form({**AS_AGENT, "instance_id": "i", "problem_id": 5}, "task")
    assert named["task_id"] == {"taskset": "math", "task_id": "5"}
    assert in_form(AS_AGENT, "task", index=3)["task_id"]["task_id"] == "3"


@pytest.mark.parametrize(
    ("row", "missing"),
    [
        ({}, ["agent_ref", "responses_create_params"]),
        ({**AS_AGENT, "agent_ref": {}}, ["agent_ref.name"]),
        ({**AS_AGENT, "agent_ref": {"name": 4}}, ["agent_ref.name"]),
        ({**AS_SOURCE, "task_source": ""}, ["task_source"]),
        ({**AS_AGENT, "responses_create_params": None}, ["responses_create_params"]),
        ({**AS_AGENT, "responses_create_params": {"input": []}}, ["responses_create_params.input"]),
        ({"task_input": AS_TASK["task_input"]}, ["task_id"]),
        (
            {**AS_TASK, "task_id": {"taskset": "math"}, "task_input": {}},
            ["task_id.task_id", "task_input.responses_create_params"],
        ),
        ({**AS_TASK, "task_input": 3}, ["task_input", "task_input.responses_create_params"]),
        ({**AS_TASK, "task_id": "7"}, ["task_id.taskset"]),
    ],
)
def test_missing_keys_are_named_as_they_are_written(row: Any, missing: list[str]) -> None:
    assert missing_keys(row) == missing


def test_a_placeholder_may_lack_the_input_that_it_stands_for() -> None:
    row = {"agent_ref": {"name": "math"}, "_hf_placeholder": {"row": 1}}
    assert missing_keys(row) == []


def test_a_row_that_nobody_plays_takes_no_other_form() -> None:
    with pytest.raises(BlendError, match="without agent_ref cannot be written as task"):
        in_form({"responses_create_params": PARAMS}, "task")


def test_a_key_that_stands_inside_and_beside_the_task_is_refused() -> None:
    with pytest.raises(BlendError, match="expected_answer stands both"):
        in_form({**AS_TASK, "expected_answer": "5"}, "agent_ref")
