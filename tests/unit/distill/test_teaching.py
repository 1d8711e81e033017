"""Several specialists, one student: on its own rollouts, certified on all of them, resumable."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stable_baselines3 as sb3
import torch
from point_worlds import (
    CHOOSES_LEFT,
    CHOOSES_RIGHT,
    LEFT,
    PLACE,
    RIGHT,
    left,
    left_by_choice,
    point_spec,
    right,
    right_by_choice,
    unbounded,
)

from safegym.check.neural.proof import prove
from safegym.cli.application import run
from safegym.errors import (
    EvidenceError,
    GateError,
    PolicyError,
    RunFolderError,
    UnsupportedError,
)
from safegym.formula.build import always, eventually, prob
from safegym.formula.claim import Claim
from safegym.gate.certify import certification_setting, certify_setting
from safegym.gate.distill import (
    Certified,
    Joint,
    Net,
    Taught,
    Teacher,
    Tree,
    certify_jointly,
    distil,
    distil_teachers,
)
from safegym.gate.distill.events import CertificationBegan, EpisodesWatched, RoundEnded
from safegym.gate.plan import GatePlan
from safegym.gate.recount import attempt_levels
from safegym.policy.base import PolicyCard
from safegym.policy.loading import load_policy
from safegym.policy.sb3 import SB3Policy, freeze
from safegym.policy.tree import TreePolicy

SIDES = (Teacher(point_spec(right), RIGHT), Teacher(point_spec(left), LEFT))
CHOICES = (
    Teacher(point_spec(right_by_choice), CHOOSES_RIGHT),
    Teacher(point_spec(left_by_choice), CHOOSES_LEFT),
)
SMALL: dict[str, Any] = {"rounds": 3, "episodes": 4, "held_out": 4, "certify": False}
NET = Net(hidden=(16,), updates=120)
FAST: dict[str, Any] = {"rounds": 2, "episodes": 2, "held_out": 2, "beta": 0.5}
FAST_NET = Net(hidden=(8,), updates=20)
PLAN = GatePlan(lift=0.9)


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))

    def unsynced(_: int) -> None: ...

    monkeypatch.setattr("os.fsync", unsynced)


def small(teachers: Any = SIDES, **changes: Any) -> Taught:
    asked: dict[str, Any] = {**SMALL, "student": NET, **changes}
    return distil_teachers(teachers, **asked)


def test_one_student_of_two_specialists_is_certified_on_both(tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = small(certify=True, budget=150, plan=PLAN, out=out)
    assert found.joint.outcome == "certified"
    assert [each.of_student.violated for each in found.lessons] == [0, 0]
    assert [each.certified.outcome for each in found.lessons] == ["certified", "certified"]
    assert found.uncertified == ()
    assert "each certified on its scenario before it taught" in str(found)
    evidence = [item for part in found.joint.parts for item in part.evidence]
    assert {item.claim_id for item in evidence} == {"point.right", "point.left"}
    assert found.joint.confidence == min(item.confidence or 0.0 for item in evidence)
    for part in (*found.joint.parts, *(each.certified for each in found.lessons)):
        assert part.attempt in (1, 2)
        assert run(["audit", "verify", part.folder]) == 0
    stored = load_policy(out / "student")
    assert stored.card.digest == found.student.card.digest
    result = json.loads((out / "result.json").read_text())
    assert result["certified"]["outcome"] == "certified"
    assert result["student"]["policy"] == found.student.card.digest


@pytest.mark.parametrize("who", [RIGHT, LEFT])
def test_neither_specialist_does_the_others_work(who: Any) -> None:
    joint = certify_jointly([t.scenario for t in SIDES], who, budget=150, plan=PLAN)
    assert joint.outcome == "refuted"
    assert sorted(part.outcome for part in joint.parts) == ["certified", "refuted"]
    assert joint.confidence is None
    assert "alone, which is no joint statement" in str(joint)


def test_scenarios_to_certify_jointly_are_a_list_of_different_ones() -> None:
    for scenarios in ("classic/cartpole-v0", [SIDES[0].scenario, SIDES[0].scenario], [5]):
        wrong: Any = scenarios
        with pytest.raises(GateError, match="list of different scenarios"):
            certify_jointly(wrong, RIGHT, budget=150, plan=PLAN)


def test_the_student_is_a_network_that_plain_stable_baselines3_takes_and_proofs_read() -> None:
    student: Any = small().student
    assert isinstance(student, SB3Policy)
    plain = sb3.PPO(
        "MlpPolicy", right(), device="cpu", policy_kwargs={"net_arch": {"pi": [16], "vf": [16]}}
    )
    plain.policy.load_state_dict(student._policy.state_dict())
    rows = np.random.default_rng(0).uniform(-1.5, 1.5, (64, 2)).astype(np.float32)
    wanted = plain.predict(student._normaliser(rows), deterministic=True)[0]  # type: ignore[misc]
    acted, _ = student.act(rows, None, np.ones(64, np.bool_))
    np.testing.assert_array_equal(acted, wanted)
    copy = freeze(plain, normaliser=student._normaliser, name=student.card.name)
    assert copy.card.digest == student.card.digest
    box = {"obs[0]": (-0.2, 0.2), "obs[1]": (1.0, 1.0)}
    proof = prove(student, "action[0] > 0", region=box)
    assert proof.result == "PROVED"


def test_discrete_students_learn_from_logits_and_from_choices() -> None:
    graded = sb3.PPO("MlpPolicy", right_by_choice(), seed=1, n_steps=8, batch_size=8, device="cpu")
    with torch.no_grad():
        graded.policy.state_dict()["action_net.weight"].mul_(100.0)
    mixed = (replace(CHOICES[0], policy=freeze(graded)), CHOICES[1])
    net = Net(hidden=(16,), updates=150, batch=64, learning_rate=0.02)
    found = small(mixed, student=net, rounds=2)
    for lesson in found.lessons:
        assert lesson.agreement.same > 0.9
    assert found.rounds[-1].loss < 0.2


def test_a_weight_moves_the_student_towards_its_teacher() -> None:
    blind = [point_spec(right, name=f"test/blind-{at}") for at in range(2)]
    pull = ScriptedLevel(1.0), ScriptedLevel(-1.0)
    found: list[float] = []
    for weights in ((9.0, 1.0), (1.0, 9.0)):
        teachers = [
            Teacher(spec, policy, weight=weight)
            for spec, policy, weight in zip(blind, pull, weights, strict=True)
        ]
        student = small(teachers, rounds=1).student
        acted, _ = student.act(np.array([[0.0, 1.0]] * 64, np.float32), None, np.ones(64, np.bool_))
        found.append(float(acted[0, 0]))
    assert found[0] > found[1] + 0.4


class ScriptedLevel:
    """Always the same action."""

    def __init__(self, level: float) -> None:
        self._level = level
        self.card = PolicyCard(name=f"level {level:g}", digest=f"unknown:{level}", kind="foreign")

    def act(self, observations: Any, state: Any, starts: Any) -> tuple[Any, None]:
        return np.full((len(observations), 1), self._level, np.float32), None


def test_a_teacher_that_cannot_be_named_teaches_and_the_result_says_so() -> None:
    foreign = (replace(SIDES[0], policy=ScriptedLevel(0.5)), SIDES[1])
    found = small(foreign, rounds=1, certify=True, budget=150, plan=PLAN)
    assert found.lessons[0].certified.outcome == "unfit"
    assert "cannot digest" in found.lessons[0].certified.reasons[0]
    assert found.uncertified == ("test/right",)
    assert "teacher not certified, test/right: unfit" in str(found)


def test_the_same_seed_gives_the_same_student_and_another_seed_another() -> None:
    def made(seed: int) -> str:
        return small(seed=seed, student=FAST_NET, **FAST).student.card.digest

    assert made(1) == made(1)
    assert made(2) != made(1)


@pytest.mark.parametrize("student", [FAST_NET, Tree(leaves=6)])
def test_a_killed_distillation_goes_on_bit_by_bit(tmp_path: Path, student: Any) -> None:
    asked: dict[str, Any] = {**FAST, "student": student, "rounds": 4}
    whole = small(**asked)

    def killed(event: Any) -> None:
        if isinstance(event, RoundEnded) and event.number == 2:
            raise KeyboardInterrupt

    def heard(event: Any) -> None:
        if isinstance(event, EpisodesWatched):
            rounds.append(event.number)

    rounds: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        small(**asked, out=tmp_path, listener=killed)
    again = small(**asked, out=tmp_path, resume=True, listener=heard)
    assert rounds == [3, 3, 4, 4]
    assert again.student.card.digest == whole.student.card.digest
    assert again.rounds == whole.rounds
    assert again.chosen == whole.chosen


def test_a_folder_of_another_distillation_is_refused_by_what_differs(tmp_path: Path) -> None:
    def asked(**changes: Any) -> Taught:
        return small(rounds=1, episodes=1, held_out=1, student=FAST_NET, out=tmp_path, **changes)

    asked()
    with pytest.raises(RunFolderError, match="already holds a distillation"):
        asked()
    with pytest.raises(RunFolderError, match=r"^[^ ]* holds another .* seed was 0 and now is 1"):
        asked(seed=1, resume=True)
    state = tmp_path / "state" / "state.json"
    state.write_bytes(state.read_bytes().replace(b'"best":0', b'"best":1'))
    with pytest.raises(PolicyError, match="digest"):
        asked(resume=True)


def test_a_folder_of_other_work_is_left_as_it_is(tmp_path: Path) -> None:
    work = tmp_path / "student" / "thesis.txt"
    work.parent.mkdir()
    work.write_text("years")
    with pytest.raises(RunFolderError, match="already holds student, which would be overwritten"):
        small(out=tmp_path)
    with pytest.raises(RunFolderError, match=r"^[^ ]* holds no distillation to go on with"):
        small(out=tmp_path, resume=True)
    assert work.read_text() == "years"
    assert [each.name for each in tmp_path.iterdir()] == ["student"]


def test_a_teacher_without_a_digest_cannot_be_told_from_another_on_resume(tmp_path: Path) -> None:
    def asked(level: float, **changes: Any) -> Taught:
        teachers = [replace(SIDES[0], policy=Named("a live model", level))]
        return small(teachers, **FAST, student=FAST_NET, out=tmp_path, **changes)

    asked(1.0)
    with pytest.raises(PolicyError, match="no digest names"):
        asked(-1.0, resume=True)


class Named:
    """Always the same action, of which the card says nothing."""

    def __init__(self, name: str, level: float) -> None:
        self._level = level
        self.card = PolicyCard(name=name, digest="unknown:model", kind="foreign")

    def act(self, observations: Any, state: Any, starts: Any) -> tuple[Any, None]:
        return np.full((len(observations), 1), self._level, np.float32), None


def test_a_certification_that_was_killed_goes_on_under_the_cap_it_began_with(
    tmp_path: Path,
) -> None:
    cap, plan = 200, GatePlan(lift=0.7)
    clean = [
        attempt_levels(certification_setting(SIDES[0].scenario, budget=cap, plan=plan).tally(n))
        for n in (2, 3)
    ]
    budget = clean[0]["clean_episodes_needed"]
    assert budget < clean[1]["clean_episodes_needed"]
    asked: dict[str, Any] = {"certify": True, "plan": plan, "budget": budget, "out": tmp_path}

    def killed(event: Any) -> None:
        if isinstance(event, CertificationBegan) and event.whose == "student":
            began.append(event.scenario)
            if len(began) == 2:
                raise KeyboardInterrupt

    began: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        small(**asked, listener=killed)
    again = small(**asked, resume=True)
    assert again.joint.outcome == "certified"
    assert [part.attempt for part in again.joint.parts] == [2, 2]
    for part in again.joint.parts:
        assert run(["audit", "verify", part.folder]) == 0


class Strays:
    """Answers well near its start only."""

    def __init__(self, elsewhere: Any, near: Any) -> None:
        self._elsewhere, self._near = elsewhere, near
        self.card = PolicyCard(name="strays", digest="unknown:x", kind="foreign")

    def act(self, observations: Any, state: Any, starts: Any) -> tuple[Any, None]:
        far = np.abs(observations[:, 0]) > 0.3
        if self._elsewhere is None and far.any():
            raise ZeroDivisionError("nothing is known there")
        shape = (-1, *np.shape(self._near))
        elsewhere = self._near if self._elsewhere is None else self._elsewhere
        chosen = [elsewhere if each else self._near for each in far]
        return np.array(chosen).reshape(shape), None


@pytest.mark.parametrize("student", [Net(hidden=(), updates=60, learning_rate=0.1), Tree(leaves=4)])
@pytest.mark.parametrize(
    ("make", "elsewhere", "near", "match"),
    [
        (right_by_choice, 7, 2, r"acts 7, outside Discrete\(3\)"),
        (right_by_choice, -1, 2, r"acts -1, outside"),
        (right, [50.0], [1.0], r"acts \[50\.\], outside Box"),
        (right, [np.nan], [1.0], r"not finite, at step \d+"),
        (right, None, [1.0], r"raised .* ZeroDivisionError: nothing is known there"),
    ],
)
def test_a_teacher_must_answer_wherever_the_student_goes(
    student: Any, make: Any, elsewhere: Any, near: Any, match: str
) -> None:
    with pytest.raises(PolicyError, match=match):
        small([Teacher(point_spec(make), Strays(elsewhere, near))], student=student)


def test_choices_given_as_truth_values_are_choices() -> None:
    class Yes(ScriptedLevel):
        def act(self, observations: Any, state: Any, starts: Any) -> tuple[Any, None]:
            return observations[:, 0] < 0.9, None

    teacher = Teacher(point_spec(right_by_choice), Yes(1.0))
    found = small([teacher], student=Tree(leaves=4), rounds=1)
    assert found.lessons[0].agreement.same == 1.0


def test_a_tree_of_one_teacher_is_the_one_that_distil_grows() -> None:
    spec = point_spec(right)
    plain = distil(RIGHT, spec, leaves=6, rounds=3, episodes=4, held_out=4)
    found = small([Teacher(spec, RIGHT)], student=Tree(leaves=6))
    assert isinstance(found.student, TreePolicy)
    assert found.student.card.digest == plain.tree.card.digest
    assert [(r.violations[0], r.returned[0]) for r in found.rounds] == [
        (violated, returned) for _, violated, returned in plain.rounds
    ]
    assert found.lessons[0].agreement == plain.agreement


def test_a_tree_of_two_teachers_asks_for_the_side_and_its_trail_holds_it(tmp_path: Path) -> None:
    found = small(
        CHOICES, student=Tree(leaves=8), certify=True, budget=150, plan=PLAN, out=tmp_path
    )
    tree = found.student
    assert isinstance(tree, TreePolicy)
    assert "obs[1]" in tree.text()
    assert found.joint.outcome == "certified"
    trail = Path(found.joint.parts[1].folder)
    assert run(["audit", "verify", str(trail)]) == 0
    (kept,) = (trail / "policies").iterdir()
    assert load_policy(kept).card.digest == tree.card.digest
    other = TreePolicy.load(kept / "tree.json").to_bytes().replace(b"0", b"1", 1)
    (kept / "tree.json").write_bytes(other)
    assert run(["audit", "verify", str(trail)]) == 1


def test_what_was_only_observed_is_said_of_teachers_and_of_the_student() -> None:
    spec = point_spec(right)
    shown = Claim("point.often", prob(spec.claims[0].formula) >= 0.9)
    seen = Claim("point.near", always(abs(PLACE) < 3.0))
    teacher = Teacher(spec, RIGHT, claims=[shown, seen])
    found = small([teacher], certify=True, budget=150, student=Tree(leaves=8))
    assert found.joint.outcome == "certified"
    assert found.joint.observed == ("test/right: point.near",)
    assert found.joint.confidence == found.joint.parts[0].evidence[0].confidence
    assert str(found.joint).endswith("except invariants, observed only: test/right: point.near")
    told = "teacher in part only, test/right: certified except invariants, observed (point.near)"
    assert told in str(found)


def part(outcome: Any, scenario: str = "a") -> Certified:
    return Certified(scenario, "sha256:0", outcome, 1)


@pytest.mark.parametrize(
    ("outcomes", "joint"),
    [
        (["certified", "certified"], "certified"),
        (["certified", "exhausted"], "inconclusive"),
        (["certified", "not asked"], "inconclusive"),
        (["certified", "unrepeatable"], "inconclusive"),
        (["certified", "refuted"], "refuted"),
        (["exhausted", "refuted"], "refuted"),
        (["not asked", "not asked"], "not asked"),
        (["unfit", "unfit"], "inconclusive"),
    ],
)
def test_a_joint_result_is_never_more_than_its_weakest_part(
    outcomes: list[Any], joint: str
) -> None:
    found = Joint(tuple(part(each) for each in outcomes))
    assert found.outcome == joint
    assert (str(found)[:9] == "certified") == (joint == "certified")
    assert found.confidence is None


def test_seeds_that_the_student_was_made_on_may_not_certify_it() -> None:
    setting = certification_setting(SIDES[0].scenario, budget=150, plan=PLAN)
    seed = setting.seeds(RIGHT.card.digest, "certify", 1)(3)
    with pytest.raises(EvidenceError, match="was drawn in this run's training"):
        certify_setting(setting, RIGHT, trained=frozenset([seed]))


class Draws(ScriptedLevel):
    """Draws its actions."""

    def __init__(self) -> None:
        super().__init__(0.0)
        self.card = PolicyCard(name="draws", digest="unknown:x", kind="foreign", mode="sampled")


def test_what_cannot_be_taught_is_refused_before_anything_runs() -> None:
    def refused(error: type[Exception], match: str, teachers: Any, **changes: Any) -> None:
        heard: list[Any] = []
        with pytest.raises(error, match=match):
            small(teachers, listener=heard.append, **changes)
        assert heard == []

    refused(UnsupportedError, "exactly the same spaces", (SIDES[0], CHOICES[1]))
    refused(UnsupportedError, "Two teachers teach test/right", (SIDES[0], SIDES[0]))
    refused(UnsupportedError, "takes a list of teachers", ())
    refused(UnsupportedError, "takes a list of teachers", [RIGHT])
    for weight in (0, 1e308, 5e-324, 10**400, float("nan"), None):
        refused(UnsupportedError, r"from 1e-06 to 1e\+06", [replace(SIDES[0], weight=weight)])
    twins = [replace(SIDES[0], scenario=point_spec(right, horizon=n)) for n in (20, 21)]
    refused(UnsupportedError, "Two variants are called test/right", twins)
    nowhere: Any = None
    refused(UnsupportedError, "a ScenarioSpec first", [Teacher(nowhere, RIGHT)])
    formula: Any = eventually(abs(PLACE) < 1.0)
    for claims in (5, formula, [formula]):
        wrong: Any = replace(SIDES[0], claims=claims)
        refused(UnsupportedError, "takes a list of Claim", [wrong])
    refused(UnsupportedError, "unbounded", [Teacher(point_spec(unbounded), RIGHT)])
    refused(PolicyError, "draws its actions", [Teacher(point_spec(right), Draws())])
    refused(PolicyError, "outside", [Teacher(point_spec(right), ScriptedLevel(7.0))])
    refused(UnsupportedError, r"rounds=0", SIDES, rounds=0)
    refused(UnsupportedError, r"from 1 to 1048576", SIDES, rounds=2**20 + 1)
    refused(UnsupportedError, r"beta=2", SIDES, beta=2)
    refused(UnsupportedError, "write student=Net", SIDES, student=64)
    refused(UnsupportedError, r"seed=-1", SIDES, seed=-1)
    refused(UnsupportedError, "give out=", SIDES, resume=True)
    refused(GateError, "cannot certify: attempt 2", SIDES, certify=True, budget=30, plan=PLAN)
    refused(GateError, "lift", SIDES, certify=True, budget=150)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"hidden": (64, 0)}, "hidden"),
        ({"hidden": (10**9,)}, "from 1 to 4096"),
        ({"hidden": (4096, 4096, 4096)}, "weights between"),
        ({"hidden": (1,) * 65}, "65 layers"),
        ({"batch": 10**13}, "batch"),
        ({"learning_rate": 10**400}, "learning_rate"),
        ({"hidden": 64}, "units of each layer"),
        ({"updates": 0}, "updates"),
        ({"activation": "gelu"}, "tanh"),
        ({"learning_rate": float("nan")}, "learning_rate"),
    ],
)
def test_a_network_that_cannot_be_built_is_refused(changes: dict[str, Any], match: str) -> None:
    with pytest.raises(UnsupportedError, match=match):
        Net(**changes)
