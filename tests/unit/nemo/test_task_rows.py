"""Rows of a scenario: prompt, tool, seed and claims, and that a changed scenario is refused."""

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from safegym.errors import BlendError, ScenarioError
from safegym.formula.claim import Claim
from safegym.formula.text import parse_statement
from safegym.nemo.rows.forms import missing_keys
from safegym.nemo.rows.prompt import NAMES
from safegym.nemo.rows.task import Task, agent_name
from safegym.nemo.rows.tasks import TaskRows, seed_range
from safegym.nemo.rows.tool import action_schema, action_tool
from safegym.scenario.registry import find
from safegym.scenario.wrap import recorded

CARTPOLE = "classic/cartpole-v0"


@pytest.fixture(scope="module")
def row() -> dict[str, Any]:
    return next(TaskRows(find(CARTPOLE), license="MIT", dataset="poles").rows([41]))


def test_a_row_can_be_played_and_gives_its_task_back(row: dict[str, Any]) -> None:
    assert missing_keys(row) == []
    assert (row["agent_ref"]["name"], row["task_id"]) == ("safegym_classic", f"{CARTPOLE}#41")
    assert (row["license"], row["dataset"]) == ("MIT", "poles")
    task = Task.from_row(row)
    spec, claims = task.resolved()
    assert (spec.name, task.seed, claims) == (CARTPOLE, 41, spec.claims)


def test_the_prompt_shows_what_the_episode_of_that_seed_starts_from(row: dict[str, Any]) -> None:
    env = recorded(find(CARTPOLE))
    observation, _ = env.reset(seed=41)
    text = row["responses_create_params"]["input"][0]["content"]
    for value in observation.tolist():
        assert f"{value:.4g}" in text
    assert "cart_position = " in text
    assert "cartpole.track (critical" in text
    assert "0.02 s" in text


def test_rows_of_the_same_seed_are_the_same_bytes(row: dict[str, Any]) -> None:
    rows = list(TaskRows(find(CARTPOLE), license="MIT", dataset="poles").rows(range(40, 43)))
    assert rows[1] == row
    assert len({str(each) for each in rows}) == 3


def test_a_claim_stated_as_text_travels_whole_in_the_row() -> None:
    spec = find(CARTPOLE)
    stated = Claim(
        "formula.1", parse_statement("always(abs(cart_position) < 1)", signals=spec.signals)
    )
    row = next(TaskRows(spec, (stated, spec.claims[0]), form="task").rows([0]))
    task = Task.from_row(row)
    assert [type(each).__name__ for each in task.claims] == ["dict", "str"]
    assert task.resolved()[1] == (stated, spec.claims[0])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scenario_digest": "sha256:0"}, "The row was written for classic/cartpole-v0 sha256:0"),
        ({"claims": ["cartpole.pole"]}, "The claims of the row have digest"),
        ({"claims": ["cartpole.pol"]}, "has no claim 'cartpole.pol'"),
        ({"claims": [{"type": "safegym.claim"}]}, "A claim of the row cannot be read"),
        ({"claims": []}, "a list of claims, 1 at least"),
        ({"claims": [3]}, "ids of claims, or claims as JSON"),
        ({"seed": -1}, "seed lies in 0"),
        ({"seed": 2**53}, "seed lies in 0"),
        ({"seed": True}, "seed lies in 0"),
        ({"scenario": None}, "verifier_metadata.scenario is a text"),
        ({"safegym": 2}, "safegym is 2; here 1 is read"),
    ],
)
def test_a_row_for_something_else_is_refused(
    row: dict[str, Any], change: dict[str, Any], said: str
) -> None:
    changed = copy.deepcopy(row)
    changed["verifier_metadata"].update(change)
    with pytest.raises(BlendError, match=said):
        Task.from_row(changed).resolved()


def test_a_row_of_an_unknown_scenario_or_of_no_task_says_so(row: dict[str, Any]) -> None:
    changed = copy.deepcopy(row)
    changed["verifier_metadata"]["scenario"] = "classic/cartpoll-v0"
    with pytest.raises(ScenarioError, match="did you mean classic/cartpole-v0"):
        Task.from_row(changed).resolved()
    with pytest.raises(BlendError, match="carries no safegym task"):
        Task.from_row({"agent_ref": {"name": "math"}})


def test_a_prompt_of_ones_own_is_filled_and_nothing_in_it_is_run() -> None:
    template = "{horizon.__class__} $$5: " + " ".join(f"${name}" for name in NAMES)
    row = next(TaskRows(find(CARTPOLE), prompt=template).rows([3]))
    text = row["responses_create_params"]["input"][0]["content"]
    assert text.startswith("{horizon.__class__} $5: classic/cartpole-v0 ")
    assert text.endswith(" 500 0.02 10 3")


@pytest.mark.parametrize(("template", "said"), [("$goal", r"asks for \$goal"), ("5 $", "lone")])
def test_a_prompt_with_an_unknown_name_says_which_there_are(template: str, said: str) -> None:
    with pytest.raises(BlendError, match=said + r".*there is \$scenario"):
        next(TaskRows(find(CARTPOLE), prompt=template).rows([0]))


def test_every_family_has_one_agent() -> None:
    assert agent_name("drone/corridor-v0") == agent_name("drone/other-v1") == "safegym_drone"
    assert agent_name("dm-control/Humanoid Run") == "safegym_dm_control"
    assert agent_name("alone-v0") == "safegym_alone_v0"


def test_seeds_are_ranges_that_json_keeps_exact() -> None:
    assert (seed_range("7"), seed_range("2:5")) == (range(7, 8), range(2, 5))
    for bad in ("", "5:5", "9:2", "-1:4", "1:2:3", "a", f"0:{2**53 + 1}"):
        with pytest.raises(BlendError, match="write FIRST:END"):
            seed_range(bad)


def test_the_schema_of_an_action_says_its_bounds() -> None:
    box = gym.spaces.Box(np.array([-1, -2]), np.array([1, 2]), dtype=np.float32)
    assert action_schema(box) == {
        "type": "array",
        "items": {"type": "number", "minimum": -2.0, "maximum": 2.0},
        "minItems": 2,
        "maxItems": 2,
        "description": "Bounds by place: [-1, 1], [-2, 2].",
    }
    free = action_schema(gym.spaces.Box(-np.inf, np.inf, (1,)))
    assert free["items"] == {"type": "number"}
    assert action_schema(gym.spaces.Discrete(3, start=5)) == {
        "type": "integer",
        "minimum": 5,
        "maximum": 7,
    }
    many = action_schema(gym.spaces.MultiDiscrete([2, 4]))
    assert (many["items"]["maximum"], many["maxItems"]) == (3, 2)
    both = action_schema(gym.spaces.Dict(a=gym.spaces.Discrete(2), b=gym.spaces.MultiBinary(2)))
    assert (both["required"], both["properties"]["b"]["items"]["maximum"]) == (["a", "b"], 1)
    with pytest.raises(BlendError, match="has no tool schema"):
        action_tool(gym.spaces.Text(3), dt="0.1")
