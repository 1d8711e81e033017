"""An episode as its conversation goes: what was shown, what was called, what is to be done."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from safegym.policy.llm.prompt import TOOL
from safegym.policy.llm.settings import Control

NO_CALL: Final = "(no valid call)"


@dataclass(frozen=True, slots=True)
class Said:
    """One turn that is over: the observation's text, and the call it led to ("" for none)."""

    shown: str
    call: str


@dataclass(frozen=True, slots=True)
class Row:
    """An episode as its conversation goes.

    step: control steps begun. turn: questions asked. left: steps for which `held` still acts.
    waiting: actions of the plan that are still to come. past: the last turns. fault: what was
    wrong with the last answer.
    """

    step: int = 0
    turn: int = 0
    left: int = 0
    held: Any = None
    waiting: tuple[Any, ...] = ()
    past: tuple[Said, ...] = ()
    fault: str = ""


def messages_of(past: Sequence[Said], shown: str, control: Control) -> Iterator[dict[str, Any]]:
    """The conversation that a turn sees, without its head: the last turns, then the observation.

    An observation is the output of the call before it; the first, and one after an answer without
    a call, is the user's.
    """
    kept = past[max(0, len(past) - control.history + 1) :]
    called = ""
    for number, text in enumerate([*(said.shown for said in kept), shown]):
        if number == 0 or not (called and control.tools):
            yield {"role": "user", "content": text}
        else:
            yield {"role": "tool", "tool_call_id": f"call_{number - 1}", "content": text}
        if number < len(kept):
            called = kept[number].call
            yield _assistant(called, number, control)


def _assistant(call: str, number: int, control: Control) -> dict[str, Any]:
    if not call or not control.tools:
        return {"role": "assistant", "content": call or NO_CALL}
    function = {"name": TOOL, "arguments": call}
    made = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [made]}
