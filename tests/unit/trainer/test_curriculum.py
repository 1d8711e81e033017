"""A curriculum changes what training penalises and when it cuts episodes, and nothing else."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from cart_training import ANGLE, ARRIVES, PLACE, UPRIGHT, cart_spec, small_settings

import safegym as sg
from safegym.check.monitor import settling
from safegym.errors import GateError
from safegym.formula.build import always, eventually, prob
from safegym.formula.claim import Claim
from safegym.gate.penalty import PenaltySettings
from safegym.gate.replay import ReplayBank, ReplaySettings
from safegym.gate.reward import (
    Curriculum,
    Dense,
    EnvironmentReward,
    Potential,
    Reward,
    Stage,
    breakdown,
)
from safegym.gate.reward.staged import CurriculumProgress, penaliser_of
from safegym.gate.trainer import banking, events
from safegym.gate.trainer.correction import JudgedEpisode, told
from safegym.gate.trainer.course import Course
from safegym.gate.trainer.hook import NoGate
from safegym.gate.trainer.loop import Trainer
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.slots import FinishedEpisode, Start
from safegym.gate.trainer.workers.plan import RolloutWorkers
from safegym.gate.weighting.adaptation import PID
from safegym.policy.sb3 import read_checkpoint
from safegym.policy.sb3.tensors import digest_tensors
from safegym.trace.model import EpisodeEnd

SHORT = Stage(until=0.4, horizon=0.2, relax=0.5)
LONGER = Stage(until=0.8, horizon=0.5, claims={"cart.upright": -0.5})
TWO = Curriculum((SHORT, LONGER))


def weights(path: Path) -> str:
    return digest_tensors(read_checkpoint(path).tensors)


def settings(curriculum=TWO, **changes):
    penalty = PenaltySettings(weight=2.0)
    fields = {"penalty": penalty, "curriculum": curriculum}
    return small_settings(**{**fields, **changes})


def run(out, chosen, spec=None, gate=None, **more):
    heard = []
    trainer = Trainer(
        spec or cart_spec(), chosen, out, gate or NoGate(), listener=heard.append, **more
    )
    return trainer.run(), heard


def test_a_relaxed_claim_holds_exactly_where_the_margin_is_above_the_relaxed_limit():
    rng = np.random.default_rng(0)
    for _ in range(40):
        angle, place = rng.normal(scale=0.07, size=25), rng.normal(scale=1.2, size=25)
        trace = sg.Trace.from_arrays({"angle": angle, "place": place}, dt="0.02")
        for claim in (UPRIGHT, ARRIVES):
            low, _ = sg.robustness(claim.property, trace)
            for relax in (0.5, -0.25, 0.0):
                stage = Stage(until=0.5, relax=relax)
                met = sg.check(stage.relaxed(claim), trace).status == "satisfied"
                assert met is bool(low[0] >= -relax)


def test_stages_go_by_the_share_of_the_run_and_only_forward():
    progress = CurriculumProgress(TWO)
    begun = [progress.tell([], share) for share in (0.1, 0.39, 0.4, 0.5, 0.9, 1.0)]
    assert begun == [False, False, True, False, True, False]
    assert (progress.stage, progress.open) == (2, None)


def test_a_stage_is_left_early_once_enough_of_its_own_episodes_succeeded():
    progress = CurriculumProgress(Curriculum((SHORT, LONGER), success=0.75, window=4))
    assert not progress.tell([(0, True)] * 3, 0.01)
    assert not progress.tell([(None, True)] * 9, 0.02), "episodes of other stages do not count"
    assert not progress.tell([(0, False), (0, False)], 0.03)
    assert progress.tell([(0, True), (0, True), (0, True)], 0.04)
    assert progress.stage == 1
    again = CurriculumProgress(Curriculum((SHORT, LONGER), success=0.75, window=4))
    again.restore(progress.state())
    assert [each.tell([(1, True)] * 4, 0.05) for each in (progress, again)] == [True, True]


def test_training_episodes_are_cut_at_their_stage_and_judged_by_its_thresholds(tmp_path):
    slow = cart_spec(claims=(Claim("cart.upright", always(abs(ANGLE) < 0.02)), ARRIVES))
    chosen = settings(Curriculum((Stage(until=0.5, horizon=0.1, relax=2.0),)))
    outcome, heard = run(tmp_path / "run", chosen, slow)
    [begun] = [event for event in heard if isinstance(event, events.StageBegan)]
    assert (begun.steps, begun.stage, begun.stages, begun.horizon) == (128, 1, 1, 60)
    at = heard.index(begun)
    first, later = heard[:at], heard[at:]
    rollouts = [event for event in first if isinstance(event, events.RolloutEnded)]
    assert all(event.mean_length == 6 for event in rollouts if event.episodes)
    relaxed = Stage(until=0.5, relax=2.0).relaxed(slow.claims[0])
    begun_short = first + later[: later.index(next(e for e in later if is_long(e)))]
    found = [event for event in begun_short if is_upright(event)]
    assert all(settling(relaxed, event.trace).step == event.step for event in found)
    exact = [event for event in later if is_upright(event) and is_long(event)]
    assert exact
    assert all(settling(slow.claims[0], event.trace).step == event.step for event in exact)
    epochs = [event.stage for event in heard if isinstance(event, events.EpochEnded)]
    assert epochs == [0, 1, 1, 1]
    assert outcome.steps == 256


def is_upright(event):
    return isinstance(event, events.ViolationFound) and event.claim_id == "cart.upright"


def is_long(event):
    return isinstance(event, events.ViolationFound) and len(event.trace.rewards) > 6


def test_a_last_stage_that_changes_nothing_gives_the_weights_of_no_curriculum(tmp_path):
    plain, _ = run(tmp_path / "plain", settings(None))
    same, _ = run(tmp_path / "same", settings(Curriculum((Stage(until=0.5),))))
    other, _ = run(tmp_path / "other", settings(TWO))
    assert weights(plain.checkpoint) == weights(same.checkpoint)
    assert weights(plain.checkpoint) != weights(other.checkpoint)


@pytest.mark.parametrize("epoch", [2, 5])
def test_a_run_with_a_curriculum_goes_on_bit_for_bit(tmp_path, epoch):
    curriculum = Curriculum((SHORT, LONGER), success=0.5, window=12)
    reward = Reward((EnvironmentReward(), Potential("guide", abs(ANGLE) < 0.1, cap=1.0)))
    spec = cart_spec(reward=reward)
    chosen = settings(curriculum, steps=512)
    whole, heard = run(tmp_path / "whole", chosen, spec)
    stages = [event.stage for event in heard if isinstance(event, events.EpochEnded)]
    assert len(set(stages)) == 3

    def stop(event):
        if isinstance(event, events.GateDecided) and event.epoch == epoch:
            raise KeyboardInterrupt

    broken = Trainer(spec, chosen, tmp_path / "cut", NoGate(), listener=stop)
    assert broken.run().status == "interrupted"
    again = Trainer.resume(spec, tmp_path / "cut", NoGate()).run()
    assert weights(again.checkpoint) == weights(whole.checkpoint)


@pytest.mark.slow
def test_stages_reach_environments_in_workers_and_the_weights_are_the_same(tmp_path):
    reward = Reward((EnvironmentReward(), Potential("guide", abs(ANGLE) < 0.1, cap=1.0)))
    spec, chosen = cart_spec(reward=reward), settings(penalty=PenaltySettings(ends=True))
    here, heard = run(tmp_path / "here", chosen, spec)
    there, told = run(tmp_path / "there", chosen, spec, rollout=RolloutWorkers(2))
    assert weights(here.checkpoint) == weights(there.checkpoint)
    kinds = (events.StageBegan, events.ViolationFound, events.PenaltyApplied)
    assert [e for e in heard if isinstance(e, kinds)] == [e for e in told if isinstance(e, kinds)]
    terms = [[e.terms for e in each if isinstance(e, events.EpochEnded)] for each in (heard, told)]
    assert terms[0] == terms[1]


def test_what_a_gate_found_is_banked_by_the_claims_as_they_are():
    spec = cart_spec()
    judge = penaliser_of(spec.claims, spec.clock, spec.horizon, PenaltySettings(), TWO)
    angle = np.full(11, 0.12)
    angle[0] = 0.0
    trace = sg.Trace.from_arrays(
        {"angle": angle, "place": np.zeros(11)},
        dt="0.02",
        end="interrupted",
        scenario_digest=spec.digest,
    )
    assert [v.claim_id for v in judge.violations(trace)] == ["cart.upright"]
    assert judge.at(None).violations(trace) == judge.violations(trace)
    assert judge.at(0).violations(trace) == ()
    assert [v.margin for v in judge.at(1).violations(trace)] == pytest.approx([-0.7])
    found = banking.starts_of([SimpleNamespace(trace=trace)], judge, "screen")
    assert [start.claim_id for start in found] == ["cart.upright"]


def finished(spec, angle, *, stage, replay=None, place=0.0, end="interrupted"):
    """An episode of the cart that began in a stage, cut where it is."""
    steps = len(angle) - 1
    trace = sg.Trace.from_arrays(
        {"angle": np.array(angle), "place": np.full(len(angle), place)},
        dt="0.02",
        end=EpisodeEnd(end, 0.02 * steps, f"limit of {steps} steps"),
        horizon=spec.horizon,
        scenario_digest=spec.digest,
    )
    start = Start(0, 5, replay=replay, stage=stage)
    return FinishedEpisode(0, start, trace, len(angle) - 2)


def judged(penaliser, episode):
    found = penaliser.at(episode.start.stage).violations(episode.trace)
    return JudgedEpisode(episode, found)


STRICT = Stage(until=0.8, relax=-0.5)


def test_training_banks_what_violates_the_claims_as_they_are_with_their_margins():
    spec = cart_spec()
    stages = Curriculum((SHORT, STRICT))
    judge = penaliser_of(spec.claims, spec.clock, spec.horizon, PenaltySettings(), stages)
    bank = ReplayBank(spec.digest, ReplaySettings())
    deep = judged(judge, finished(spec, [0.0, 0.17, 0.0], stage=0))
    assert [found.margin for found in deep.violations] == pytest.approx([-0.2])
    near = judged(judge, finished(spec, [0.0, 0.08, 0.0], stage=1))
    assert [found.margin for found in near.violations] == pytest.approx([-0.3])
    told = [banking.take_in([item], judge, bank) for item in (deep, near)]
    assert [type(event).__name__ for event in told[0]] == ["ViolationFound", "Banked"]
    assert told[0][1].start.margin == pytest.approx(-0.7)
    assert [type(event).__name__ for event in told[1]] == ["ViolationFound"], "it keeps the claim"
    assert len(bank) == 1


def test_a_replay_passes_or_fails_by_the_claims_as_they_are_whatever_its_stage():
    spec = cart_spec(horizon=3)
    stages = Curriculum((SHORT, STRICT))
    judge = penaliser_of(spec.claims, spec.clock, spec.horizon, PenaltySettings(), stages)
    bank = ReplayBank(spec.digest, ReplaySettings())
    first = judged(judge, finished(spec, [0.0, 0.17, 0.0, 0.0], stage=0))
    start = banking.take_in([first], judge, bank)[1].start
    outcomes = []
    for stage, angle in ((0, 0.12), (1, 0.08), (1, 0.12)):
        again = finished(spec, [0.0, angle, 0.0, 0.0], stage=stage, replay=start, end="horizon")
        told = banking.take_in([judged(judge, again)], judge, bank)
        [replayed] = [event for event in told if isinstance(event, events.Replayed)]
        outcomes.append((replayed.status, replayed.margin))
    assert outcomes == [
        ("violated", pytest.approx(-0.2)),
        ("satisfied", None),
        ("violated", pytest.approx(-0.2)),
    ]


def test_a_goal_that_a_shortened_episode_did_not_reach_is_no_success():
    spec = cart_spec()
    stages = Curriculum((Stage(until=0.9, horizon=0.1),), success=1.0, window=4)
    judge = penaliser_of(spec.claims, spec.clock, spec.horizon, PenaltySettings(), stages)
    course = Course(settings(stages), spec.horizon)
    idle, there = (judged(judge, finished(spec, [0.0] * 7, stage=0, place=x)) for x in (0.0, 2.5))
    assert idle.violations == there.violations == (), "it is not penalised"
    assert course.after([idle] * 8, judge, 1, 64) == []
    assert [event.stage for event in course.after([there] * 4, judge, 1, 128)] == [1]
    assert told([idle, there], judge)[0].void == {"cart.arrives"}, "and tells of no rate"


def test_weights_learn_from_shortened_episodes_that_kept_a_claim_as_from_those_that_did_not():
    """Else every rate in a shortened stage would be 1, and the weights would run away."""
    spec = cart_spec(claims=(UPRIGHT,))
    stages = Curriculum((Stage(until=0.9, horizon=0.1),))
    adapting = PenaltySettings(adapt=PID(target=0.1))
    judge = penaliser_of(spec.claims, spec.clock, spec.horizon, adapting, stages)
    kept, broken = (judged(judge, finished(spec, [x] * 7, stage=0)) for x in (0.0, 0.2))
    assert [one.void for one in told([kept, broken], judge)] == [frozenset(), frozenset()]
    judge.weights.tell(told([kept] * 199 + [broken], judge), 0.1)
    assert judge.weights.rates["cart.upright"] < 0.1


def test_a_share_that_is_met_exactly_is_met():
    curriculum = Curriculum((SHORT,), success=0.56, window=100)
    assert CurriculumProgress(curriculum).tell([(0, True)] * 56 + [(0, False)] * 44, 0.1)


def test_a_relaxed_claim_keeps_the_condition_under_which_it_counts():
    given = Claim("cart.given", prob(always(abs(ANGLE) < 0.1), given=abs(PLACE) < 0.3) >= 0.9)
    never = Claim("cart.never", prob(eventually(abs(ANGLE) > 0.1), given=abs(PLACE) < 0.3) < 0.1)
    spec = cart_spec(claims=(given, never))
    stages = Curriculum((SHORT,))
    judge = penaliser_of(spec.claims, spec.clock, spec.horizon, PenaltySettings(), stages)
    for angle, broken in ((0.12, False), (0.16, True)):
        inside = finished(spec, [0.0, angle, 0.0], stage=0)
        assert len(judged(judge, inside).violations) == 2 * broken
        outside = finished(spec, [0.0, angle, 0.0], stage=0, place=0.5)
        assert judged(judge, outside).violations == ()
        void = judge.at(0).void(outside.trace, frozenset())
        assert void == {"cart.given", "cart.never"} == judge.void(outside.trace, frozenset())


def test_each_term_of_a_declared_reward_is_reported_with_its_epoch(tmp_path):
    reward = Reward((EnvironmentReward(), Dense("lean", abs(ANGLE), weight=-3.0)))
    spec = cart_spec(reward=reward)
    chosen = small_settings(penalty=PenaltySettings(weight=1.0))
    _, heard = run(tmp_path / "run", chosen, spec)
    traces = [event.trace for event in heard if isinstance(event, events.ViolationFound)]
    assert traces
    ended = [event for event in heard if isinstance(event, events.EpochEnded)]
    for event in ended:
        assert set(event.terms) == {"environment", "lean"}
        assert sum(event.terms.values()) == pytest.approx(event.mean_return)
        assert event.terms["environment"] == pytest.approx(event.mean_length)
        assert event.terms["lean"] < 0.0
    assert breakdown(spec, traces[0])["lean"].sum() < 0.0


def test_shaping_with_another_discount_than_training_is_refused_before_it_begins(tmp_path):
    spec = cart_spec(reward=Reward((Potential("guide", abs(ANGLE) < 0.1),), gamma=0.95))
    with pytest.raises(GateError, match=r"gamma=0.95 \(guide\), and training .*gamma=0.99"):
        Trainer(spec, small_settings(), tmp_path / "run", NoGate())
    Trainer(spec, small_settings(gamma=0.95), tmp_path / "run", NoGate())


def test_a_curriculum_is_part_of_the_settings_and_comes_back_from_json():
    chosen = settings(Curriculum((SHORT, LONGER), success=0.9))
    assert TrainSettings.from_json(chosen.to_json()) == chosen
    assert chosen.digest != settings(TWO).digest
    plain = {"stages": [{"until": 0.3, "horizon": 0.5}], "success": 0.8}
    given = TrainSettings.of({"curriculum": plain}).curriculum
    assert given == Curriculum((Stage(until=0.3, horizon=0.5),), success=0.8)
    assert TrainSettings.of({}).curriculum is None


def test_evenly_spaced_stages_lead_from_the_easiest_to_the_scenario():
    made = Curriculum.linear(4, until=0.8, horizon=0.2, relax=1.0)
    assert [stage.until for stage in made.stages] == pytest.approx([0.2, 0.4, 0.6, 0.8])
    assert [stage.relax for stage in made.stages] == pytest.approx([1.0, 0.75, 0.5, 0.25])
    assert made.limits(60) == (12, 24, 36, 48, 60)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Curriculum(()), "needs stages"),
        (lambda: Curriculum(SHORT), "needs stages"),
        (lambda: Curriculum.linear(3, until="x"), r"linear\(until='x'\)"),
        (lambda: Stage(until=0.5, claims=["cart.upright"]), "give claim id -> relax"),
        (lambda: Curriculum((LONGER, SHORT)), "end at 0.8, 0.4 of the run"),
        (lambda: Curriculum((SHORT,), success=0.0), "success=0.0"),
        (lambda: Curriculum((SHORT,), window=0), "window=0"),
        (lambda: Curriculum.linear(0, until=0.5), "number of stages >= 1"),
        (lambda: Stage(until=1.0), "until=1.0"),
        (lambda: Stage(until=0.5, horizon=0.0), "horizon=0.0"),
        (lambda: Stage(until=0.5, relax=float("nan")), "relaxes relax by nan"),
        (lambda: settings("easy"), "curriculum is 'easy'"),
        (lambda: TrainSettings.of({"curriculum": {"stages": [{"til": 1}]}}), "malformed"),
        (lambda: TrainSettings.of({"curriculum": {"stages": [], "x": 1}}), "no field x"),
        (lambda: CurriculumProgress(TWO).restore({"stage": 3, "recent": []}), "at stage 3"),
        (lambda: CurriculumProgress(TWO).restore({}), "malformed"),
    ],
)
def test_a_curriculum_that_makes_no_sense_is_refused(make, said):
    with pytest.raises(GateError, match=said):
        make()


def test_a_stage_that_relaxes_an_unknown_claim_is_refused_before_training(tmp_path):
    chosen = settings(Curriculum((Stage(until=0.5, claims={"cart.up": 1.0}),)))
    with pytest.raises(GateError, match=r"relaxes cart\.up; the claims are cart\."):
        Trainer(cart_spec(), chosen, tmp_path / "run", NoGate())
