"""A shield that knows the plant: what it lets through never breaks the claims."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from safegym_scenarios.models import cartpole, cruise, double_integrator, find_model, pendulum

from safegym.check.loop.inductive import prove_inductive
from safegym.check.loop.shield import ModelShield
from safegym.check.loop.shield_margins import lookahead
from safegym.check.loop.simulate import advance
from safegym.check.shield import shielded
from safegym.errors import PolicyError, UnsupportedError
from safegym.formula.build import always, eventually
from safegym.formula.choice import if_
from safegym.formula.claim import Claim
from safegym.formula.dynamics import Dynamics
from safegym.formula.formulas import Formula
from safegym.formula.terms import Signal
from safegym.policy.base import PolicyCard, ScriptedPolicy
from safegym.policy.network import NetworkPolicy
from safegym.policy.network_layers import Layer
from safegym.scenario.record import record

Array = np.ndarray[Any, Any]
D, P = double_integrator, pendulum


def disturbances(model: Dynamics, rng: np.random.Generator, count: int) -> Array:
    """Inside the bounds, and at every corner."""
    ends = [signal.bounds or (0.0, 0.0) for signal in model.disturbances]
    inside = np.stack([rng.uniform(*end, count) for end in ends], axis=1)
    return np.concatenate([inside, np.array(list(itertools.product(*ends)))])


CASES: list[tuple[str, Dynamics, Formula, Callable[[Array], Array], Array]] = [
    ("double-integrator", D.DYNAMICS, D.SET, lambda x: x @ np.array([[3.5, 0], [1.52, 1]]),
     np.array([1.0, 1.5])),
    ("pendulum", P.DYNAMICS, P.SET, lambda x: x @ np.array([[11.0, 0], [0.84, 1]]),
     np.array([0.12, 1.0])),
    ("cart-pole", cartpole.DYNAMICS, abs(cartpole.POLE) <= 0.2, lambda x: x[:, 2:3] / 0.2,
     np.array([1.0, 1.0, 0.25, 2.0])),
    ("cruise", cruise.DYNAMICS, cruise.GAP >= 12.0,
     lambda x: 12.0 / np.maximum(x[:, :1] + 5.0 + 1.5 * (x[:, 2:] - x[:, 1:2]), 0.1),
     np.array([3.0, 6.0, 5.0])),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_an_action_that_passes_keeps_the_claim_under_a_hundred_thousand_disturbances(
    case: tuple[str, Dynamics, Formula, Callable[[Array], Array], Array],
) -> None:
    name, model, claim, scaled, spread = case
    shield = ModelShield(model, claim, find_model(name).policy())
    rng = np.random.default_rng(3)
    low, high = np.array([signal.bounds for signal in model.actions], float).T
    passed = refused = tight = 0
    for _ in range(400):
        state = rng.uniform(-1, 1, len(spread)) * spread
        if name == "cruise":
            state = np.array([-22.0, -4.0, 18.0]) + state
        action = rng.uniform(low, high)
        decision = shield.check(state, action)
        pushed = disturbances(model, rng, 500)
        rows = (np.broadcast_to(each, (len(pushed), each.size)) for each in (state, action))
        after = advance(model, *rows, pushed)
        size = np.sqrt((scaled(after) ** 2).sum(axis=1)).max()
        passed += decision.allowed
        refused += not decision.allowed
        if decision.allowed:
            assert size <= 1.0 + 1e-12
        tight += decision.allowed == bool(size <= 1.0)
    assert passed > 20
    assert refused > 20
    assert tight >= 396  # refusing what no disturbance breaks is rare in one step


def test_of_a_state_known_within_a_radius_every_state_is_covered() -> None:
    shield = ModelShield(
        D.DYNAMICS, D.SET, find_model("double-integrator").policy(),
        uncertainty={"position": 0.02, "velocity": 0.05},
    )  # fmt: skip
    sure = ModelShield(D.DYNAMICS, D.SET, find_model("double-integrator").policy())
    rng, passed = np.random.default_rng(4), 0
    for _ in range(200):
        state, action = rng.uniform(-0.4, 0.4, 2), rng.uniform(-2, 2, 1)
        if not shield.check(state, action).allowed:
            continue
        passed += 1
        for corner in itertools.product((-0.02, 0.0, 0.02), (-0.05, 0.0, 0.05)):
            assert sure.check(state + np.array(corner), action).allowed
    assert passed > 20


def test_more_steps_ahead_cover_what_the_backup_does_in_the_model() -> None:
    network = find_model("pendulum").policy()
    claim = abs(P.ANGLE) <= 0.25
    one, three = (ModelShield(P.DYNAMICS, claim, network, steps=n) for n in (1, 3))
    rng, passed, later = np.random.default_rng(5), 0, 0
    for _ in range(60):
        state = rng.uniform(-1, 1, 2) * [0.25, 1.5]
        action = rng.uniform(-2, 2, 1)
        first, all_three = one.check(state, action), three.check(state, action)
        assert first.allowed or not all_three.allowed
        later += first.allowed and not all_three.allowed
        if not all_three.allowed:
            continue
        passed += 1
        states = np.broadcast_to(state, (200, 2))
        acted = np.broadcast_to(action, (200, 1))
        for _ in range(3):
            states = advance(P.DYNAMICS, states, acted, rng.choice([-0.1, 0.1], (200, 1)))
            assert (np.abs(states[:, 0]) <= 0.25).all()
            seen = np.stack([np.cos(states[:, 0]), np.sin(states[:, 0]), states[:, 1]], axis=1)
            acted = network.act(seen.astype(np.float32), None, np.ones(200, np.bool_))[0]
    assert passed > 5
    assert later > 0


def deaf() -> NetworkPolicy:
    """A network of one observation that never acts."""
    return NetworkPolicy(
        [Layer(np.zeros((1, 1), np.float32), np.zeros(1, np.float32))],
        observation_space=gym.spaces.Box(-10.0, 10.0, (1,), np.float32),
        action_space=gym.spaces.Box(0.0, 1.0, (1,), np.float32),
    )


class ModelEnv(gym.Env[Any, Any]):
    """The double integrator with the worst of two pushes chosen each step."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = gym.spaces.Box(-2.0, 2.0, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.state = self.np_random.uniform(-0.15, 0.15, 2)
        return self.state.copy(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Any]:
        push = 0.1 if self.state[0] + self.state[1] > 0 else -0.1
        row = np.array([np.asarray(action, float).reshape(1)])
        self.state = advance(D.DYNAMICS, self.state[None], row, np.array([[push]]))[0]
        return self.state.copy(), 0.0, False, False, {}


def episodes(env: gym.Env[Any, Any], count: int, steps: int) -> tuple[int, int]:
    """How many of these random episodes leave 1 m to each side, and steps of the backup."""
    left, rng, acted = 0, np.random.default_rng(6), 0
    for seed in range(count):
        env.reset(seed=seed)
        out = False
        for _ in range(steps):
            observation, *_, info = env.step(rng.uniform(-2, 2, 1).astype(np.float32))
            out |= bool(abs(observation[0]) > 1.0)
        left += out
        acted += info.get("shield", {"steps": 0})["steps"]
    return left, acted


def test_a_shielded_random_policy_keeps_the_claim_that_an_unshielded_one_breaks() -> None:
    shield = ModelShield(
        D.DYNAMICS, abs(D.POSITION) <= 1.0, find_model("double-integrator").policy(), inside=D.SET
    )
    bare, _ = episodes(ModelEnv(), 30, 100)
    kept, acted = episodes(shield.wrap(ModelEnv()), 30, 100)
    assert bare > 10
    assert kept == 0
    assert 0 < acted < 30 * 100


def test_interventions_stand_in_the_trace_with_reason_and_margin() -> None:
    shield = ModelShield(P.DYNAMICS, abs(P.ANGLE) <= 0.25, find_model("pendulum").policy(),
                         inside=P.SET)  # fmt: skip
    env = shield.make("classic/pendulum-v0")
    start = {"start_angle": 0.03, "start_angular_speed": 0.1}
    env.reset(seed=1, options={"parameters": start})
    rng, ended, active, told = np.random.default_rng(0), False, [], []
    while not ended:
        asked = rng.uniform(-2, 2, 1).astype(np.float32)
        _, _, terminated, truncated, info = env.step(asked)
        ended = terminated or truncated
        active.append(info["shield"]["active"])
        told.append((info["shield"]["margin"], info["shield"]["reason"], asked[0]))
    trace = env.trace
    assert trace is not None
    assert np.abs(trace.signals["angle"]).max() <= 0.25
    events = [event for event in trace.events if event.kind == "shield"]
    taken = [event for event in events if event.detail.startswith("took over")]
    assert {event.step for event in taken} <= {at for at, acts in enumerate(active) if acts}
    assert "is not sure after this step: its margin may be -" in taken[0].detail
    assert "(margin -" in taken[0].detail
    assert any(event.detail == "gave back" for event in events)
    for at, (acts, (margin, reason, asked)) in enumerate(zip(active, told, strict=True)):
        assert (margin < 0.0) == acts == bool(reason)
        assert acts or trace.actions[at] == pytest.approx(asked)


def test_a_shield_on_a_monitors_shield_still_notes_its_interventions() -> None:
    def state(seen: Array) -> list[float]:
        return [float(np.arctan2(seen[1], seen[0])), float(seen[2])]

    backup = find_model("pendulum").policy()
    shield = ModelShield(P.DYNAMICS, abs(P.ANGLE) <= 0.25, backup, state=state)
    lower = shielded("classic/pendulum-v0", backup, guard=abs(Signal("angle", "rad")) < 1.0)
    env = shield.wrap(lower)
    env.reset(seed=1, options={"parameters": {"start_angle": 0.24, "start_angular_speed": 0.9}})
    *_, info = env.step(np.array([2.0], np.float32))
    assert info["shield"]["active"]
    prefix = lower.env.prefix()
    assert [event.kind for event in prefix.events] == ["shield"]
    assert "the backup's action is not shown to pass either" in prefix.events[0].detail


def test_a_shielded_policy_does_in_a_campaign_what_the_shielded_environment_does() -> None:
    backup = find_model("pendulum").policy()

    def state(seen: Array) -> list[float]:
        return [float(np.arctan2(seen[1], seen[0])), float(seen[2])]

    shield = ModelShield(
        P.DYNAMICS, abs(P.ANGLE) <= 0.25, backup, inside=P.SET, state=state,
        uncertainty={"angle": 1e-6, "angular_speed": 1e-6},
    )  # fmt: skip
    pushing = ScriptedPolicy("pushing", lambda seen: np.full((len(seen), 1), 2.0, np.float32))
    options = {"parameters": {"start_angle": 0.03, "start_angular_speed": 0.1}}
    trace = record("classic/pendulum-v0", shield.policy(pushing), 1, options=options)
    env = shield.make("classic/pendulum-v0")
    env.reset(seed=1, options=options)
    ended = False
    while not ended:
        _, _, terminated, truncated, _ = env.step(np.array([2.0], np.float32))
        ended = terminated or truncated
    assert env.trace is not None
    assert trace.actions.tolist() == env.trace.actions.tolist()
    assert np.abs(trace.signals["angle"]).max() <= 0.25
    assert not shield.policy(pushing).card.is_known


def test_the_digest_of_a_shielded_policy_follows_what_is_kept() -> None:
    backup = find_model("double-integrator").policy()
    pushing = ScriptedPolicy("pushing", lambda seen: np.full((len(seen), 1), 2.0, np.float32))
    digests = {
        ModelShield(D.DYNAMICS, abs(D.POSITION) <= limit, backup, steps=steps).policy(pushing).card
        .digest
        for limit in (1.0, 2.0) for steps in (1, 2)
    }  # fmt: skip
    assert len(digests) == 4
    assert all(digest.startswith("sha256:") for digest in digests)
    rows = np.array([[0.0, 0.0], [0.99, 0.3]])
    shielded = ModelShield(D.DYNAMICS, abs(D.POSITION) <= 1.0, backup).policy(pushing)
    actions, _ = shielded.act(rows, None, np.ones(2, np.bool_))
    assert actions[0] == 2.0
    assert actions[1] == backup.act(rows[1:], None, np.ones(1, np.bool_))[0][0]


def test_a_model_with_cases_is_looked_at_case_by_case() -> None:
    level, pump, leak = Signal("level"), Signal("pump", bounds=(0.0, 1.0)), Signal(
        "leak", bounds=(0.0, 0.1)
    )  # fmt: skip
    tank = Dynamics(
        "tank",
        states=(level,),
        actions=(pump,),
        disturbances=(leak,),
        next={"level": level + if_(level > 1.0, -leak, pump - leak)},
        dt=1,
    )
    shield = ModelShield(tank, level <= 1.5, ScriptedPolicy("off", lambda s: s * 0.0))
    assert shield.check([0.4], [1.0]).allowed
    assert not shield.check([0.9], [1.0]).allowed
    assert shield.check([1.2], [1.0]).allowed  # above 1 the pump does nothing
    assert not shield.check([1.0], [1.0]).allowed
    with pytest.raises(UnsupportedError, match=r"more than one step ahead only where tank has no"):
        ModelShield(tank, level <= 1.5, deaf(), steps=2)


def test_a_strict_claim_at_its_limit_does_not_pass() -> None:
    x, u = Signal("x"), Signal("u", bounds=(-1.0, 1.0))
    still = Dynamics("still", states=(x,), actions=(u,), next={"x": x * 1.0}, dt=1)
    backup = ScriptedPolicy("off", lambda s: s * 0.0)
    assert not ModelShield(still, x < 1.0, backup).check([1.0], [0.0]).allowed
    assert ModelShield(still, x < 1.0, backup).check([0.999], [0.0]).allowed


def test_a_bound_of_zero_is_enough_only_for_a_claim_that_is_not_strict() -> None:
    x, u = Signal("x"), Signal("u", bounds=(-1.0, 1.0))
    still = Dynamics("still", states=(x,), actions=(u,), next={"x": x}, dt=1)
    (case,) = lookahead(still, [x < 1.0, x <= 1.0], 1, None)
    assert case.holds(np.zeros(2)).tolist() == [not asked.strict for asked in case.asked]
    assert sorted(asked.strict for asked in case.asked) == [False, True]


def test_a_state_or_an_action_that_is_not_finite_does_not_pass() -> None:
    shield = ModelShield(
        D.DYNAMICS, abs(D.POSITION) <= 1.0, find_model("double-integrator").policy()
    )
    for state, action in (([np.nan, 0.0], [0.0]), ([0.0, np.inf], [0.0]), ([0.0, 0.0], [np.nan])):
        decision = shield.check(state, action)
        assert not decision.allowed
        assert decision.reason == "the state or the action is not finite"
    assert not shield.check([1e300, 1e308], [0.0]).allowed


def test_the_guarantee_says_what_holds_and_what_needs_a_proved_set() -> None:
    backup = find_model("double-integrator").policy()
    loose = ModelShield(D.DYNAMICS, abs(D.POSITION) <= 1.0, backup)
    assert "Nothing is said of the backup's own actions" in loose.guarantee
    kept = ModelShield(D.DYNAMICS, abs(D.POSITION) <= 1.0, backup, inside=D.SET)
    assert "If that set was proved inductive under the backup" in kept.guarantee
    assert D.DYNAMICS.digest in kept.guarantee


def test_a_proof_of_the_set_makes_the_guarantee_and_a_proof_of_another_thing_is_refused() -> None:
    backup, claims = find_model("double-integrator").policy(), abs(D.POSITION) <= 1.0
    near = {"position": (-0.15, 0.15), "velocity": (-0.15, 0.15)}
    proof = prove_inductive(D.DYNAMICS, backup, near, claims, D.SET)
    shield = ModelShield(D.DYNAMICS, claims, backup, inside=D.SET, proof=proof)
    assert "which was proved inductive under the backup" in shield.guarantee
    assert backup.card.digest in shield.guarantee
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"proof": replace(proof, result="UNKNOWN")}, "ended UNKNOWN"),
        ({"proof": replace(proof, kind="barrier")}, "about a barrier"),
        ({"proof": replace(proof, semantics="real")}, "semantics real"),
        ({"proof": replace(proof, plant_digest="sha256:0")}, "another model"),
        ({"proof": replace(proof, policy_digest="sha256:0")}, "another policy than the backup"),
        ({"inside": abs(D.POSITION) <= 0.5}, "another set or other claims"),
        ({"inside": None}, "another set or other claims"),
        ({"claims": abs(D.POSITION) <= 0.9}, "another set or other claims"),
    ]
    for changed, words in wrong:
        given = {"claims": claims, "inside": D.SET, "proof": proof, **changed}
        with pytest.raises(UnsupportedError, match=words):
            ModelShield(D.DYNAMICS, given.pop("claims"), backup, **given)


def test_claims_are_read_as_far_as_they_ask_something_of_every_sample() -> None:
    backup = find_model("double-integrator").policy()
    claim = Claim(id="stay", statement=always(abs(D.POSITION) <= 1.0))
    shield = ModelShield(D.DYNAMICS, [claim, D.VELOCITY <= 1.0], backup)
    assert not shield.check([0.0, 0.95], [2.0]).allowed
    assert not shield.check([0.99, 0.5], [0.0]).allowed
    assert shield.check([0.0, 0.0], [2.0]).allowed
    with pytest.raises(UnsupportedError, match="asks nothing of every sample"):
        ModelShield(D.DYNAMICS, Claim(id="come", statement=eventually(D.POSITION > 1.0)), backup)
    with pytest.raises(UnsupportedError, match="claims reads other"):
        ModelShield(D.DYNAMICS, Signal("other") > 0.0, backup)
    with pytest.raises(UnsupportedError, match="claims=\\[\\] asks nothing"):
        ModelShield(D.DYNAMICS, [], backup)


def test_what_a_shield_cannot_have_is_refused_with_the_reason() -> None:
    backup = find_model("double-integrator").policy()
    keep = abs(D.POSITION) <= 1.0
    with pytest.raises(UnsupportedError, match="at least 1 step"):
        ModelShield(D.DYNAMICS, keep, backup, steps=0)
    with pytest.raises(UnsupportedError, match="uncertainty= gives finite numbers"):
        ModelShield(D.DYNAMICS, keep, backup, uncertainty={"speed": 0.1})
    with pytest.raises(UnsupportedError, match="2 states and 1 actions, found 3 and 1"):
        ModelShield(D.DYNAMICS, keep, backup).check([0.0, 0.0, 0.0], [0.0])
    shield = ModelShield(P.DYNAMICS, abs(P.ANGLE) <= 0.2, find_model("pendulum").policy())
    with pytest.raises(UnsupportedError, match=r"sees cos\(angle\).*pass state="):
        shield.policy(find_model("pendulum").policy()).act(
            np.zeros((1, 3)), None, np.ones(1, np.bool_)
        )


def test_a_policy_that_draws_its_actions_or_has_a_state_is_refused() -> None:
    class Given:
        def __init__(self, mode: str, after: Any) -> None:
            self.card = PolicyCard(name="given", digest="unknown:x", kind="foreign", mode=mode)
            self.after = after

        def act(self, observations: Any, state: Any, starts: Any) -> tuple[Any, Any]:
            return observations[:, :1], self.after

    backup = find_model("double-integrator").policy()
    shield = ModelShield(D.DYNAMICS, abs(D.POSITION) <= 1.0, backup)
    with pytest.raises(PolicyError, match="draws its actions"):
        shield.policy(Given("sampled", None))
    with pytest.raises(PolicyError, match=r"has a state.*shield\.make\(NAME\)"):
        shield.policy(Given("deterministic", 1)).act(np.zeros((1, 2)), None, np.ones(1, np.bool_))


def test_a_shielded_rows_action_is_the_same_alone_and_among_others() -> None:
    backup = find_model("double-integrator").policy()
    pushing = ScriptedPolicy("pushing", lambda seen: np.full((len(seen), 1), 2.0, np.float32))
    policy = ModelShield(D.DYNAMICS, D.SET, backup).policy(pushing)
    rows = np.random.default_rng(10).uniform(-0.4, 0.4, (40, 2))
    together, _ = policy.act(rows, None, np.ones(40, np.bool_))
    alone = [policy.act(row[None], None, np.ones(1, np.bool_))[0][0] for row in rows]
    assert together.tolist() == [action.tolist() for action in alone]
    assert 5 < (together == 2.0).sum() < 35
    assert policy.act(rows[:0], None, np.ones(0, np.bool_))[0].shape == (0, 1)
