"""A look-ahead in the simulator: what it refuses, what it says, and what it does not show."""

from pathlib import Path

import numpy as np
import pytest
from endpoint import topple
from llm_kit import MakePolicy, Serve
from safegym_scenarios.models import find_model, pendulum

import safegym as sg
from safegym.audit.sign import default_key
from safegym.audit.verify import verify
from safegym.check.lookahead import LookaheadPolicy
from safegym.errors import PolicyError
from safegym.gate.rederive import rederive
from safegym.policy.base import ScriptedPolicy
from safegym.policy.llm import Control, Sampling
from safegym.scenario.brief import brief_of
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec


def fallen(observations: np.ndarray) -> np.ndarray:
    """Push against the cart-pole's lean, always: it falls."""
    return (observations[:, 2] + 0.5 * observations[:, 3] <= 0.0).astype(np.int64)


def the_pole(spec: ScenarioSpec) -> list[sg.Claim]:
    return [claim for claim in spec.claims if claim.id == "cartpole.pole"]


@pytest.fixture(scope="module")
def bad() -> ScriptedPolicy:
    return ScriptedPolicy("fallen", fallen)


def test_a_policy_that_topples_the_pole_keeps_it_up_behind_the_shield(
    cartpole: ScenarioSpec, bad: ScriptedPolicy
) -> None:
    (claim,) = the_pole(cartpole)
    assert sg.check(claim, sg.record(cartpole, bad, seed=3)).status == "violated"
    shielded = LookaheadPolicy(bad, cartpole, backup=good(cartpole), claims=[claim], steps=15)
    trace = sg.record(cartpole, shielded, seed=3)
    assert sg.check(claim, trace).status == "satisfied"
    refused = [event.step for event in trace.events if event.kind == "policy.shield"]
    assert 0 < len(refused) < trace.steps
    assert "cartpole.pole would be violated within" in trace.events[0].detail


def good(spec: ScenarioSpec) -> object:
    assert spec.good is not None
    return spec.good()


def test_an_action_is_refused_exactly_where_a_slow_second_look_refuses_it(
    cartpole: ScenarioSpec, bad: ScriptedPolicy
) -> None:
    """Second opinion: run each prefix anew from reset, without any snapshot."""
    (claim,) = the_pole(cartpole)
    steps, backup = 6, cartpole.good() if cartpole.good else bad
    shielded = LookaheadPolicy(bad, cartpole, backup=backup, claims=[claim], steps=steps)
    trace = sg.record(cartpole, shielded, seed=5)
    refused = {event.step for event in trace.events}
    for at in [*range(0, min(trace.steps, 60), 3), *sorted(refused)[:6]]:
        prefix = trace.actions[:at].tolist()
        taken: list[int] = []

        def acting(
            seen: np.ndarray, prefix: list[int] = prefix, at: int = at, taken: list[int] = taken
        ) -> int:
            done = len(taken) - 1  # the first call of all is the rehearsal's
            row = np.asarray(seen)[None]
            chosen = backup.act(row.repeat(64, 0), None, np.zeros(64, np.bool_))[0][0]
            action = prefix[done] if 0 <= done < at else fallen(row)[0] if done <= at else chosen
            taken.append(int(action))
            if done >= at + steps:
                raise StopIteration("seen enough")
            return int(action)

        again = sg.record(cartpole, acting, seed=5)
        violated = sg.check(claim, again).status == "violated"
        assert violated == (at in refused), at


def test_what_was_refused_is_told_to_the_model(
    serve: Serve, make_policy: MakePolicy, cartpole: ScenarioSpec
) -> None:
    endpoint = serve(brain=topple)
    model = make_policy(endpoint.url, sampling=Sampling(temperature=0.5))
    shielded = LookaheadPolicy(
        model, cartpole, backup=good(cartpole), claims=the_pole(cartpole), steps=3
    )
    trace = sg.record(cartpole, shielded, seed=3)
    assert shielded.card.mode == "sampled"
    told = [request.body["messages"][-1]["content"] for request in endpoint.seen]
    refused = [words for words in told if words.startswith("Shield: ")]
    assert refused
    assert len(refused) >= len(trace.events) - 1  # the last may have had no next turn
    assert "was refused (cartpole.pole would be violated within" in refused[0]


@pytest.mark.slow
def test_what_was_refused_is_counted_in_the_evidence_and_derived_again(
    cartpole: ScenarioSpec, bad: ScriptedPolicy, tmp_path: Path
) -> None:
    shielded = LookaheadPolicy(bad, cartpole, backup=bad, claims=the_pole(cartpole))
    track = [claim for claim in cartpole.claims if claim.id == "cartpole.track"]
    (evidence,) = sg.certify(cartpole, shielded, claims=track, budget=200, out=tmp_path / "run")
    said = "\n".join(evidence.assumptions)
    assert "looks 1 step ahead in the scenario's own simulator" in said
    assert evidence.assumptions[-1].endswith(f"policy.shield {evidence.episodes}")
    report = verify(tmp_path / "run", keys=[default_key()], rederive=rederive)
    assert report.result == "intact", report.words


def test_the_simulator_follows_an_episode_with_options_of_its_own(
    cartpole: ScenarioSpec, bad: ScriptedPolicy
) -> None:
    shielded = LookaheadPolicy(bad, cartpole, backup=good(cartpole), steps=2)
    name = cartpole.parameters[0].name
    options = {"parameters": {name: cartpole.parameters[0].high}}
    trace = sg.record(cartpole, shielded, seed=3, options=options)
    assert not [event for event in trace.events if event.kind == "policy.failed"]


def test_an_episode_that_the_simulator_does_not_follow_is_undecided(
    cartpole: ScenarioSpec, bad: ScriptedPolicy
) -> None:
    shielded = LookaheadPolicy(bad, cartpole, backup=good(cartpole))
    shielded.given = lambda row, options: None  # type: ignore[method-assign]  # hears no options
    start = next(each for each in cartpole.parameters if each.role == "initial")
    trace = sg.record(cartpole, shielded, seed=3, options={"parameters": {start.name: start.low}})
    assert (trace.end.kind, trace.steps) == ("interrupted", 0)
    assert "another observation than the episode does" in trace.end.reason


def test_the_digest_covers_policy_backup_claims_and_steps(
    cartpole: ScenarioSpec, bad: ScriptedPolicy
) -> None:
    def digest(**given: object) -> str:
        given = {"backup": good(cartpole), "steps": 1, **given}
        return LookaheadPolicy(bad, cartpole, **given).card.digest  # type: ignore[arg-type]

    others = [digest(steps=2), digest(backup=bad), digest(claims=the_pole(cartpole))]
    assert len({digest(), *others}) == 4
    assert LookaheadPolicy(fallen, cartpole, backup=bad).card.is_known is False


def test_a_look_ahead_needs_a_backup_that_does_not_draw(
    make_policy: MakePolicy, cartpole: ScenarioSpec, bad: ScriptedPolicy
) -> None:
    drawing = make_policy("http://127.0.0.1:9/v1", sampling=Sampling(temperature=0.7))
    with pytest.raises(PolicyError, match="draws its actions"):
        LookaheadPolicy(bad, cartpole, backup=drawing)
    with pytest.raises(PolicyError, match="at least 1 step"):
        LookaheadPolicy(bad, cartpole, backup=bad, steps=0)


def test_a_model_behind_the_shield_of_a_declared_plant_is_kept_from_breaking_the_claim(
    serve: Serve, make_policy: MakePolicy
) -> None:
    declared = find_model("pendulum")
    shield = sg.Shield(
        declared.dynamics, abs(pendulum.ANGLE) <= 0.25, declared.policy(), inside=pendulum.SET
    )
    spec = find("classic/pendulum-v0")
    model = make_policy(
        serve(brain=lambda seen: 2.0).url, brief=brief_of(spec), control=Control(every=20)
    )
    options = {"parameters": {"start_angle": 0.03, "start_angular_speed": 0.1}}
    trace = sg.record(shield.make(spec), model, seed=1, options=options)
    assert np.abs(trace.signals["angle"]).max() <= 0.25
    assert trace.events[0].kind == "shield"
    assert trace.events[0].detail.startswith("took over: ")
    bare = sg.record(spec, model, seed=1, options=options)
    assert np.abs(bare.signals["angle"]).max() > 0.25
