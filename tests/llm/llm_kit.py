"""What the fixtures of these tests give, as types, and limits for an endpoint close by."""

from collections.abc import Callable

from endpoint import Endpoint as Scripted

from safegym.policy.llm import Limits, LLMPolicy

QUICK = Limits(retries=2, backoff=0.01, timeout=5.0, give_up=3)
Serve = Callable[..., Scripted]
MakePolicy = Callable[..., LLMPolicy]
