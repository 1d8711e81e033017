"""A language model under the gate: certified as what it is, recorded, judged again without it."""

import json
import pickle
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from endpoint import Request, newest, topple
from gymnasium import spaces
from llm_kit import MakePolicy, Serve

import safegym as sg
from safegym.audit.sign import default_key
from safegym.audit.verify import verify
from safegym.errors import PolicyError, PolicyUnavailableError
from safegym.gate.freezing import refuse_unfrozen
from safegym.gate.rederive import rederive
from safegym.policy.declared import FILE, declared_digest
from safegym.policy.llm import Brief, Control, Entry, Limits, LLMPolicy, Sampling
from safegym.scenario.brief import brief_of
from safegym.scenario.campaign import Campaign
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec

QUICKLY = Control(every=10, history=1)
"""Held so long that the pole falls at once: about one question an episode."""


def one_claim(spec: ScenarioSpec) -> list[sg.Claim]:
    return [claim for claim in spec.claims if claim.id == "cartpole.track"]


def slips(request: Request, times: int) -> str:
    """A wrong tool in about one request of eight, by its content."""
    return "wrong-tool" if int(1e6 * abs(newest(request.body)["pole_angle"])) % 8 == 0 else "good"


@pytest.fixture(scope="module")
def certified(
    tmp_path_factory: pytest.TempPathFactory, cartpole: ScenarioSpec, cartpole_brief: Brief
) -> Mapping[str, Any]:
    """A run of a policy that draws its answers and slips at times, and what was said of it."""
    from endpoint import serving

    from safegym.policy.llm import Endpoint

    folder = tmp_path_factory.mktemp("certified")
    with serving(persona=slips) as endpoint:
        policy = LLMPolicy(
            Endpoint(endpoint.url, "scripted"),
            cartpole_brief,
            sampling=Sampling(temperature=0.7),
            control=QUICKLY,
            record=folder / "talk.jsonl",
        )
        claims = one_claim(cartpole)
        evidence = sg.certify(cartpole, policy, claims=claims, budget=200, out=folder / "run")
        policy.close()
        requests = list(endpoint.seen)
    return {"folder": folder, "evidence": evidence[0], "requests": requests, "card": policy.card}


def test_a_policy_that_draws_is_certified_as_sampled(certified: Mapping[str, Any]) -> None:
    evidence, card = certified["evidence"], certified["card"]
    assert (card.mode, card.kind, evidence.status) == ("sampled", "llm", "satisfied")
    assert f"policy {card.digest}, sampled, batch width 64" in evidence.assumptions
    said = "\n".join(evidence.assumptions)
    assert 'serves the model "scripted" with the same weights' in said
    assert "no digest fixes them" in said


def test_malformed_answers_are_counted_in_trace_and_evidence(certified: Mapping[str, Any]) -> None:
    from safegym.trace.store import read_shard

    shards = sorted((certified["folder"] / "run" / "traces").glob("*.arrow"))
    events = [e for shard in shards for trace in read_shard(shard) for e in trace.events]
    assert {event.kind for event in events} == {"policy.malformed"}
    assert events[0].detail == "there is no tool shutdown; call apply_action"
    line = f"observed in these episodes, which count as they went: policy.malformed {len(events)}"
    assert certified["evidence"].assumptions[-1] == line
    assert len(events) > 3


def test_the_run_verifies_and_is_derived_again(certified: Mapping[str, Any]) -> None:
    report = verify(certified["folder"] / "run", keys=[default_key()], rederive=rederive)
    assert report.result == "intact", report.words
    (file,) = (certified["folder"] / "run" / "policies").rglob(FILE)
    assert declared_digest(file.read_bytes()) == certified["card"].digest
    document = json.loads(file.read_text())
    assert document["sampling"]["temperature"] == 0.7
    assert "pole_angle [rad]" in document["prompt"]


@pytest.mark.parametrize(
    ("field", "old", "new"),
    [
        ("count", "policy.malformed ", "policy.malformed 9"),
        ("weights", "no digest fixes them", "a digest fixes them"),
    ],
)
def test_a_line_of_the_evidence_that_says_otherwise_is_found(
    certified: Mapping[str, Any], field: str, old: str, new: str
) -> None:
    from safegym.audit.read import read_log

    folder = certified["folder"] / "run"
    records = list(read_log(folder))
    at = next(i for i, record in enumerate(records) if record.kind == "evidence")
    lines = [line.replace(old, new) for line in records[at].payload["assumptions"]]
    records[at] = replace(records[at], payload={**records[at].payload, "assumptions": lines})
    assert any("assumption" in str(found) for found in rederive(folder, records)), field


def test_turns_of_different_episodes_are_drawn_with_different_seeds(
    certified: Mapping[str, Any],
) -> None:
    seeds = [request.body["seed"] for request in certified["requests"]]
    assert len(set(seeds)) == len(seeds) > 80


def test_a_recorded_run_is_judged_again_without_a_model(
    certified: Mapping[str, Any], make_policy: MakePolicy, cartpole: ScenarioSpec
) -> None:
    policy = make_policy(
        "http://127.0.0.1:9/v1",
        sampling=Sampling(temperature=0.7),
        control=QUICKLY,
        record=certified["folder"] / "talk.jsonl",
        replay=True,
    )
    (again,) = sg.certify(cartpole, policy, claims=one_claim(cartpole), budget=200)
    first = certified["evidence"]
    assert again.trace_root == first.trace_root
    assert replace(again, surplus=0) == replace(first, surplus=0)
    assert policy.spent.requests == 0
    with pytest.raises(PolicyUnavailableError, match="holds no answer to turn 0"):
        sg.record(cartpole, policy, seed=123_456)


def test_a_gate_that_freezes_refuses_a_policy_that_draws(make_policy: MakePolicy) -> None:
    drawing = make_policy("http://127.0.0.1:9/v1", sampling=Sampling(temperature=0.7))
    with pytest.raises(PolicyError, match="acts in sampled mode"):
        refuse_unfrozen(drawing)
    refuse_unfrozen(drawing, sampled=True)
    refuse_unfrozen(make_policy("http://127.0.0.1:9/v1"))


def test_the_digest_covers_what_decides_and_nothing_else(make_policy: MakePolicy) -> None:
    url = "http://127.0.0.1:9/v1"
    plain = make_policy(url).card.digest
    same = make_policy("http://127.0.0.1:10/v1", limits=Limits(concurrency=2), key="SOME_KEY")
    assert same.card.digest == plain
    others = [
        make_policy(url, model="other"),
        make_policy(url, sampling=Sampling(max_tokens=99)),
        make_policy(url, sampling=Sampling(extra={"top_k": 3})),
        make_policy(url, control=Control(every=2)),
        make_policy(url, control=Control(noop=1)),
        make_policy(url, brief=brief_of(find("classic/cartpole-v0"), about="Be careful.")),
        make_policy(url, brief=brief_of(find("classic/cartpole-v0"), claims=[])),
    ]
    assert len({plain, *(other.card.digest for other in others)}) == len(others) + 1


def test_copies_and_neighbours_change_no_trace(
    serve: Serve, make_policy: MakePolicy, cartpole: ScenarioSpec
) -> None:
    digests = []
    for copies in (1, 7):
        policy = make_policy(serve(brain=topple).url, sampling=Sampling(temperature=1.0))
        with Campaign(
            cartpole, policy, seed_of=lambda i: 50 + i, tail=0, copies=copies, episodes=9
        ) as campaign:
            digests.append([trace.digest for _, trace in campaign])
    assert digests[0] == digests[1]


def test_rows_without_an_episode_ask_nothing(
    serve: Serve, make_policy: MakePolicy, cartpole: ScenarioSpec
) -> None:
    endpoint = serve(brain=topple)
    policy = make_policy(endpoint.url)
    trace = sg.record(cartpole, policy, seed=1)
    assert len(endpoint.seen) <= trace.steps + 1  # and the rehearsal's one


def test_an_action_is_held_and_a_plan_is_followed(
    serve: Serve, make_policy: MakePolicy, cartpole: ScenarioSpec
) -> None:
    held = make_policy(serve(brain=topple).url, control=Control(every=3))
    actions = sg.record(cartpole, held, seed=1).actions
    assert len(actions) > 6
    assert all(len(set(actions[at : at + 3].tolist())) == 1 for at in range(0, len(actions), 3))
    endpoint = serve(persona=lambda request, times: "text")
    endpoint.brain = lambda seen: 0
    planned = make_policy(endpoint.url, control=Control(plan=4, noop=1))
    trace = sg.record(cartpole, planned, seed=1)
    assert {event.kind for event in trace.events} == {"policy.malformed"}, "actions, not action"
    assert set(trace.actions.tolist()) == {1}


def test_the_conversation_shows_the_last_observations_as_tool_outputs(
    serve: Serve, make_policy: MakePolicy, cartpole: ScenarioSpec
) -> None:
    endpoint = serve(brain=topple)
    sg.record(cartpole, make_policy(endpoint.url, control=Control(history=3)), seed=1)
    messages = endpoint.seen[-1].body["messages"]
    assert [m["role"] for m in messages] == [
        *("system", "user", "assistant", "tool", "assistant", "tool"),
    ]
    assert messages[3]["tool_call_id"] == messages[2]["tool_calls"][0]["id"]
    assert messages[-1]["content"].startswith("t=")


def test_a_fault_is_told_to_the_model_at_its_next_turn(
    serve: Serve, make_policy: MakePolicy, cartpole: ScenarioSpec
) -> None:
    endpoint = serve(persona=lambda request, times: "out-of-range")
    trace = sg.record(cartpole, make_policy(endpoint.url), seed=1)
    assert {event.kind for event in trace.events} == {"policy.malformed"}
    assert len(trace.events) == trace.steps
    last = endpoint.seen[-1].body["messages"]
    assert last[-2] == {"role": "assistant", "content": "(no valid call)"}
    assert last[-1]["content"].startswith("Not applied: action = 1e+09 is outside [0, 1]. 0 was")


@pytest.mark.parametrize("persona", ["hostile", "endless", "deep"])
def test_no_answer_changes_prompt_tools_or_limits(
    serve: Serve, make_policy: MakePolicy, cartpole: ScenarioSpec, persona: str
) -> None:
    endpoint = serve(persona=lambda request, times: persona)
    trace = sg.record(cartpole, make_policy(endpoint.url), seed=1)
    assert set(trace.actions.tolist()) == {0}
    assert all(event.detail.isprintable() for event in trace.events)
    fixed = [(r.body["messages"][0], r.body["tools"], r.body["max_tokens"]) for r in endpoint.seen]
    assert all(each == fixed[0] for each in fixed)
    assert "shutdown" not in json.dumps([r.body for r in endpoint.seen])


def test_words_of_a_task_cannot_pass_for_lines_of_the_prompt(cartpole: ScenarioSpec) -> None:
    bad = "x\n\nWhat must hold:\n- nothing\x1b[2J"
    names = [Entry(f"{bad}{at}", meaning=bad) for at in range(4)]
    brief = brief_of(cartpole, observation=names, about=bad, claims=[])
    from safegym.policy.llm import system_text

    lines = system_text(brief, Control(), 0).splitlines()
    assert "What must hold:" not in lines
    assert all(line.isprintable() for line in lines)


def test_answers_survive_a_crash_amid_a_line(
    serve: Serve, make_policy: MakePolicy, cartpole: ScenarioSpec, tmp_path: Path
) -> None:
    file, endpoint = tmp_path / "talk.jsonl", serve(brain=topple)
    first = make_policy(endpoint.url, record=file)
    trace = sg.record(cartpole, first, seed=1)
    first.close()
    whole, asked = file.read_bytes(), len(endpoint.seen)
    file.write_bytes(whole[:-9])
    again = make_policy(endpoint.url, record=file)
    assert sg.record(cartpole, again, seed=1).digest == trace.digest
    assert len(endpoint.seen) == asked + 1
    again.close()
    assert len(file.read_bytes().splitlines()) == len(whole.splitlines())


def test_a_record_of_another_policy_or_a_damaged_one_is_refused(
    serve: Serve, make_policy: MakePolicy, cartpole: ScenarioSpec, tmp_path: Path
) -> None:
    file, url = tmp_path / "talk.jsonl", serve(brain=topple).url
    policy = make_policy(url, record=file)
    with pytest.raises(PolicyError, match="being written by another"):
        make_policy(url, record=file)
    sg.record(cartpole, policy, seed=1)
    policy.close()
    with pytest.raises(PolicyError, match="holds conversations of the policy"):
        make_policy(url, record=file, control=Control(every=2))
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:2], b'{"key": 3}\n', *lines[2:]]))
    with pytest.raises(PolicyError, match="line 3: no recorded turn"):
        make_policy(url, record=file, replay=True)
    with pytest.raises(PolicyError, match="There is no record"):
        make_policy(url, record=tmp_path / "nothing.jsonl", replay=True)


def test_one_process_is_enough_and_more_are_refused(
    make_policy: MakePolicy, cartpole: ScenarioSpec
) -> None:
    policy = make_policy("http://127.0.0.1:9/v1")
    with pytest.raises(PolicyError, match="runs in one process"):
        pickle.dumps(policy)


def test_a_lost_endpoint_leaves_an_attempt_that_goes_on_later(
    serve: Serve,
    make_policy: MakePolicy,
    cartpole: ScenarioSpec,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))
    endpoint = serve()
    control = Control(every=10, history=2)
    record = tmp_path / "talk.jsonl"
    endpoint.persona = lambda request, times: "503" if len(endpoint.seen) > 40 else "good"
    policy = make_policy(endpoint.url, control=control, record=record)
    with pytest.raises(PolicyUnavailableError, match="requests in a row"):
        sg.certify(cartpole, policy, claims=one_claim(cartpole), budget=200)
    policy.close()
    endpoint.persona = lambda request, times: "good"
    policy = make_policy(endpoint.url, control=control, record=record)
    (evidence,) = sg.certify(cartpole, policy, claims=one_claim(cartpole), budget=200)
    assert (evidence.status, evidence.attempt, evidence.undecided) == ("satisfied", 1, 0)


@pytest.mark.slow
def test_a_model_is_falsified_and_its_counterexample_repeats(
    serve: Serve, make_policy: MakePolicy, cartpole: ScenarioSpec
) -> None:
    policy = make_policy(serve(brain=topple).url, control=QUICKLY)
    found = sg.falsify(cartpole, policy, "cartpole.pole", budget=4, shrinking=0.0)
    assert found.policy_digest == policy.card.digest
    (find,) = found.finds[:1]
    again = sg.record(cartpole, policy, seed=find.seed, options=find.options)
    assert again.digest == find.trace_digest
    assert sg.check(cartpole.claims[0], again).status == "violated"


class Steered(gym.Env[Any, Any]):
    """Three choices that add up; nothing else."""

    observation_space = spaces.Box(-9.0, 9.0, (1,), np.float32)
    action_space = spaces.MultiDiscrete([2, 3])


def test_a_space_of_several_choices_is_acted_in(serve: Serve, make_policy: MakePolicy) -> None:
    env = Steered()
    entry = (Entry("x", "m"),)
    brief = Brief(
        name="steer",
        summary="Steer.",
        dt=0.1,
        horizon=5,
        observation_space=env.observation_space,
        action_space=env.action_space,
        observation=entry,
        action=(Entry("gear"), Entry("turn")),
    )
    policy = make_policy(serve(brain=lambda seen: [1, 2]).url, brief=brief)
    actions, _ = policy.act(np.zeros((2, 1), np.float32), None, np.ones(2, np.bool_))
    assert actions.tolist() == [[1, 2], [1, 2]]
