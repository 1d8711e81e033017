"""The three forms of a row, read alike and written one as another.

- `agent_ref`: `responses_create_params`, `agent_ref` {type, name}, and anything else flat.
- `task_source`: the same with `task_source`, a name that a configuration maps to an agent.
- `task`: `task_id` {taskset, task_id} and `task_input`, which holds the flat fields.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from safegym.errors import BlendError

Row = Mapping[str, Any]
Form = Literal["agent_ref", "task_source", "task"]
FORMS: tuple[Form, ...] = get_args(Form)
AGENT_TYPE = "responses_api_agents"
PARAMS = "responses_create_params"
PLACEHOLDER = "_hf_placeholder"
_ROUTING = ("agent_ref", "task_source")
_IDS = ("task_id", "problem_id", "instance_id")


def form_of(row: Row) -> Form | None:
    """The form that a row is in; None if nothing in it says where it goes."""
    if "task_input" in row:
        return "task"
    if isinstance(row.get("agent_ref"), Mapping):
        return "agent_ref"
    return "task_source" if isinstance(row.get("task_source"), str) else None


def agent_of(row: Row) -> str:
    """Who plays the row: the agent's name, or the task source or task set that stands for it.

    "" where the row does not say.
    """
    form = form_of(row)
    if form == "agent_ref":
        return _text(row["agent_ref"].get("name"))
    if form == "task_source":
        return _text(row["task_source"])
    if form == "task":
        ref = row.get("agent_ref")
        named = _text(ref.get("name")) if isinstance(ref, Mapping) else ""
        source, task = _text(row.get("task_source")), row.get("task_id")
        of_set = _text(task.get("taskset")) if isinstance(task, Mapping) else ""
        return named or source or of_set
    return ""


def fields_of(row: Row) -> Row:
    """Where the flat fields of a row stand: the row itself, or its `task_input`."""
    if "task_input" not in row:
        return row
    inner = row["task_input"]
    return inner if isinstance(inner, Mapping) else {}


def missing_keys(row: Row) -> list[str]:
    """The required keys that a row lacks, as dotted names; empty if it can be played.

    The input of an unfilled placeholder is not missed.
    """
    missing: list[str] = []
    form = form_of(row)
    if form is None:
        missing.append("agent_ref")
    elif form == "task":
        missing += _missing_of_task(row)
    elif not agent_of(row):
        missing.append("agent_ref.name" if form == "agent_ref" else "task_source")
    fields, prefix = fields_of(row), "task_input." if form == "task" else ""
    if PLACEHOLDER in fields:
        return missing
    params = fields.get(PARAMS)
    if not isinstance(params, Mapping):
        missing.append(prefix + PARAMS)
    elif not isinstance(params.get("input"), list | str) or not params["input"]:
        missing.append(f"{prefix}{PARAMS}.input")
    return missing


def in_form(row: Row, form: Form, *, index: int = 0) -> dict[str, Any]:
    """The row in another form, every other field kept.

    index: what a row without an id of its own is called where it becomes a `task`. The agent's
    name becomes the task source or the task set, and back. Raises BlendError if the row does not
    say who plays it, or two fields would fall together.
    """
    agent, before = agent_of(row), form_of(row)
    if not agent:
        raise BlendError(f"A row without {missing_keys(row)[0]} cannot be written as {form}.")
    if before == form:
        return dict(row)
    flat = _flat(row)
    if form == "agent_ref":
        return {**flat, "agent_ref": {"type": AGENT_TYPE, "name": agent}}
    if form == "task_source":
        return {**flat, "task_source": agent}
    name = next((str(flat[key]) for key in _IDS if flat.get(key) is not None), str(index))
    return {"task_id": {"taskset": agent, "task_id": name}, "task_input": flat}


def with_fields(row: Row, fields: Row) -> dict[str, Any]:
    """The row with its flat fields replaced, in whichever form it is."""
    return dict(fields) if "task_input" not in row else {**row, "task_input": dict(fields)}


def _flat(row: Row) -> dict[str, Any]:
    """The flat fields without what routes them, and with what else a `task` carried."""
    flat = {key: value for key, value in fields_of(row).items() if key not in _ROUTING}
    if "task_input" not in row:
        return flat
    task = row.get("task_id")
    name = task.get("task_id") if isinstance(task, Mapping) else task
    outer = {k: v for k, v in row.items() if k not in ("task_input", "task_id", *_ROUTING)}
    twice = sorted(outer.keys() & flat.keys())
    if twice:
        raise BlendError(
            f"{twice[0]} stands both beside task_input and in it; keep one of the two."
        )
    known = "task_id" in flat or name is None
    return {**flat, **outer} if known else {**flat, **outer, "task_id": name}


def _missing_of_task(row: Row) -> list[str]:
    missing: list[str] = []
    task = row.get("task_id")
    if isinstance(task, Mapping):
        missing += [f"task_id.{key}" for key in ("taskset", "task_id") if not _text(task.get(key))]
    elif not _text(task):
        missing.append("task_id")
    elif not agent_of(row):
        missing.append("task_id.taskset")
    if not isinstance(row.get("task_input"), Mapping):
        missing.append("task_input")
    return missing


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
