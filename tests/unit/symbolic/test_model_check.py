"""Claims against declared dynamics: bounded, by induction, with every kind of policy."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from safegym.check.loop.simulate import simulate
from safegym.check.monitor import judge
from safegym.check.symbolic.model import check_model
from safegym.check.symbolic.model_policy import LinearPolicy
from safegym.errors import UnsupportedError
from safegym.formula.build import always, eventually, fraction, never, prob
from safegym.formula.choice import if_
from safegym.formula.claim import Claim
from safegym.formula.dynamics import Dynamics
from safegym.formula.functions import sin
from safegym.formula.terms import Signal
from safegym.policy.network import NetworkPolicy
from safegym.policy.network_layers import Layer
from safegym.policy.tree import TreePolicy

P, V = Signal("p", "m"), Signal("v", "m")
A = Signal("a", "m", bounds=(-2.0, 2.0))
W = Signal("w", "m", bounds=(-0.125, 0.125))
X = Signal("x")
U = Signal("u", bounds=(-1.0, 1.0))
D = Signal("d", bounds=(-0.25, 0.25))

MASS = Dynamics(
    "mass",
    states=(P, V),
    actions=(A,),
    disturbances=(W,),
    next={"p": P + 0.125 * V, "v": V + 0.125 * (A + W)},
    dt="0.125",
)
LINE = Dynamics(
    "line", states=(X,), actions=(U,), disturbances=(D,), next={"x": 0.5 * X + U + D}, dt="0.5"
)
STILL = LinearPolicy([[0.0]])
BACK = LinearPolicy([[-3.0, -4.0]], name="back")
START = {"p": (-0.125, 0.125), "v": (-0.125, 0.125)}
AT_ZERO = {"x": (-0.25, 0.25)}


def test_a_contraction_is_proved_at_every_step() -> None:
    """|x| <= 1/2 gives |x/2 + d| <= 1/2: inductive with k = 1."""
    limit = always(abs(X) <= 0.5)
    found = check_model(LINE, STILL, limit, initial=AT_ZERO, steps=5, semantics="real")
    assert (found.result, found.method, found.steps) == ("PROVED", "induction", 1)
    assert "at every step (k-induction, k = 1)" in found.standing
    evidence = found.evidence()
    assert (evidence.kind, evidence.status) == ("proved", "satisfied")
    assert any("line" in said for said in evidence.assumptions)
    assert [each.answer for each in found.obligations] == ["sat", "unsat", "unsat"]


def test_the_next_smaller_bound_is_violated_by_a_trace_that_the_monitor_judges() -> None:
    """The disturbance alone can hold x near 1/2, and 0.49 is passed after a few steps."""
    claim = Claim(id="line.close", statement=always(abs(X) <= 0.49))
    found = check_model(LINE, STILL, claim, initial=AT_ZERO, steps=12)
    assert found.result == "VIOLATED"
    assert found.trace is not None
    assert found.verdict is not None
    assert judge(claim, found.trace).status == "violated" == found.verdict.status
    again = simulate(
        LINE,
        STILL_GRAPH,
        {"x": float(found.trace.signals["x"][0])},
        len(found.trace.rewards),
        disturbances=found.trace.signals["d"][:-1, None],
    )
    assert again.signals["x"].tolist() == found.trace.signals["x"].tolist()
    assert found.evidence().status == "violated"


class _Still:
    def __call__(self, observations: Any) -> Any:
        return np.zeros((len(observations), 1))


def still_graph() -> Any:
    from safegym.check.neural.policy import Equivalence, PolicyGraph

    wide = np.full(1, np.inf)
    return PolicyGraph(
        *("still", "digest", "box", STILL.graph, -wide, wide, -wide, wide, _Still()),
        Equivalence(0, 0.0),
    )


STILL_GRAPH = still_graph()


def test_bounded_says_how_far_it_looked_and_no_more() -> None:
    """0.49 needs four steps from 1/4: two are too few to break it."""
    claim = always(abs(X) <= 0.45)
    near = check_model(LINE, STILL, claim, initial=AT_ZERO, steps=2, method="bounded")
    assert (near.result, near.method, near.steps) == ("PROVED", "bounded", 2)
    assert near.standing == "proved for model line within 2 steps"
    assert any("nothing is said of later ones" in said for said in near.assumptions)
    far = check_model(LINE, STILL, claim, initial=AT_ZERO, steps=6, method="bounded")
    assert far.result == "VIOLATED"


def test_without_a_policy_it_is_about_every_policy() -> None:
    """|u| <= 1 and |d| <= 1/4 hold |x| below 5/2, whatever is done, and no lower bound holds."""
    loose = check_model(LINE, None, always(abs(X) <= 2.5), initial=AT_ZERO, steps=4)
    assert (loose.result, loose.policy) == ("PROVED", "every policy")
    tight = check_model(LINE, None, always(abs(X) <= 2.25), initial=AT_ZERO, steps=8)
    assert tight.result == "VIOLATED"
    assert tight.trace is not None
    assert np.abs(tight.trace.signals["u"]).max() <= 1.0


def test_an_action_is_clipped_as_the_plant_declares() -> None:
    """Gain 8 at x = 1 asks for 8 and gets 1."""
    strong = LinearPolicy([[8.0]])
    found = check_model(LINE, strong, always(X <= 1.75), initial={"x": (1.0, 1.0)}, steps=1)
    assert found.result == "PROVED"
    assert found.method == "bounded"


def test_a_lemma_is_proved_along_with_the_claim() -> None:
    """p stays near zero because p + v/2 and v do."""
    claim = always(abs(P) <= 1.0)
    region = (abs(P) <= 0.5) & (abs(V) <= 1.0) & (abs(P + 0.5 * V) <= 0.4375)
    options: dict[str, Any] = {"initial": START, "steps": 3, "method": "induction"}
    alone = check_model(MASS, BACK, claim, **options, semantics="real")
    assert alone.result == "UNKNOWN"
    assert "not inductive up to k = 3" in alone.reason
    helped = check_model(MASS, BACK, claim, **options, lemma=region, semantics="real")
    deployed = check_model(MASS, BACK, claim, **options, lemma=region)
    assert (helped.result, deployed.result) == ("PROVED", "PROVED"), helped.reason


def test_a_lemma_that_does_not_hold_from_the_start_proves_nothing() -> None:
    found = check_model(
        LINE,
        STILL,
        always(abs(X) <= 0.45),
        initial=AT_ZERO,
        steps=2,
        method="induction",
        lemma=abs(X) <= 0.125,
    )
    assert found.result == "UNKNOWN"
    assert "the lemma fails" in found.reason


def test_temporal_claims_of_every_kind_are_unrolled() -> None:
    """From 1/2 the disturbance can keep x there or bring it to 0 in one step."""
    claims = {
        eventually(X <= 0.3, within="1.0"): "VIOLATED",
        eventually(X <= 0.5, within="0.5"): "PROVED",
        always((X >= 0.45).implies(eventually(X <= 0.51, within="0.5"))): "PROVED",
        always((X <= 0.1).implies(eventually(X >= 0.1, within="0.5"))): "VIOLATED",
        fraction(X <= 0.3) >= 0.2: "VIOLATED",
        fraction(abs(X) <= 0.51) >= 0.9: "PROVED",
        (X <= 0.51).until(X >= 0.125, within="0.5"): "PROVED",
        never(X <= 0.1): "VIOLATED",
    }
    for claim, result in claims.items():
        found = check_model(
            LINE, STILL, claim, initial={"x": (0.5, 0.5)}, steps=4, method="bounded"
        )
        assert found.result == result, (str(claim), found.reason)
        if found.trace is not None:
            assert judge(claim, found.trace).status == "violated"


def test_a_probability_is_proved_by_every_path_and_never_refuted_by_one() -> None:
    claim = Claim(id="line.rare", statement=prob(eventually(abs(X) > 0.5)) < 0.01)
    proved = check_model(LINE, STILL, claim, initial=AT_ZERO, steps=3)
    assert proved.evidence().status == "satisfied"
    low = Claim(id="line.low", statement=prob(eventually(abs(X) > 0.3)) < 0.01)
    broken = check_model(LINE, STILL, low, initial=AT_ZERO, steps=3)
    assert (broken.result, broken.evidence().status) == ("VIOLATED", "inconclusive")


TREE = TreePolicy(
    "steps",
    inputs=1,
    feature=[0, -1, 0, -1, -1],
    threshold=[-0.5, 0.0, 0.5, 0.0, 0.0],
    below=[1, -1, 3, -1, -1],
    above=[2, -1, 4, -1, -1],
    value=[[0.0], [0.5], [0.0], [0.0], [-0.5]],
)
DRIFTING = Dynamics(
    "drifting", states=(X,), actions=(U,), disturbances=(D,), next={"x": X + U + D}, dt="0.5"
)


@pytest.mark.parametrize("semantics", ["real", "deployed float32"])
def test_a_tree_is_proved_to_its_exact_limit(semantics: Any) -> None:
    """It pushes back beyond 1/2, so that 3/4 is reached and never passed."""
    options: dict[str, Any] = {"initial": AT_ZERO, "steps": 6, "semantics": semantics}
    held = check_model(DRIFTING, TREE, always(abs(X) <= 0.75 + 1e-6), **options)
    assert (held.result, held.method) == ("PROVED", "induction")
    passed = check_model(DRIFTING, TREE, always(abs(X) <= 0.74), **options)
    assert passed.result == "VIOLATED"
    assert passed.trace is not None
    states = passed.trace.signals["x"]
    acted = TREE.act(states[:, None].astype(np.float64), None, np.zeros(len(states), bool))[0]
    assert acted[:, 0].tolist() == passed.trace.signals["u"].tolist()


def test_an_observation_at_a_threshold_may_go_either_way_once_rounded() -> None:
    """In real arithmetic 0.7 is on one side of 0.7; a deployed binary32 reading is on either."""
    edge = TreePolicy(
        "edge",
        inputs=1,
        feature=[0, -1, -1],
        threshold=[0.7, 0.0, 0.0],
        below=[1, -1, -1],
        above=[2, -1, -1],
        value=[[0.0], [0.0], [1.0]],
    )
    at_edge = {"x": (0.7, 0.7)}
    claim = always(X <= 1.0)
    plain = Dynamics("plain", states=(X,), actions=(U,), next={"x": 0.5 * X + U}, dt="0.5")
    exact = check_model(plain, edge, claim, initial=at_edge, steps=1, semantics="real")
    assert exact.result == "PROVED"
    rounded = check_model(plain, edge, claim, initial=at_edge, steps=1)
    assert rounded.result == "UNKNOWN"
    assert "rounding errors or at a tie" in rounded.reason


def test_a_tree_that_chooses_gives_the_number_of_its_choice() -> None:
    chooser = TreePolicy(
        "chooser",
        inputs=1,
        feature=[0, -1, -1],
        threshold=[0.0, 0.0, 0.0],
        below=[1, -1, -1],
        above=[2, -1, -1],
        index=[0, 1, 0],
    )
    push = Signal("push", bounds=(0.0, 1.0))
    plant = Dynamics(
        "switch", states=(X,), actions=(push,), next={"x": 0.5 * X + push - 0.25}, dt="0.5"
    )
    found = check_model(
        plant, chooser, always(X >= -0.5), initial=AT_ZERO, steps=5, method="induction"
    )
    assert found.result == "PROVED"
    assert check_model(plant, chooser, always(X >= -0.2), initial=AT_ZERO, steps=5).result == (
        "VIOLATED"
    )


def network() -> NetworkPolicy:
    """u = relu(-x) - relu(x), near enough: it takes a share of x off."""
    return NetworkPolicy(
        [
            Layer(np.array([[1.0], [-1.0]], np.float32), np.zeros(2, np.float32), "relu"),
            Layer(np.array([[-0.5, 0.5]], np.float32), np.zeros(1, np.float32)),
        ],
        observation_space=spaces.Box(-10.0, 10.0, (1,), np.float32),
        action_space=spaces.Box(-1.0, 1.0, (1,), np.float32),
        name="half",
    )


def test_a_small_network_is_proved_as_deployed_and_in_real_arithmetic() -> None:
    claim = always(abs(X) <= 0.375)
    region: dict[str, Any] = {"initial": {"x": (-0.25, 0.25)}, "steps": 3}
    for semantics in ("real", "deployed float32"):
        found = check_model(DRIFTING, network(), claim, **region, semantics=semantics)
        wanted = always(abs(X) <= 0.5625)
        assert found.result == "VIOLATED"
        held = check_model(DRIFTING, network(), wanted, **region, semantics=semantics)
        assert (held.result, held.method) == ("PROVED", "induction")


def test_a_network_without_bounds_on_the_state_is_not_decided_by_induction() -> None:
    found = check_model(
        DRIFTING, network(), always(X + U <= 9), initial=AT_ZERO, steps=2, method="induction"
    )
    assert found.result == "UNKNOWN"
    assert 'semantics="real"' in found.reason


def test_a_choice_and_a_product_in_the_dynamics_are_exact() -> None:
    bounce = Dynamics(
        "bounce", states=(X,), actions=(U,), next={"x": if_(X > 0.5, 1 - X, X * X)}, dt="1"
    )
    inside = {"x": (0.0, 1.0)}
    found = check_model(bounce, STILL, always((X >= 0) & (X <= 1)), initial=inside, steps=3)
    assert (found.result, found.method) == ("PROVED", "induction")
    broken = check_model(bounce, STILL, always(X <= 0.75), initial={"x": (0.0, 0.75)}, steps=3)
    assert broken.result == "PROVED"
    assert check_model(bounce, STILL, always(X <= 0.7), initial=inside, steps=3).result == (
        "VIOLATED"
    )


def test_an_initial_formula_is_a_region_as_well() -> None:
    region = (X >= -0.25) & (X <= 0.25)
    found = check_model(LINE, STILL, always(abs(X) <= 0.5), initial=region, steps=2)
    assert found.result == "PROVED"
    broken = check_model(LINE, STILL, always(abs(X) <= 0.3), initial=region, steps=2)
    assert broken.trace is not None
    assert abs(broken.trace.signals["x"][0]) <= 0.25


def test_a_time_limit_never_turns_into_a_pass_or_a_violation() -> None:
    for limit in (0.0, 1e-4):
        found = check_model(MASS, BACK, always(abs(P) <= 1), initial=START, steps=40, timeout=limit)
        assert found.result == "UNKNOWN"
        assert f"time limit {limit:g} s" in found.reason
        assert found.evidence().status == "inconclusive"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"initial": {"x": (1.0, 0.0)}}, "is empty"),
        ({"initial": (X > 1) & (X < 0)}, "No state satisfies|no state satisfies"),
        ({"initial": {"y": (0.0, 1.0)}}, r"the states are \['x'\]"),
        ({"initial": {"x": (0.0, float("nan"))}}, "finite numbers"),
        ({"initial": eventually(X > 0)}, "no temporal operator"),
        ({"claim": always(Signal("z") > 0)}, "'z', which line does not have"),
        ({"claim": eventually(X > 0), "method": "induction"}, "Use method='bounded'"),
        ({"method": "guess"}, '"bounded", "induction" or "auto"'),
        ({"steps": 0}, "from 1"),
        ({"lemma": eventually(X > 0)}, "about one sample"),
        ({"policy": LinearPolicy([[1.0, 2.0]])}, "takes 2 observations"),
        ({"claim": always(sin(X) > -2)}, "sin is not exact"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(change: dict[str, Any], told: str) -> None:
    given: dict[str, Any] = {
        "policy": STILL,
        "claim": always(abs(X) <= 1),
        "initial": AT_ZERO,
        "steps": 2,
        **change,
    }
    with pytest.raises(UnsupportedError, match=told):
        check_model(LINE, given.pop("policy"), given.pop("claim"), **given)


def test_a_model_with_a_sine_is_sent_to_enclosures() -> None:
    swing = Dynamics("swing", states=(X,), actions=(U,), next={"x": X + 0.5 * sin(X)}, dt="0.5")
    with pytest.raises(UnsupportedError, match=r"use safegym\.check\.loop"):
        check_model(swing, STILL, always(X < 9), initial=AT_ZERO, steps=2)


def test_every_policy_needs_bounds_on_the_action() -> None:
    free = Dynamics(
        "free", states=(X,), actions=(Signal("u"),), next={"x": X + Signal("u")}, dt="1"
    )
    with pytest.raises(UnsupportedError, match="needs bounds on the action u"):
        check_model(free, None, always(X < 9), initial=AT_ZERO, steps=2)


def test_a_violation_within_rounding_alone_is_doubtful_and_a_real_one_later_is_found() -> None:
    """At sample 1 the network brings x to 3/8 at most, give or take rounding; at 2 beyond it."""
    claim = always(abs(X) <= 0.375)
    near = check_model(DRIFTING, network(), claim, initial=AT_ZERO, steps=1)
    assert near.result == "UNKNOWN"
    assert "its replay in binary64 does not (sample 1)" in near.reason
    assert check_model(DRIFTING, network(), claim, initial=AT_ZERO, steps=2).result == "VIOLATED"


def test_exact_ends_of_the_initial_region_are_kept() -> None:
    """A third is above the binary64 number nearest to it, and no binary64 number."""
    third = {"x": (Fraction(1, 3), Fraction(1, 3))}
    below = always(X <= 1 / 3, lasting="0")
    found = check_model(LINE, STILL, below, initial=third, steps=1, semantics="real")
    assert found.result == "UNKNOWN"
    assert "replay in binary64 does not" in found.reason
    inside = {"x": (Fraction(1, 3), Fraction(1, 2))}
    real = check_model(LINE, STILL, below, initial=inside, steps=1, semantics="real")
    assert real.trace is not None
    assert Fraction(1, 3) < Fraction(float(real.trace.signals["x"][0])) <= Fraction(1, 2)


def test_an_answer_has_no_truth_value() -> None:
    found = check_model(LINE, STILL, always(abs(X) <= 0.5), initial=AT_ZERO, steps=1)
    with pytest.raises(TypeError, match=r'answer\.result == "PROVED"'):
        bool(found)
    assert found.to_json()["standing"] == found.standing
