"""The prompt of a control task: what is told once, and what is told at each turn."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from safegym.policy.llm.actions import entry_text, jsonable, schema_of
from safegym.policy.llm.brief import Brief, one_line
from safegym.policy.llm.settings import Control

TOOL: Final = "apply_action"
LONGEST_ABOUT: Final = 1_500


def tool_of(brief: Brief, control: Control) -> dict[str, Any]:
    """The one tool that a turn may call, as an OpenAI-compatible endpoint takes it."""
    one = schema_of(brief.action_space, brief.action)
    name, given = argument_of(control), one
    if control.plan > 1:
        given = {"type": "array", "items": one, "minItems": 1, "maxItems": control.plan}
    seconds = control.every * brief.dt
    what = "one action" if control.plan == 1 else f"1 to {control.plan} actions in a row"
    return {
        "type": "function",
        "function": {
            "name": TOOL,
            "description": f"Apply {what}, each held for {seconds:g} s. Call it once a turn.",
            "parameters": {
                "type": "object",
                "properties": {name: given},
                "required": [name],
                "additionalProperties": False,
            },
        },
    }


def argument_of(control: Control) -> str:
    """The name of the tool's one argument."""
    return "action" if control.plan == 1 else "actions"


def system_text(brief: Brief, control: Control, noop: Any) -> str:
    """What is told once, at the head of every conversation."""
    parts = [
        f"You control a simulated system: {one_line(brief.name, 80)}. {one_line(brief.summary)}",
        f"A control step is {brief.dt:g} s; an episode has at most {brief.horizon} steps "
        f"({brief.horizon * brief.dt:g} s).",
    ]
    if brief.about:
        parts.append(f"About it: {_cut(brief.about)}")
    parts += _listed("You observe, in this order:", [entry_text(e) for e in brief.observation])
    parts += _listed("You act by:", [entry_text(e) for e in brief.action])
    parts += _listed("Quantities that are judged:", [entry_text(e) for e in brief.signals])
    parts += _listed("What must hold:", [one_line(claim) for claim in brief.claims])
    parts.append(_turns(brief, control, noop))
    return "\n".join(parts)


def _turns(brief: Brief, control: Control, noop: Any) -> str:
    name = argument_of(control)
    if control.tools:
        how = f"Answer each observation with exactly one call of {TOOL}."
    else:
        example = jsonable(noop) if control.plan == 1 else [jsonable(noop)]
        how = (
            "Answer each observation with one JSON object and nothing else, such as "
            f'{{"{name}": {example}}}.'
        )
    steps = "1 step" if control.every == 1 else f"{control.every} steps"
    held = f"Each action is held for {steps} ({control.every * brief.dt:g} s)."
    plan = "" if control.plan == 1 else f" You may give 1 to {control.plan} actions in a row."
    return (
        f"{how} {held}{plan} An answer that is no valid action counts as a fault, and the action "
        f"{jsonable(noop)} is applied instead. Limits and tools never change during an episode."
    )


def _listed(head: str, lines: Sequence[str]) -> list[str]:
    return [head, *(f"- {line}" for line in lines)] if lines else []


def _cut(text: str) -> str:
    flat = one_line(text, LONGEST_ABOUT)
    return flat if len(flat) < LONGEST_ABOUT else flat[: flat.rfind(". ") + 1] or flat


def observation_text(
    brief: Brief, observation: NDArray[Any], step: int, digits: int, told: str = ""
) -> str:
    """One observation on one line, its numbers rounded to `digits` significant digits.

    told: what is said before it, of the last action.
    """
    numbers = np.asarray(observation).reshape(-1).tolist()
    shown = ", ".join(
        f"{one_line(entry.name, 60)}={_number(value, digits)}"
        for entry, value in zip(brief.observation, numbers, strict=True)
    )
    head = f"{one_line(told)} " if told else ""
    return f"{head}t={step * brief.dt:.6g} s: {shown}"


def _number(value: Any, digits: int) -> str:
    return f"{value:.{digits}g}" if isinstance(value, float) else str(int(value))
