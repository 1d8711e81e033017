"""`prove` against other judges: z3 on linear policies, exact arithmetic on dense samples."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from proof_policies import linear, network, policy_of

from safegym.check.neural.evaluate import evaluate_deployed
from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.proof import prove
from safegym.check.neural.property.layout import layout_of
from safegym.check.neural.property.truth import truth
from safegym.check.symbolic.engine import LOCK, answer, z3
from safegym.check.symbolic.terms import comparison, term_real
from safegym.formula.formulas import Formula
from safegym.formula.nodes import And, Atom, Or
from safegym.formula.rewrite import negate, nnf
from safegym.formula.text import parse

SMALL = policy_of(network(2, 6, 2, 3))
CHOICE = policy_of(network(2, 6, 3, 5), "discrete")

TEXTS = st.sampled_from(["obs[0]", "obs[1]", "action[0]", "action[1]"])
THRESHOLDS = st.sampled_from([-2, -1, -0.5, -0.1, 0, 0.1, 0.5, 1, 2])
ATOMS = st.tuples(
    TEXTS, st.sampled_from(["-", "+"]), TEXTS, st.sampled_from(["<", "<=", ">", ">="]), THRESHOLDS
).map(lambda t: f"({t[0]} {t[1]} {t[2]} {t[3]} {t[4]})")
ABSOLUTE = st.tuples(TEXTS, THRESHOLDS).map(lambda t: f"(abs({t[0]} - {t[1]}) <= 0.75)")
FORMULAS = st.recursive(
    ATOMS | ABSOLUTE,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or", "implies", "iff", "xor"]), inner).map(
            lambda t: f"({' '.join(t)})"
        ),
        inner.map(lambda f: f"(not {f})"),
    ),
    max_leaves=4,
)


def z3_of(formula: Formula, read: Callable[[str, int], Any]) -> Any:
    match formula:
        case Atom():
            sides = (term_real(formula.left, read), term_real(formula.right, read))
            return comparison(formula, *sides)
        case And():
            return z3.And([z3_of(part, read) for part in formula.arguments])
        case Or():
            return z3.Or([z3_of(part, read) for part in formula.arguments])
        case _:
            return z3.BoolVal(formula.value)  # type: ignore[attr-defined]


def exactly(weights: NDArray[Any], bias: NDArray[Any], text: str) -> bool:
    """Whether the formula holds of x -> weights x + bias on the whole of [-1, 1]^2, by z3."""
    x = [z3.Real("x0"), z3.Real("x1")]

    def read(name: str, at: int) -> Any:
        if name == "obs":
            return x[at]
        row = [z3.RealVal(str(Fraction(float(w)))) for w in (*weights[at], bias[at])]
        return row[0] * x[0] + row[1] * x[1] + row[2]

    with LOCK:
        box = [z3.And(-1 <= each, each <= 1) for each in x]
        word, _ = answer([*box, z3_of(negate(parse(text)), read)], 5000)
    assert word in ("sat", "unsat")
    return word == "unsat"


@settings(max_examples=60, deadline=None)
@given(text=FORMULAS, seed=st.integers(0, 30))
def test_on_linear_policies_z3_never_disagrees(text: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    weights = random.integers(-4, 5, (2, 2)) / 4
    bias = random.integers(-4, 5, 2) / 4
    policy = policy_of(linear(weights, bias))
    proof = prove(policy, text, semantics="real", timeout=3, boxes=300)
    wanted = exactly(weights, bias, text)
    if proof.result == "PROVED":
        assert wanted
    if proof.result == "VIOLATED":
        assert not wanted


def judge_samples(policy: PolicyGraph, text: str, count: int = 1500) -> bool:
    """Whether the formula holds on dense samples of [-1, 1]^2, exactly judged."""
    formula, layout = nnf(parse(text)), layout_of(policy)
    random = np.random.default_rng(0)
    points = random.uniform(-1, 1, (count, 2)).astype(np.float32)
    points[:9] = [[a, b] for a in (-1, 0, 1) for b in (-1, 0, 1)]
    outputs = evaluate_deployed(policy.graph, points)
    if policy.kind == "discrete":
        outputs = np.argmax(outputs, axis=1)[:, None].astype(np.float64)
    for point, action in zip(points, outputs, strict=True):
        values = {("obs", at): Fraction(float(x)) for at, x in enumerate(point)}
        values |= {("action", at): Fraction(float(x)) for at, x in enumerate(action)}
        if truth(formula, layout, values) is False:
            return False
    return True


@settings(max_examples=25, deadline=None)
@given(text=FORMULAS, discrete=st.booleans())
def test_what_is_proved_holds_on_dense_samples(text: str, discrete: bool) -> None:
    policy = CHOICE if discrete else SMALL
    if discrete:
        text = text.replace("action[1]", "action[0]")
    proof = prove(policy, text, timeout=3, boxes=400)
    if proof.result == "PROVED":
        assert judge_samples(policy, text)
    if proof.result == "VIOLATED":
        assert proof.witness is not None
        values = {("obs", at): Fraction(x) for at, x in enumerate(proof.witness.observation)}
        values |= {("action", at): Fraction(x) for at, x in enumerate(proof.witness.action)}
        assert truth(nnf(parse(text)), layout_of(policy), values) is False
