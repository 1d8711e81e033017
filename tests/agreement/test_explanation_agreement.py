"""Explanations against the slow reference: what is said and shaded is so, and nothing raises."""

import math
from random import Random
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_cases import Case, case_of, random_atom, random_case, random_formula

from safegym.check.explanation import explain
from safegym.check.explanation.explain import explanation_of
from safegym.check.monitor import judge
from safegym.formula.build import always
from safegym.formula.nodes import Always, Formula
from safegym.formula.terms import Window


def assert_explained(case: Case) -> None:
    verdict = judge(case.formula, case.trace)
    explanation = explanation_of(verdict, case.formula, case.trace)
    told = f"{case.formula} on {case.reference}"
    assert explanation.words.startswith(f"The formula is {verdict.status}. Asked: `"), told
    root = ElementTree.fromstring(explanation.svg)
    assert "nan" not in {value for element in root.iter() for value in element.attrib.values()}, (
        told
    )
    for panel in explanation.scene.panels:
        for mark in panel.marks:
            assert mark.value == panel.lines[0].values[mark.sample], told


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.randoms(use_true_random=False))
def test_every_verdict_can_be_explained(random: Random) -> None:
    assert_explained(random_case(random, with_gaps=random.random() < 0.3))


def test_400_random_verdicts_can_be_explained() -> None:
    for seed in range(400):
        assert_explained(random_case(Random(seed), with_gaps=seed % 3 == 0))


@pytest.mark.slow
def test_5000_random_verdicts_can_be_explained() -> None:
    for seed in range(20_000, 25_000):
        assert_explained(random_case(Random(seed), depth=5, with_gaps=seed % 3 == 0))


def test_shaded_samples_are_those_at_which_the_reference_finds_the_atom_false() -> None:
    violated = 0
    for seed in range(300):
        random = Random(seed)
        atom = random_atom(random)
        case = case_of(random, always(atom), with_gaps=seed % 3 == 0)
        explanation = explain(case.formula, case.trace)
        if explanation.verdict.status != "violated":
            assert not any(panel.shaded for panel in explanation.scene.panels)
            continue
        violated += 1
        shaded = {
            k for first, last in explanation.scene.panels[0].shaded for k in range(first, last + 1)
        }
        end = case.reference.end
        assert shaded == {k for k in range(end + 1) if not case.reference.value(atom, k)[1]}
    assert violated > 100


def _response(random: Random) -> tuple[Formula, Formula, Formula]:
    condition, duty = random_formula(random, 1, []), random_formula(random, 2, [])
    window = random.choice([Window(0, None), Window(0, random.choice([1, 3]))])
    return Always(condition.implies(duty), window), condition, duty


def test_an_unmet_obligation_is_one_by_the_reference() -> None:
    found = 0
    for seed in range(400):
        random = Random(seed)
        formula, condition, duty = _response(random)
        case = case_of(random, formula, with_gaps=seed % 4 == 0)
        verdict = judge(formula, case.trace)
        for each in verdict.obligations[:1]:
            found += 1
            told = f"{formula} on {case.reference}"
            assert verdict.status != "satisfied", told
            assert (each.condition, each.duty) == (str(condition), str(duty)), told
            # After a failure nothing holds, neither a condition about it nor its negation.
            assert not case.reference.value(condition, each.step, positive=False)[1], told
            must, may, low, high = case.reference.value(duty, each.step)
            assert not must, told
            assert may == (verdict.status == "inconclusive"), told
            if each.nearest is not None and verdict.status == "violated":
                assert each.nearest.margin == high, told
            elif each.nearest is not None and math.isfinite(each.nearest.margin):
                assert each.nearest.margin in (low, high), told
    assert found > 80


def test_a_violated_response_always_names_its_obligation() -> None:
    for seed in range(200):
        random = Random(seed)
        formula, _, _ = _response(random)
        case = case_of(random, formula)
        verdict = judge(formula, case.trace)
        if verdict.status == "violated" and verdict.witness is not None:
            steps = [each.step for each in verdict.obligations]
            assert steps or verdict.witness.step == case.reference.last, case.reference
