"""What `verify` finds wrong, one fault at a time, and what it says of a scenario that counts."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from typer.testing import CliRunner

from safegym.check.controls import Outcome, verify
from safegym.check.controls.declared import shortcomings
from safegym.check.controls.outcome import bar
from safegym.cli import scenarios, scenarios_verify
from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.inputs import Inputs
from safegym.scenario.registry import find
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym.scenario.verified import Separation
from safegym.trace.model import Clock

PLACE = Signal("place", unit="m", bounds=(-50.0, 50.0))
START = Parameter("start", "m", -1.0, 1.0, role="initial")
INPUTS = Inputs(30, (START,))
INSIDE = Claim(
    id="slide.inside", statement=always(abs(PLACE) <= 3.0), hazard="falls", source="edge"
)
ARRIVE = Claim(
    id="slide.arrive", statement=eventually(PLACE >= 2.0), hazard="late", source="chosen"
)


class Slide(gym.Env):
    """A slider on a table; it does what it declares."""

    observation_space = gym.spaces.Box(-60.0, 60.0, (1,), np.float32)
    action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        drawn = INPUTS.draw(self.np_random, options)
        self.place = drawn.parameters["start"]
        return self.seen(), drawn.info

    def step(self, action):
        self.place += 0.2 * float(action[0])
        return self.seen(), self.place, False, False, {}

    def seen(self):
        return np.array([self.place], np.float32)


def read(env):
    return (env.place,)


def to(place):
    return lambda seen: np.clip(place - seen, -1.0, 1.0).astype(np.float32)


def careful():
    return ScriptedPolicy("slide.careful", to(2.5))


def heedless():
    return ScriptedPolicy("slide.heedless", to(9.0))


def idle():
    return ScriptedPolicy("slide.idle", lambda seen: 0.0 * seen)


def slide(make_env=Slide, **more):
    fields = {
        "name": "test/slide-v0",
        "summary": "A slider.",
        "make_env": make_env,
        "read_signals": read,
        "signals": (PLACE,),
        "clock": Clock("0.1"),
        "horizon": 30,
        "claims": (INSIDE, ARRIVE),
        "parameters": (START,),
        "good": careful,
        "bad": {"slide.inside": heedless, "slide.arrive": idle},
        "physics": ("gymnasium",),
    }
    return ScenarioSpec(**{**fields, **more})


def test_a_scenario_that_counts_is_verified_with_its_counts():
    outcome = verify(slide(), seeds=8)
    assert outcome.issues == ()
    assert outcome.good == outcome.seeds == 8
    assert outcome.claims == (
        Separation("slide.inside", 8, 8, "slide.heedless"),
        Separation("slide.arrive", 8, 8, "slide.idle"),
    )
    assert outcome.worst_bad == 8
    assert 0.0 < outcome.cpu_seconds
    assert Outcome(outcome.name).to_json().keys() == outcome.to_json().keys()


def rarely():
    """Pushes over the edge only from where few seeds start."""
    return ScriptedPolicy("slide.rarely", lambda seen: np.where(seen > 0.9, 1.0, 0.0 * seen))


def test_briefly_a_bad_policy_runs_only_until_it_breaks_what_it_is_meant_to():
    brief, whole = (verify(slide(), seeds=8, brief=each) for each in (True, False))
    assert [row.violated for row in brief.claims] == [5, 5]
    assert [row.violated for row in whole.claims] == [8, 8]
    assert (brief.verified, whole.verified) == (True, True)
    seldom = slide(bad={"slide.inside": rarely, "slide.arrive": idle})
    counts = [verify(seldom, brief=each).claims[0].violated for each in (True, False)]
    assert counts == [1, 1]  # seed 10 alone starts there, so all were run
    assert verify(seldom, seeds=5, brief=True).claims[0].violated == 0


class Deaf(Slide):
    """Always starts in one place, whatever is asked for."""

    def reset(self, *, seed=None, options=None):
        _, info = super().reset(seed=seed, options=options)
        self.place = 0.0
        return self.seen(), info


class Stale(Slide):
    """Remembers how often it was reset."""

    count = 0

    def reset(self, *, seed=None, options=None):
        _, info = super().reset(seed=seed, options=options)
        self.count += 1
        self.place += 1e-9 * self.count
        return self.seen(), info


class Broken(Slide):
    """Loses its numbers on the way."""

    def step(self, action):
        found = super().step(action)
        if self.place > 2.0:
            self.place = float("nan")
        return found


class Wide(Slide):
    """Shows more than it declares."""

    def seen(self):
        return np.array([100.0 * self.place + 1e4], np.float32)


class Heated(Slide):
    """Fails to begin."""

    def reset(self, *, seed=None, options=None):
        raise RuntimeError("too hot to start")


TIGHT = replace(INSIDE, statement=always(abs(PLACE) <= 2.2))
LOOSE = replace(INSIDE, statement=always(abs(PLACE) <= 45.0))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"claims": (TIGHT, ARRIVE)},
            "The good policy satisfies all claims on 0 of 8 seeds, needed are 8 (satisfied: "
            "slide.inside 0; slide.inside not on seeds 0, 1, 2, 3, 4, 5).",
        ),
        (
            {"claims": (LOOSE, ARRIVE)},
            "The bad policy slide.heedless violates slide.inside on none of 8 seeds",
        ),
        ({"claims": (INSIDE,), "bad": {"slide.inside": heedless}}, "It has 1 claims; a scenario"),
        ({"claims": (replace(INSIDE, hazard=""), ARRIVE)}, "Claim slide.inside has no hazard"),
        ({"claims": (INSIDE, replace(ARRIVE, source=" "))}, "Claim slide.arrive has no source"),
        (
            {"claims": (INSIDE, replace(INSIDE, id="slide.arrive"))},
            "Claims slide.inside and slide.arrive state the same",
        ),
        ({"summary": ""}, "It has no summary"),
        ({"good": None}, "There is no good policy"),
        ({"make_env": Deaf}, "8 seeds give 1 different episodes; draw more"),
        ({"make_env": Deaf}, "Moving start from -1 to 1 m changes no signal"),
        ({"make_env": Stale}, "A seed does not decide the episode of slide.careful: "),
        ({"make_env": Broken}, "8 of 8 episodes of the good policy were interrupted; seed 0 at "),
        ({"make_env": Wide}, "The first observation lies outside the space"),
        ({"make_env": Heated}, "RuntimeError: too hot to start"),
        (
            {"signals": (Signal("place", unit="m", bounds=(-1.0, 1.0)),)},
            "declared otherwise than by the scenario",
        ),
        (
            {"bad": {"slide.inside": heedless, "slide.arrive": lambda: heedless_named("careful")}},
            "The policies for good and slide.arrive are both 'slide.careful' with one digest, and "
            "act differently; give each behaviour a name of its own.",
        ),
    ],
)
def test_each_thing_that_is_wrong_is_told(change, said):
    issues = verify(slide(**change), seeds=8).issues
    assert any(said in issue for issue in issues), issues


def heedless_named(name):
    return ScriptedPolicy(f"slide.{name}", to(9.0))


def bold():
    """Good but for a start far to the left, from which it goes over the edge."""
    return ScriptedPolicy("slide.bold", lambda seen: np.where(seen < -0.8, -1.0, to(2.5)(seen)))


def as_bold():
    return ScriptedPolicy("slide.as_bold", lambda seen: bold().act(seen, None, None)[0])


@pytest.mark.parametrize("bad", [bold, as_bold])
def test_a_bad_policy_that_is_as_good_as_the_good_one_does_not_count(bad):
    same = slide(good=bold, bad={"slide.inside": bad, "slide.arrive": idle})
    for brief in (False, True):
        outcome = verify(same, brief=brief)
        assert outcome.good == 19
        assert outcome.issues == (
            f"The bad policy {bad().card.name} violates slide.inside on 1 of 20 seeds, and the "
            "good one on 1: they do not differ in it.",
        )


def test_an_episode_that_came_out_otherwise_in_another_process_is_told():
    (issue,) = verify(slide(), seeds=3, elsewhere={"test/slide-v0": "sha256:12"}).issues
    assert issue.startswith("A seed does not decide the episode: seed 0 comes out otherwise in ano")
    assert verify(slide(), seeds=3, elsewhere={"test/slide-v0": ""}).verified


counted = iter(range(10**9))


def test_the_episodes_of_a_bad_policy_are_decided_by_their_seeds_too():
    moody = ScriptedPolicy("slide.moody", lambda seen: 0.0 * seen + next(counted) % 7 / 7.0)
    bad = {"slide.inside": lambda: moody, "slide.arrive": idle}
    issues = verify(slide(bad=bad), seeds=6).issues
    assert any("does not decide the episode of slide.moody" in issue for issue in issues)


def test_signals_outside_their_bounds_are_told():
    narrow = Signal("place", unit="m", bounds=(-1.0, 1.0))
    claims = (
        replace(INSIDE, statement=always(abs(narrow) <= 3.0)),
        replace(ARRIVE, statement=eventually(narrow >= 2.0)),
    )
    (issue,) = verify(slide(signals=(narrow,), claims=claims), seeds=8).issues
    assert issue.startswith("Signal place lies in [")
    assert issue.endswith("] m on seed 0, outside its bounds (-1.0, 1.0).")


def test_one_seed_in_twenty_may_fail():
    assert [bar(seeds) for seeds in (1, 8, 19, 20, 40, 100)] == [1, 8, 19, 19, 38, 95]


def test_an_unknown_scenario_is_an_issue_of_its_own():
    (issue,) = verify("classic/cartpol-v0").issues
    assert "did you mean classic/cartpole-v0" in issue


OUTCOMES = (
    Outcome("a/one-v0", good=20, claims=(Separation("a.x", 20, 13, "p"),), cpu_seconds=1.0),
    Outcome("a/two-v0", good=7, issues=("It is off.", "It is late."), cpu_seconds=2.5),
    Outcome("b/three-v0", "envpool", good=20, cpu_seconds=0.5),
)


def test_the_summary_counts_packs_apart():
    told = scenarios_verify.summary(OUTCOMES, 12.3)
    assert told == ("1 of 2 core scenarios, 1 of 1 envpool scenarios verified in 12 s (CPU 4 s)")
    few = scenarios_verify.summary([replace(OUTCOMES[0], seeds=1)], 2.0)
    assert few == "1 of 1 core scenarios verified on 1 seed in 2 s (CPU 1 s)"


@pytest.fixture
def verified(monkeypatch):
    """Lets a test say what verification finds."""

    def give(*outcomes):
        monkeypatch.setattr(
            "safegym.check.controls.verify_all", lambda names, **more: outcomes[: len(names)]
        )

    return give


def run(*words):
    return CliRunner().invoke(scenarios.app, ["verify", *words])


def test_the_command_exits_with_0_only_if_all_pass(verified):
    verified(*OUTCOMES)
    found = run("chain/plant-v0")
    assert found.exit_code == 0
    assert "1 of 1 core scenarios verified in 0 s (CPU 1 s)" in found.output
    found = run("chain/plant-v0", "classic/pendulum-v0")
    assert found.exit_code == 1
    assert "a/two-v0: It is off.\na/two-v0: It is late.\n" in found.output


def test_the_command_runs_a_real_scenario_in_a_process_of_its_own():
    found = run("chain/plant-v0", "--workers", "1", "--seeds", "4", "--json")
    assert found.exit_code == 0, found.output
    assert '"core": 1,\n  "core_verified": 1,' in found.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["chain/plan-v0"], "did you mean chain/plant-v0"),
        (["--all", "--brief", "--write-table"], "The table holds counts of 20 seeds"),
        ([], "Name scenarios, or pass --all or --family NAME."),
        (["--family", "chian"], "no scenario of family 'chian'; its families are arm, "),
        (["--all", "--pack", "coer"], "There is no pack 'coer'; installed are "),
    ],
)
def test_what_cannot_be_chosen_is_refused(words, said):
    found = run(*words)
    assert found.exit_code == 1
    assert said in str(found.exception)


def test_a_text_that_was_drafted_and_not_edited_does_not_count():
    spec = find("chain/plant-v0")
    drafted = replace(spec.claims[0], hazard="EDIT: what happens")
    issues = list(shortcomings(replace(spec, claims=(drafted, *spec.claims[1:]))))
    assert any("still says EDIT, as it was drafted" in issue for issue in issues)
    assert not any("EDIT" in issue for issue in shortcomings(spec))
