"""Reading a model's answer: one call of the one tool, else a JSON object in its text.

Everything is bounded, and nothing in an answer can change the tool, the limits or the prompt.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn

from gymnasium import spaces

from safegym.policy.llm.actions import MalformedAnswer, decode
from safegym.policy.llm.brief import one_line
from safegym.policy.llm.prompt import TOOL, argument_of
from safegym.policy.llm.settings import Control

LONGEST_ARGUMENTS: Final = 16_384
LONGEST_TEXT: Final = 65_536
MOST_OBJECTS: Final = 64
"""Places in a text that may begin a JSON object and are looked at, the last ones."""
REASONING: Final = (("<think>", "</think>"), ("<reasoning>", "</reasoning>"))
_TAG: Final = re.compile("|".join(re.escape(tag) for pair in REASONING for tag in pair))


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered, with its reasoning apart.

    actions: what it asked for, in order, each in the action space. by: how it said so.
    """

    actions: tuple[Any, ...]
    reasoning: str
    by: Literal["tool", "text"]


def read_reply(
    message: Mapping[str, Any], finish: str, space: spaces.Space[Any], control: Control
) -> Reply:
    """The actions that an answer asks for.

    message: "message" of a chat completion's choice; finish: its finish_reason. Raises
    MalformedAnswer for no call, several calls, another tool, or an argument that is no action.
    """
    content = message.get("content")
    text, reasoning = split_reasoning(content if isinstance(content, str) else "")
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        if len(calls) > 1:
            raise MalformedAnswer(f"{len(calls)} tool calls in one turn; exactly one is allowed")
        found = _called(calls[0])
        return Reply(_actions(found, space, control), reasoning, "tool")
    if not text.strip():
        raise MalformedAnswer(_why_empty(reasoning, finish))
    return Reply(_from_text(text, finish, space, control), reasoning, "text")


def split_reasoning(text: str) -> tuple[str, str]:
    """A text without its reasoning, and the reasoning; one that does not end takes all the rest.

    Some endpoints cut the opening tag: what stands before a lone closing tag is reasoning too.
    """
    kept: list[str] = []
    thought: list[str] = []
    at, depth = 0, 0
    for tag in _TAG.finditer(text):
        (thought if depth else kept).append(text[at : tag.start()])
        at = tag.end()
        if not tag.group().startswith("</"):
            depth += 1
        elif depth:
            depth -= 1
        else:
            thought.extend(kept)
            kept.clear()
    (thought if depth else kept).append(text[at:])
    return "".join(kept), "".join(thought)


def _called(call: Any) -> Mapping[str, Any]:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        raise MalformedAnswer("the tool call names no function")
    name = function.get("name")
    if name != TOOL:
        raise MalformedAnswer(f"there is no tool {one_line(name, 40)}; call {TOOL}")
    arguments = function.get("arguments")
    if isinstance(arguments, Mapping):
        return arguments
    if not isinstance(arguments, str):
        raise MalformedAnswer("the tool call has no arguments")
    if len(arguments) > LONGEST_ARGUMENTS:
        raise MalformedAnswer(f"the arguments have more than {LONGEST_ARGUMENTS} characters")
    try:
        found = loads(arguments)
    except ValueError as error:
        raise MalformedAnswer(f"the arguments are no JSON: {one_line(error, 80)}") from None
    if not isinstance(found, dict):
        raise MalformedAnswer("the arguments are no JSON object")
    return found


def _actions(
    arguments: Mapping[str, Any], space: spaces.Space[Any], control: Control
) -> tuple[Any, ...]:
    name = argument_of(control)
    if set(arguments) != {name}:
        found = ", ".join(one_line(key, 30) for key in list(arguments)[:4]) or "nothing"
        raise MalformedAnswer(f'the arguments must be {{"{name}": ...}}, found {found}')
    value = arguments[name]
    if control.plan == 1:
        return (decode(space, value),)
    if not isinstance(value, list) or not 1 <= len(value) <= control.plan:
        raise MalformedAnswer(f"actions must be a list of 1 to {control.plan} actions")
    return tuple(decode(space, each, f"actions[{at}]") for at, each in enumerate(value))


def _from_text(
    text: str, finish: str, space: spaces.Space[Any], control: Control
) -> tuple[Any, ...]:
    """The last JSON object in a text that has the argument, or a call with it."""
    text = text[-LONGEST_TEXT:]
    name, fault = argument_of(control), ""
    for found in _objects(text):
        inner: Any = found
        if found.get("name") == TOOL and "arguments" in found:
            inner = found["arguments"]
            if isinstance(inner, str):
                inner = _quietly(inner[:LONGEST_ARGUMENTS])
        if isinstance(inner, dict) and name in inner:
            return _actions({name: inner[name]}, space, control)
        fault = fault or f'the JSON object in the text has no "{name}"'
    cut = " (cut off at max_tokens)" if finish == "length" else ""
    raise MalformedAnswer((fault or "the answer holds no tool call and no JSON object") + cut)


def _objects(text: str) -> list[dict[str, Any]]:
    """JSON objects in a text, the last first; one inside another comes after it."""
    places = [at for at, each in enumerate(text) if each == "{"][-MOST_OBJECTS:]
    spans: list[tuple[int, int, dict[str, Any]]] = []
    for at in places:
        try:
            value, end = _decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            spans.append((at, end, value))
    outer = [s for s in spans if not any(o[0] < s[0] and s[1] <= o[1] for o in spans)]
    return [value for _, _, value in reversed(outer)]


def _why_empty(reasoning: str, finish: str) -> str:
    if finish == "length":
        return "the answer was cut off at max_tokens before a call"
    if reasoning:
        return "the answer holds reasoning and nothing after it"
    return "the answer is empty"


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


_decoder = json.JSONDecoder(parse_constant=_refuse)


def loads(text: str) -> Any:
    """JSON, without NaN and infinity. Raises ValueError, also for what is nested too deep."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _quietly(text: str) -> Any:
    try:
        return loads(text)
    except ValueError:
        return None
