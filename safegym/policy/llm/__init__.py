"""Language models as policies: `[llm]` extra. httpx is loaded when the first request is sent."""

from safegym.policy.llm.actions import MalformedAnswer, decode, no_op, schema_of
from safegym.policy.llm.brief import Brief, Entry
from safegym.policy.llm.budget import Spent
from safegym.policy.llm.parse import Reply, read_reply
from safegym.policy.llm.policy import LLMPolicy
from safegym.policy.llm.prompt import observation_text, system_text, tool_of
from safegym.policy.llm.settings import Control, Endpoint, Limits, Sampling

__all__ = [
    "Brief",
    "Control",
    "Endpoint",
    "Entry",
    "LLMPolicy",
    "Limits",
    "MalformedAnswer",
    "Reply",
    "Sampling",
    "Spent",
    "decode",
    "no_op",
    "observation_text",
    "read_reply",
    "schema_of",
    "system_text",
    "tool_of",
]
