"""An endpoint on a bad day: down, busy, failing, slow, cut off, hostile."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from endpoint import Request, newest, topple
from llm_kit import QUICK, MakePolicy, Serve

import safegym as sg
from safegym.errors import PolicyError, PolicyUnavailableError
from safegym.policy.llm import Control, Endpoint, Limits, LLMPolicy, Sampling
from safegym.policy.llm.client import _retry_after
from safegym.scenario.spec import ScenarioSpec

UPRIGHT = np.zeros((1, 4), np.float32)
START = np.ones(1, np.bool_)


def once(policy: LLMPolicy) -> Any:
    return policy.act(UPRIGHT, None, START)[0][0]


def first(persona: str, times: int = 1) -> Any:
    """A script: this persona at the first tries of each request, the good one then."""
    return lambda request, seen: persona if seen < times else "good"


@pytest.mark.parametrize("persona", ["429", "500", "503", "408", "hang-up", "half-body"])
def test_what_may_pass_is_tried_again(serve: Serve, make_policy: MakePolicy, persona: str) -> None:
    endpoint = serve(persona=first(persona, 2))
    policy = make_policy(endpoint.url)
    assert once(policy) == 0
    assert len(endpoint.seen) == 3
    assert policy.spent.requests == (3 if persona == "half-body" else 1), "what may have cost"


def test_the_wait_that_an_endpoint_asks_for_is_kept(serve: Serve, make_policy: MakePolicy) -> None:
    endpoint = serve(persona=first("429:0.3"))
    once(make_policy(endpoint.url))
    asked, again = endpoint.seen
    assert again.at - asked.at >= 0.29


def test_a_wait_beyond_the_limit_is_cut(serve: Serve, make_policy: MakePolicy) -> None:
    endpoint = serve(persona=first("429:86400"))
    limits = Limits(retries=1, backoff=0.01, longest_wait=0.05)
    began = time.monotonic()
    once(make_policy(endpoint.url, limits=limits))
    assert time.monotonic() - began < 3.0


def test_a_wait_is_read_in_both_its_forms() -> None:
    assert _retry_after("1.5") == 1.5
    assert _retry_after("Thu, 01 Jan 1970 00:00:10 GMT") == 0.0
    assert _retry_after("Fri, 01 Jan 2100 00:00:00 GMT") > 1e6  # type: ignore[operator]
    assert [_retry_after(text) for text in ("soon", "", "nan", None)] == [None] * 4


def test_an_endpoint_that_is_down_ends_the_run_before_an_episode(
    make_policy: MakePolicy, cartpole: ScenarioSpec
) -> None:
    policy = make_policy("http://127.0.0.1:9/v1")
    with pytest.raises(PolicyUnavailableError, match=r"127\.0\.0\.1:9.*ConnectError.*Start it"):
        sg.record(cartpole, policy, seed=1)
    assert policy.spent.tokens == 0


@pytest.mark.parametrize("status", ["401", "404", "403"])
def test_a_denial_is_not_tried_again(serve: Serve, make_policy: MakePolicy, status: str) -> None:
    endpoint = serve(persona=first(status, 99))
    with pytest.raises(PolicyUnavailableError, match=f"status {status}.*told to say {status}"):
        once(make_policy(endpoint.url))
    assert len(endpoint.seen) == 1


def test_a_redirect_is_not_followed(serve: Serve, make_policy: MakePolicy) -> None:
    with pytest.raises(PolicyUnavailableError, match="status 307"):
        once(make_policy(serve(persona=first("redirect", 99)).url))


def test_a_slow_answer_is_given_up_at_the_timeout(serve: Serve, make_policy: MakePolicy) -> None:
    endpoint = serve(persona=first("slow", 99))
    limits = Limits(retries=0, timeout=0.2)
    with pytest.raises(PolicyUnavailableError, match=r"no answer within 0\.2 s"):
        once(make_policy(endpoint.url, limits=limits))


@pytest.mark.parametrize("persona", ["huge", "no-choice"])
def test_a_body_that_is_no_answer_is_malformed_and_not_tried_again(
    serve: Serve, make_policy: MakePolicy, persona: str
) -> None:
    endpoint = serve(persona=first(persona, 99))
    policy = make_policy(endpoint.url)
    assert once(policy) == 0
    ((kind, why),) = policy.notes(0)
    assert (kind, len(endpoint.seen)) == ("policy.malformed", 1)
    assert "the answer is none" in why


def test_no_more_requests_are_under_way_than_allowed(serve: Serve, make_policy: MakePolicy) -> None:
    endpoint = serve(delay=0.01)
    policy = make_policy(endpoint.url, limits=Limits(concurrency=5))
    seen = np.random.default_rng(0).normal(0.0, 0.1, (40, 4)).astype(np.float32)
    actions, _ = policy.act(seen, None, np.ones(40, np.bool_))
    assert endpoint.most_at_once == 5
    assert [int(action) for action in actions] == [
        endpoint.brain(newest(request.body)) for request in in_order(endpoint.seen, seen)
    ]


def in_order(requests: list[Request], seen: Any) -> list[Request]:
    """The requests in the order of the observations they were made of."""
    by_position = {newest(request.body)["cart_position"]: request for request in requests}
    return [by_position[float(f"{row[0]:.4g}")] for row in seen]


def test_an_endpoint_that_becomes_another_model_ends_the_run(
    serve: Serve, make_policy: MakePolicy, cartpole: ScenarioSpec
) -> None:
    endpoint = serve()
    endpoint.persona = lambda request, seen: "good" if len(endpoint.seen) < 5 else "good:other"
    with pytest.raises(PolicyUnavailableError, match="answered as 'scripted' and now as 'other'"):
        sg.record(cartpole, make_policy(endpoint.url), seed=1)


def test_an_episode_whose_question_is_never_answered_is_undecided(
    serve: Serve, make_policy: MakePolicy, cartpole: ScenarioSpec
) -> None:
    endpoint = serve()
    endpoint.persona = lambda request, seen: "500" if 4 <= len(endpoint.seen) <= 6 else "good"
    policy = make_policy(endpoint.url)
    trace = sg.record(cartpole, policy, seed=1)
    assert trace.end.kind == "interrupted"
    assert trace.end.reason == "the policy did not act: no answer: status 500 (told to say 500)"
    assert [event.kind for event in trace.events] == ["policy.failed"]
    assert sg.check(cartpole.claims[0], trace).status == "inconclusive"


def test_requests_that_fail_in_a_row_end_the_run(
    serve: Serve, make_policy: MakePolicy, cartpole: ScenarioSpec
) -> None:
    endpoint = serve(brain=topple)
    policy = make_policy(endpoint.url)
    assert sg.record(cartpole, policy, seed=1).end.kind == "failed"
    endpoint.persona = first("500", 99)
    again = sg.record(cartpole, policy, seed=1)
    assert again.end.kind == "failed", "answers that are known are not asked for"
    for row in range(5):
        policy.begin(row, row)
    seen = np.array([[0.1 * k, 0, 0, 0] for k in range(1, 6)], np.float32)
    with pytest.raises(PolicyUnavailableError, match="3 requests in a row"):
        policy.act(seen, None, np.ones(5, np.bool_))


KEY = "sk-very-secret-0123456789"


def test_the_key_comes_from_the_environment_and_is_written_nowhere(
    serve: Serve,
    make_policy: MakePolicy,
    cartpole: ScenarioSpec,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("SAFEGYM_TEST_KEY", KEY)
    endpoint = serve(persona=lambda request, seen: "text", brain=topple)
    policy = make_policy(
        endpoint.url,
        key="SAFEGYM_TEST_KEY",
        control=Control(every=10),
        record=tmp_path / "talk.jsonl",
    )
    claims = [claim for claim in cartpole.claims if claim.id == "cartpole.track"]
    sg.certify(cartpole, policy, claims=claims, budget=160, out=tmp_path / "run")
    policy.save(tmp_path / "saved")
    policy.begin(0, 1)
    endpoint.persona = first("echo-key", 99)
    with pytest.raises(PolicyUnavailableError, match=r"bad key Bearer \[key\]") as refused:
        policy.act(np.full((1, 4), 0.05, np.float32), None, START)
    assert endpoint.seen[0].headers["Authorization"] == f"Bearer {KEY}"
    assert KEY not in str(refused.value) + repr(policy.card) + repr(policy.endpoint)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 3
    assert not [path for path in files if KEY.encode() in path.read_bytes()]


def test_without_httpx_the_line_that_installs_it_is_told(
    make_policy: MakePolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = make_policy("http://127.0.0.1:9/v1")
    monkeypatch.setattr("safegym.policy.llm.client.find_spec", lambda name: None)
    with pytest.raises(PolicyUnavailableError, match=r'pip install "safegym\[llm\]"'):
        once(policy)


def test_a_key_that_is_not_there_is_asked_for(serve: Serve, make_policy: MakePolicy) -> None:
    policy = make_policy(serve().url, key="SAFEGYM_NO_SUCH_KEY")
    with pytest.raises(PolicyUnavailableError, match="export SAFEGYM_NO_SUCH_KEY"):
        once(policy)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://host/v1", "write one like"),
        ("http://user:secret@host/v1", "user name, a key or a query"),
        ("http://host/v1?key=secret", "user name, a key or a query"),
        ("http://host:notaport/v1", "no address"),
        ("", "write one like"),
    ],
)
def test_an_address_that_is_none_or_holds_a_key_is_refused(url: str, said: str) -> None:
    with pytest.raises(PolicyError, match=said) as refused:
        Endpoint(url, "m")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(tokens=1_500, retries=0), r"tokens is used up: \d+ of 1500 tokens"),
        (Limits(money=0.001, price_in=1.0, price_out=2.0), r"money is used up: 0\.\d+ of 0\.001"),
        (Limits(seconds=0.05), "seconds is used up"),
    ],
)
def test_a_budget_is_never_passed_and_says_so(
    serve: Serve,
    make_policy: MakePolicy,
    cartpole: ScenarioSpec,
    limits: Limits,
    said: str,
) -> None:
    endpoint = serve(delay=0.02 if limits.seconds else 0.0)
    policy = make_policy(endpoint.url, limits=limits, sampling=Sampling(max_tokens=20))
    with pytest.raises(PolicyUnavailableError, match=said):
        sg.record(cartpole, policy, seed=1)
    spent = policy.spent
    assert limits.tokens is None or spent.tokens <= limits.tokens
    assert limits.money is None or (spent.money or 0.0) <= limits.money


def test_requests_that_wait_for_their_turn_do_not_use_up_a_budget(
    serve: Serve, make_policy: MakePolicy
) -> None:
    limits = Limits(concurrency=2, tokens=16_000)
    policy = make_policy(serve().url, limits=limits, sampling=Sampling(max_tokens=500))
    seen = np.random.default_rng(0).normal(0.0, 0.1, (40, 4)).astype(np.float32)
    policy.act(seen, None, np.ones(40, np.bool_))
    assert policy.spent.tokens == 40 * 110


def test_no_limits_can_be_given_that_make_no_sense() -> None:
    for wrong in ({"retries": -1}, {"timeout": 0.0}, {"money": 1.0}, {"tokens": 0.5}):
        with pytest.raises(PolicyError):
            Limits(**wrong)  # type: ignore[arg-type]
    with pytest.raises(PolicyError, match="extra sets tools"):
        Sampling(extra={"tools": []})
    assert QUICK.retries == 2
