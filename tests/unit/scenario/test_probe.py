"""The probe finds each way in which a scenario does otherwise than it declares."""

from dataclasses import replace

import pytest
from scenario_models import Walk, walk
from typer.testing import CliRunner

from safegym.cli import scenarios
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Drawn, Inputs
from safegym.scenario.model import DifferentiableModel
from safegym.scenario.probe import probe
from safegym.scenario.registry import find
from safegym.scenario.spec import Parameter

HEIGHT = Parameter("height", "m", 1.0, 2.0, 1.5)
SLIP = Parameter("slip", "m", 0.0, 0.5, 0.0)
WIND = Disturbance("wind", "m", -1.0, 1.0, 4)
INPUTS = Inputs(40, (HEIGHT,), (SLIP,), (WIND,))


class Blown(Walk):
    """A walk that starts at a height, slips each step, and is blown; it does what it declares."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed % 6 + 1)  # never the long walk
        drawn = self.drawn(options)
        self.slip = drawn.parameters["slip"]
        self.wind = drawn.schedule("wind") or (0.0,) * 40
        self.level += drawn.parameters["height"]
        return self._seen(), self.told(drawn)

    def drawn(self, options):
        return INPUTS.draw(self.np_random, options)

    def told(self, drawn):
        return drawn.info

    def step(self, action):
        self.level += self.wind[min(self.count, 39)] + self.slip
        return super().step(action)


def blown(make_env=Blown, **more):
    declared = {"parameters": (HEIGHT,), "faults": (SLIP,), "disturbances": (WIND,)}
    return walk(make_env, **{**declared, **more})


def test_a_scenario_that_does_what_it_declares_has_no_issues():
    assert probe(blown()) == []


def test_progress_counts_every_check():
    seen = []
    probe(blown(), progress=lambda done, checks: seen.append((done, checks)))
    assert seen == [(step, 5) for step in range(5)]


def test_a_declaration_with_issues_is_not_run():
    issues = probe(blown(parameters=(replace(HEIGHT, low=3.0),)))
    assert len(issues) == 1
    assert "must be finite, low <= high" in issues[0]


class Deaf(Blown):
    """Takes a height and does nothing with it."""

    def drawn(self, options):
        drawn = super().drawn(options)
        return Drawn({**drawn.parameters, "height": 1.5}, drawn.disturbances, 40)

    def told(self, drawn):
        return {**drawn.info, "parameters": {**drawn.parameters, "height": self.asked}}

    def reset(self, *, seed=None, options=None):
        self.asked = (options or {}).get("parameters", {}).get("height", 1.5)
        return super().reset(seed=seed, options=options)


class Silent(Blown):
    def told(self, drawn):
        return {"parameters": {"slip": self.slip}, **({"disturbances": {}})}


class Careless(Blown):
    """Takes whatever it is given."""

    def drawn(self, options):
        given = (options or {}).get("parameters", {})
        pieces = (options or {}).get("disturbances", {})
        values = {"height": float(self.np_random.uniform(1.0, 2.0)), "slip": 0.0, **given}
        return Drawn(values, {k: tuple(v) for k, v in pieces.items()}, 40)


class Abrupt(Blown):
    """Refuses with an error of another kind."""

    def drawn(self, options):
        if "no_such_input" in (options or {}).get("parameters", {}):
            raise KeyError("no_such_input")
        return super().drawn(options)


class Faulty(Blown):
    """Slips without being asked."""

    def drawn(self, options):
        drawn = super().drawn(options)
        return Drawn({**drawn.parameters, "slip": 0.25}, drawn.disturbances, 40)


class Restless(Blown):
    """Draws more when it is given more, so that its own trace does not bring an episode back."""

    def drawn(self, options):
        if options:
            self.np_random.normal()
        return super().drawn(options)


@pytest.mark.parametrize(
    ("make_env", "issues"),
    [
        (Deaf, ["Moving height from 1 to 2 m changes no signal on seeds 0, 1, 2, 3; act on it"]),
        (
            Silent,
            [
                'The trace does not tell height; return it in the info of reset: {"parameters"',
                "height was given as 1 m, and reset tells nothing",
                "wind[0] was given as -1 m, and reset tells nothing",
            ],
        ),
        (
            Careless,
            [
                "Parameter 'no_such_input' is taken without a word; refuse it with a ScenarioError",
                "height = nan is taken without a word",
                "height = 4 is taken without a word",
                "Disturbance 'no_such_input' is taken without a word",
                "wind with a piece too many is taken without a word",
                "wind with a piece of nan is taken without a word",
                "wind with a piece of 2 is taken without a word",
            ],
        ),
        (Abrupt, ["Parameter 'no_such_input' raises KeyError ('no_such_input'), not a Scenario"]),
        (
            Faulty,
            [
                "Fault slip is 0.25 without being asked for, not 0",
                "slip was given as 0 m, and reset tells 0.25",
                "Moving slip from 0 to 0.5 m changes no signal",
            ],
        ),
        (Restless, ["Seed 0 with the inputs that its own trace tells gives another episode: sig"]),
    ],
)
def test_each_way_to_do_otherwise_is_told(make_env, issues):
    found = probe(blown(make_env))
    for issue in issues:
        assert any(issue in each for each in found), (issue, found)


def test_an_input_that_is_refused_at_its_own_end_is_told():
    wider = replace(HEIGHT, high=3.0)
    found = probe(blown(parameters=(wider,)))
    assert len(found) == 1
    assert found[0].startswith("height at an end of its range was refused: ")
    assert "Parameter height = 3 m lies outside [1, 2] m" in found[0]


def test_a_model_that_is_off_is_told_by_how_much():
    model = DifferentiableModel(
        start=lambda xp, parameters: (0.0,),
        step=lambda xp, state, *rest: state,
        signals=lambda xp, state: state,
        observe=lambda xp, state: state,
    )
    found = probe(blown(model=model))
    assert len(found) == 1
    assert found[0].startswith("The model gives signal level up to ")


def test_an_input_of_one_value_need_not_matter():
    fixed = replace(HEIGHT, low=1.5, high=1.5)

    class Fixed(Blown):
        def drawn(self, options):
            return Inputs(40, (fixed,), (SLIP,), (WIND,)).draw(self.np_random, options)

    assert probe(blown(Fixed, parameters=(fixed,))) == []


def test_the_command_says_what_the_probe_found(monkeypatch):
    name = "classic/pendulum-v0"
    runner = CliRunner()
    found = runner.invoke(scenarios.app, ["check", name])
    assert (found.exit_code, found.output) == (0, f"{name}: as declared\n")
    monkeypatch.setattr(
        "safegym.scenario.probe.probe", lambda spec, progress: ["Something is off."]
    )
    found = runner.invoke(scenarios.app, ["check", name])
    assert (found.exit_code, found.output) == (1, f"Something is off.\n{name}: 1 issue\n")
    found = runner.invoke(scenarios.app, ["check", name, "--json"])
    assert found.exit_code == 1
    assert '"issues": [\n    "Something is off."\n  ]' in found.output
    assert find(name).digest in found.output
