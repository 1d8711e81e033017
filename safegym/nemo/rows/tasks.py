"""Rows of a scenario: one a seed, with the prompt, the tool, the agent and the claims."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from safegym.errors import BlendError
from safegym.formula.claim import Claim
from safegym.nemo.rows.forms import AGENT_TYPE, PARAMS, Form, in_form
from safegym.nemo.rows.prompt import DEFAULT, Prompt
from safegym.nemo.rows.task import LAST_SEED, METADATA, Task, agent_name
from safegym.nemo.rows.tool import action_tool
from safegym.scenario.spec import ScenarioSpec

_RANGE = re.compile(r"(\d+)(?::(\d+))?\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class TaskRows:
    """What rows of one scenario have in common.

    claims: None for all that the scenario declares. agent: "" for the name of its family.
    dataset, license: written into each row if given; a blend is told apart by them.
    """

    spec: ScenarioSpec
    claims: tuple[Claim, ...] | None = None
    prompt: str = DEFAULT
    agent: str = ""
    form: Form = "agent_ref"
    dataset: str = ""
    license: str = ""

    def rows(self, seeds: Iterable[int]) -> Iterator[dict[str, Any]]:
        """One row a seed, in order.

        Raises BlendError for no claims, a bad seed or prompt, or an action without a schema.
        """
        spec = self.spec
        prompt = Prompt(spec, spec.claims if self.claims is None else self.claims, self.prompt)
        try:
            tool = action_tool(prompt.action_space, dt=f"{float(spec.clock.dt):g}")
            for seed in seeds:
                task = Task.of(spec, seed, self.claims)
                yield in_form(self._row(task, prompt.text(seed), tool), self.form)
        finally:
            prompt.close()

    def _row(self, task: Task, text: str, tool: dict[str, Any]) -> dict[str, Any]:
        labels = {"dataset": self.dataset, "license": self.license}
        return {
            "task_id": f"{task.scenario}#{task.seed}",
            **{key: value for key, value in labels.items() if value},
            PARAMS: {
                "input": [{"role": "user", "content": text}],
                "tools": [tool],
                "parallel_tool_calls": False,
            },
            METADATA: task.to_json(),
            "agent_ref": {"type": AGENT_TYPE, "name": self.agent or agent_name(task.scenario)},
        }


def seed_range(text: str) -> range:
    """The seeds that a text names: "7", or "0:1000" for 0 to 999. Raises BlendError otherwise."""
    found = _RANGE.match(text.strip())
    if found is not None:
        first = int(found[1])
        seeds = range(first, first + 1 if found[2] is None else int(found[2]))
        if len(seeds) and seeds[-1] <= LAST_SEED:
            return seeds
    raise BlendError(
        f"Seeds {text!r:.60}: write FIRST:END, such as 0:1000 for 0 to 999, up to {LAST_SEED}."
    )
