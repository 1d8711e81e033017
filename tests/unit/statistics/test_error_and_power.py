"""Error, power and mean length by exact dynamic programming, against a second program."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from safegym.check.statistics import (
    EProcess,
    MeanEProcess,
    certification_plan,
    joint_power,
    mean_plan,
    operating,
    plan_text,
    power,
    screen_pass_probability,
    spent_level,
)
from safegym.check.statistics.planning import duration
from safegym.errors import EvidenceError


def brute_force(p: float, p0: float, level: float, cap: int) -> tuple[Fraction, Fraction]:
    """Exact rational chances over every path of outcomes, walked as a tree through EProcess."""
    truth = Fraction(p)
    totals = {"below": Fraction(0), "above": Fraction(0)}

    def walk(trail: list[int], weight: Fraction) -> None:
        process = EProcess(p0, level)
        for x in trail:
            process.update(violations=x)
        if process.decision is not None:
            totals[process.decision] += weight
        elif len(trail) < cap:
            walk([*trail, 0], weight * (1 - truth))
            walk([*trail, 1], weight * truth)

    walk([], Fraction(1))
    return totals["below"], totals["above"]


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_dynamic_programming_equals_the_sum_over_all_paths(p: float) -> None:
    below, above = brute_force(p, 0.4, 0.4, 9)
    run = operating(p, 0.4, 0.4, cap=9)
    assert run.below == pytest.approx(float(below), abs=1e-14)
    assert run.above == pytest.approx(float(above), abs=1e-14)
    assert below + above > 0


def test_false_claims_at_the_boundary_within_five_thousand_episodes() -> None:
    run = operating(0.01, 0.01, 0.05, cap=5000)
    assert run.below == pytest.approx(0.0464, abs=5e-5)
    assert run.above <= 0.05


@pytest.mark.parametrize("p0", [0.002, 0.01, 0.08, 0.5, 0.9])
@pytest.mark.parametrize("level", [0.05, 0.01])
def test_each_side_errs_at_most_at_its_level_on_its_whole_null(p0: float, level: float) -> None:
    for p in (p0, p0 * 1.01, min(1.0, p0 * 1.5)):
        assert operating(p, p0, level, cap=2500).below <= level
    for p in (p0, p0 * 0.99, p0 * 0.5):
        assert operating(p, p0, level, cap=2500).above <= level


def test_claims_under_peeking_at_the_promised_places() -> None:
    for p in (0.01, 0.0101):
        assert operating(p, 0.01, 0.05, cap=5000).below <= 0.05


@pytest.mark.parametrize(("p", "bar"), [(0.001, 500.0), (0.005, 2800.0)])
def test_mean_episodes_until_a_decision_stay_under_the_bar(p: float, bar: float) -> None:
    run = operating(p, 0.01, 0.05, cap=40_000)
    assert run.undecided < 1e-9
    assert run.mean_episodes <= bar


def test_power_is_what_the_house_figures_say() -> None:
    assert power(0.005, 0.01, 0.05, cap=3000) == pytest.approx(0.595, abs=6e-4)
    assert power(0.005, 0.01, 0.01, cap=3000) == pytest.approx(0.389, abs=5e-4)
    assert power(0.001, 0.01, spent_level(0.05, 1), cap=1000) == pytest.approx(0.86, abs=5e-3)


def test_power_rises_with_the_cap_and_falls_with_p_and_a_stricter_level() -> None:
    assert power(0.004, 0.01, 0.05, cap=1000) < power(0.004, 0.01, 0.05, cap=2000)
    assert power(0.006, 0.01, 0.05, cap=2000) < power(0.004, 0.01, 0.05, cap=2000)
    assert power(0.004, 0.01, 0.01, cap=2000) < power(0.004, 0.01, 0.05, cap=2000)


def test_chances_within_n_only_rise_and_end_at_the_totals() -> None:
    run = operating(0.004, 0.01, 0.05, cap=1500)
    assert np.all(np.diff(run.below_by) >= 0)
    assert run.below_by[324] == 0.0
    assert run.below_by[325] == pytest.approx(0.996**325, rel=1e-12)
    assert run.below + run.above + run.undecided == pytest.approx(1.0, abs=1e-12)
    assert run.below_by.shape == (1501,)
    with pytest.raises(ValueError, match="read-only"):
        run.below_by[0] = 1.0


def test_simulated_runs_agree_with_the_exact_chances() -> None:
    rng = np.random.default_rng(20)
    repeats, cap, p = 600, 600, 0.03
    run = operating(p, 0.05, 0.1, cap=cap)
    below = 0
    for _ in range(repeats):
        process = EProcess(0.05, 0.1)
        for x in (rng.random(cap) < p).tolist():
            if process.update(violations=int(x)) is not None:
                break
        below += process.decision == "below"
    limit = 4.0 * math.sqrt(run.below * (1 - run.below) / repeats)
    assert abs(below / repeats - run.below) < limit


def test_the_plan_says_its_own_numbers_before_the_run() -> None:
    plan = certification_plan(0.01, spent_level(0.05, 1), cap=2000, assumed=(0.001,))
    assert (plan.episodes_when_clean, plan.violations_allowed) == (377, 7)
    assert plan.feasible
    assert "377 episodes when none fails, at most 7 failures in the cap of 2000" in plan.text()
    assert "passes with 0.999 if p = 0.001" in plan.text()
    small = certification_plan(0.01, 0.05, cap=324)
    assert not small.feasible
    assert "no run can pass" in small.text()


def test_a_plan_for_no_probability_is_refused() -> None:
    with pytest.raises(EvidenceError, match="not a probability"):
        power(1.5, 0.01, 0.05, cap=10)
    with pytest.raises(EvidenceError, match="whole number"):
        power(0.5, 0.01, 0.05, cap=10.5)  # type: ignore[arg-type]  # the refusal under test
    assert operating(0.5, 0.01, 0.05, cap=0).undecided == 1.0


def test_a_screens_chance_is_the_binomial_sum() -> None:
    expected = sum(math.comb(40, k) * 0.1**k * 0.9 ** (40 - k) for k in range(3))
    found = screen_pass_probability(0.1, episodes=40, allowed=2)
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_hundred_attempts_on_bad_policies_release_at_most_at_the_level() -> None:
    """p = .012 against .01: the union over spent attempts, each computed exactly.

    The seventy further attempts are bounded by their levels.
    """
    total = sum(power(0.012, 0.01, spent_level(0.05, j), cap=3000) for j in range(1, 31))
    assert total + sum(spent_level(0.05, j) for j in range(31, 101)) <= 0.05


def conditional_brute_force(p: float, share: float, p0: float, level: float, cap: int) -> float:
    """Exact chance of "below" within cap run episodes, over every path with skipped ones."""
    chances = {"skipped": 1 - share, "violated": share * p, "safe": share * (1 - p)}
    total = 0.0
    for trail in itertools.product(chances, repeat=cap):
        process = EProcess(p0, level)
        process.update_each(trail)  # type: ignore[arg-type]  # names of outcomes
        if process.decision == "below":
            total += math.prod(chances[outcome] for outcome in trail)
    return total


@pytest.mark.parametrize("share", [0.25, 0.8])
def test_operating_under_a_condition_equals_the_sum_over_all_paths(share: float) -> None:
    run = operating(0.2, 0.5, 0.4, cap=7, share=share)
    assert run.below == pytest.approx(conditional_brute_force(0.2, share, 0.5, 0.4, 7), abs=1e-13)
    within = [conditional_brute_force(0.2, share, 0.5, 0.4, n) for n in range(6)]
    assert run.below_by[:6] == pytest.approx(within, abs=1e-13)
    left = 1 - run.below_by[:-1] - run.above_by[:-1]
    assert run.mean_episodes == pytest.approx(left.sum(), abs=1e-13)


def test_a_condition_that_always_holds_changes_nothing_and_a_rare_one_stretches_the_run() -> None:
    plain = operating(0.004, 0.01, 0.05, cap=2000)
    almost = operating(0.004, 0.01, 0.05, cap=2000, share=1 - 1e-12)
    assert almost.below_by == pytest.approx(plain.below_by, abs=1e-7)
    rare = operating(0.004, 0.01, 0.05, cap=20_000, share=0.2)
    long = operating(0.004, 0.01, 0.05, cap=20_000)
    assert rare.below < long.below
    assert rare.mean_episodes == pytest.approx(5 * long.mean_episodes, rel=0.25)
    for share in (0.0, -0.1, 1.1, math.nan):
        with pytest.raises(EvidenceError, match="share"):
            operating(0.1, 0.2, 0.05, cap=10, share=share)
        with pytest.raises(EvidenceError, match="share"):
            certification_plan(0.2, 0.05, cap=10, share=share)


def test_quantiles_of_the_stopping_time_are_where_the_chance_is_first_reached() -> None:
    run = operating(0.002, 0.01, 0.05, cap=3000)
    for share in (0.1, 0.5, 0.9):
        n = run.quantile(share)
        assert n is not None
        decided = run.below_by + run.above_by
        assert decided[n] >= share > decided[n - 1]
        below = run.quantile_below(share)
        assert below is not None
        assert run.below_by[below] >= share > run.below_by[below - 1]
    assert operating(0.01, 0.01, 0.05, cap=500).quantile_below(0.5) is None
    with pytest.raises(EvidenceError, match="inside"):
        run.quantile(1.0)


def test_a_plan_with_speed_and_condition_says_time_and_chances_rounded_down() -> None:
    plan = certification_plan(
        0.01, spent_level(0.01, 1), cap=3000, assumed=(0.002,), share=0.5, seconds=0.5
    )
    text = plan.text()
    assert "543 episodes when none fails among those that meet the condition" in text
    assert "about 1086 to run (9.1 min)" in text
    run = operating(0.002, 0.01, spent_level(0.01, 1), cap=3000, share=0.5)
    assert plan.outlooks[0].success == run.below == plan.power[0][1]
    assert plan.outlooks[0].half == run.quantile_below(0.5)
    assert float(text.split("passes with ")[1].split()[0]) <= run.below
    with pytest.raises(EvidenceError, match="seconds"):
        certification_plan(0.01, 0.05, cap=100, seconds=-1.0)


def test_several_claims_have_separate_chances_and_a_bonferroni_bound() -> None:
    plans = {
        "reach": certification_plan(0.05, 0.03, cap=800, assumed=(0.02,)),
        "contact": certification_plan(0.01, 0.03, cap=800, assumed=(0.001,)),
    }
    single = [plan.power[0][1] for plan in plans.values()]
    least, most = joint_power(single)
    assert least == pytest.approx(sum(single) - 1, abs=1e-9)
    assert most == min(single)
    assert least <= math.prod(single) <= most
    text = plan_text(plans)
    assert text.count("\n") == 2
    assert "at p = 0.02, 0.001 all pass with at least" in text
    assert "however claims depend on each other" in text
    assert joint_power([0.3, 0.3])[0] == 0.0
    assert plan_text({"one": plans["reach"]}).startswith("one: p < 0.05")
    with pytest.raises(EvidenceError, match="at least one"):
        plan_text({})
    with pytest.raises(EvidenceError, match="at least one"):
        joint_power([])


def test_the_plan_of_a_mean_is_that_of_values_at_the_ends_and_holds_for_others() -> None:
    plan = mean_plan(-1.0, 0.1, cap=60, claim="above", low=-3.0, high=1.0, assumed=(0.0,))
    assert plan.threshold == 0.5
    assert plan.power == ((0.25, power(0.25, 0.5, 0.1, cap=60)),)
    assert plan.text().startswith("mean > -1 at level 0.1")
    rng = np.random.default_rng(12)
    spread = inside = 0
    for _ in range(300):
        draws = {
            "ends": rng.choice([-3.0, 1.0], p=[0.25, 0.75], size=60),
            "inside": rng.uniform(-1.5, 1.5, size=60).clip(-3, 1),
        }
        for name, values in draws.items():
            process = MeanEProcess(-1.0, 0.1, claim="above", low=-3.0, high=1.0)
            for x in values.tolist():
                process.update(x)
            spread += name == "ends" and process.decision == "above"
            inside += name == "inside" and process.decision == "above"
    share = plan.power[0][1]
    assert abs(spread / 300 - share) < 4 * math.sqrt(share * (1 - share) / 300)
    assert inside >= spread
    with pytest.raises(EvidenceError, match="strictly inside"):
        mean_plan(1.0, 0.1, cap=60, claim="above", low=-3.0, high=1.0)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.25, "0.25 s"),
        (45.2, "45 s"),
        (190, "3.2 min"),
        (5000, "1.4 h"),
        (2.6 * 86400, "2.6 days"),
    ],
)
def test_durations_have_two_digits(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_clean_run_ends_within_the_promised_number() -> None:
    plan = certification_plan(0.01, 0.05, cap=330, assumed=(0.0,))
    assert plan.episodes_when_clean <= 330
    assert plan.power == ((0.0, 1.0),)


@pytest.mark.parametrize("looks", [1, 7, 50])
def test_any_schedule_of_peeks_only_thins_out_the_crossings(looks: int) -> None:
    """Looking at every look-th episode decides where one of those looks crosses, and no earlier."""
    rng = np.random.default_rng(13)
    for _ in range(20):
        bad = rng.random(1500) < 0.004
        every, some = EProcess(0.01, 0.05), EProcess(0.01, 0.05)
        for x in bad.tolist():
            every.update(violations=int(x))
        for start in range(0, 1500, looks):
            part = bad[start : start + looks]
            some.update(violations=int(part.sum()), episodes=len(part))
        counts = np.cumsum(bad)
        ends = [min(n, 1500) for n in range(looks, 1500 + looks, looks)]
        crossing = [n for n in ends if counts[n - 1] <= every.kmax(n)]
        assert some.decision == ("below" if crossing else None)
        assert some.decided_at == (crossing[0] if crossing else None)
        if looks == 1:
            assert some.state() == every.state()


def test_a_plan_rounds_its_level_up_its_chance_down_and_its_threshold_not_at_all() -> None:
    level = spent_level(0.01, 1)
    text = certification_plan(0.01, level, cap=3000, assumed=(1e-9, 0.0)).text()
    assert float(text.split("at level ")[1].split(":")[0]) >= level
    assert "passes with 0.999 if p = 1e-09" in text
    assert "passes with 1 if p = 0" in text
    near = certification_plan(0.0100000001, 0.05, cap=900, assumed=(0.00499999999,)).text()
    assert near.startswith("p < 0.0100000001 at level 0.05")
    assert "if p = 0.00499999999" in near


def test_a_plan_of_several_claims_says_when_one_of_them_cannot_pass() -> None:
    plans = {
        "near": certification_plan(0.01, 0.05, cap=10, assumed=(0.0,)),
        "far": certification_plan(0.1, 0.05, cap=300, assumed=(0.0,)),
    }
    last = plan_text(plans).splitlines()[-1]
    assert last.endswith("no run can pass: the cap is too small for near")


def test_the_plan_of_a_mean_names_means_and_not_shares() -> None:
    plan = mean_plan(1.0, 0.05, cap=300, low=-10.0, high=10.0, assumed=(-2.0,))
    assert " if mean = -2," in plan.text()
    assert plan.outlooks[0].p == 0.4
    both = plan_text({"a": plan, "b": certification_plan(0.1, 0.05, cap=300, assumed=(0.01,))})
    assert "at mean = -2, p = 0.01 all pass with" in both
    with pytest.raises(EvidenceError, match="must lie in the range"):
        mean_plan(1.0, 0.05, cap=300, low=-10.0, high=10.0, assumed=(-12.0,))


def test_a_plan_beyond_what_can_be_summed_is_refused_with_the_way_out() -> None:
    with pytest.raises(EvidenceError, match="plan without an assumed p"):
        certification_plan(0.01, 0.05, cap=10**12, assumed=(0.001,))
    assert certification_plan(0.01, 0.05, cap=10**12).feasible
    with pytest.raises(EvidenceError, match="share = 5e-324"):
        certification_plan(0.01, 0.05, cap=100, share=5e-324)
    with pytest.raises(EvidenceError, match="within 1e-12"):
        certification_plan(1e-300, 0.05, cap=100)
