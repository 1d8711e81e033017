"""What `reset(options=...)` may say, what it may not, and how a trace keeps it."""

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenario_models import Walk, follower, walk

from safegym.errors import ScenarioError, TraceError
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs, options_of
from safegym.scenario.record import record
from safegym.scenario.spec import Parameter
from safegym.trace.model import Trace

MASS = Parameter("mass", "kg", 1.0, 2.0, 1.5)
LENGTH = Parameter("length", "m", 0.0, 1.0)
LOSS = Parameter("loss", "1", 0.0, 1.0, 0.0)
GUST = Disturbance("gust", "N", -1.0, 2.0, 3)
WIND = Disturbance("wind", "N", -1.0, 1.0, 2)
INPUTS = Inputs(40, (MASS, LENGTH), (LOSS,), (GUST, WIND))


def draw(options=None, seed=0):
    return INPUTS.draw(np.random.default_rng(seed), options)


def test_parameters_are_drawn_uniformly_faults_rest_and_no_disturbance_is_given():
    drawn = [draw(seed=seed) for seed in range(400)]
    masses = np.array([each.parameters["mass"] for each in drawn])
    assert 1.0 <= masses.min() < 1.05
    assert 1.95 < masses.max() <= 2.0
    assert masses.mean() == pytest.approx(1.5, abs=5 * np.sqrt(1 / 12 / 400))
    assert {each.parameters["loss"] for each in drawn} == {0.0}
    assert all(each.disturbances == {} for each in drawn)
    assert "disturbances" not in drawn[0].info


def test_overriding_one_input_leaves_all_others_as_the_seed_has_them():
    plain = draw().parameters
    for name, value in (("mass", 1.25), ("length", 0.5), ("loss", 0.75)):
        changed = draw({"parameters": {name: value}}).parameters
        assert changed == {**plain, name: value}


def test_given_pieces_arrive_exactly_as_floats_from_lists_tuples_and_arrays():
    for values in ([1, 0.1, -1], (1, 0.1, -1), np.array([1.0, 0.1, -1.0])):
        drawn = draw({"disturbances": {"gust": values}})
        assert drawn.disturbances == {"gust": (1.0, 0.1, -1.0)}
        assert drawn.info["disturbances"] == {"gust": [1.0, 0.1, -1.0]}
        assert all(type(value) is float for value in drawn.disturbances["gust"])


def test_drawn_pieces_lie_in_their_range_and_given_ones_do_not_move_the_others():
    def pieces(options=None):
        generator = np.random.default_rng(3)
        return INPUTS.draw_pieces(generator, INPUTS.draw(generator, options)).disturbances

    plain = pieces()
    assert all(-1.0 <= value <= 2.0 for value in plain["gust"])
    assert len(plain["wind"]) == 2
    assert pieces({"disturbances": {"gust": [0, 0, 0]}}) == {**plain, "gust": (0.0, 0.0, 0.0)}


def test_the_names_of_a_trace_are_taken_among_the_parameters():
    recorded = {"mass": 1.5, "gust[0]": 1.0, "gust[1]": 2.0, "gust[2]": -1.0}
    drawn = draw({"parameters": recorded})
    assert drawn.parameters["mass"] == 1.5
    assert "gust[0]" not in drawn.parameters
    assert drawn.disturbances == {"gust": (1.0, 2.0, -1.0)}


LINE = r'reset\(options=\{"disturbances": \{"gust": \[0\] \* 3\}\}\)'


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parameter": {}}, "no option 'parameter'; a reset takes parameters, disturbances, dist"),
        (
            {"parameters": {"mas": 1.0}},
            r"no parameter 'mas'; did you mean mass\? For example reset",
        ),
        ({"parameters": {"mass": 2.5}}, r"mass = 2.5 kg lies outside \[1, 2\] kg; .*\"mass\": 1.5"),
        ({"parameters": {"mass": float("nan")}}, "mass = nan kg lies outside"),
        ({"parameters": {"mass": "1.5"}}, "mass is '1.5'; give a number in kg"),
        ({"parameters": {"mass": True}}, "mass is True; give a number in kg"),
        ({"parameters": {"mass": None}}, "mass is None; give a number in kg"),
        ({"parameters": [1.0]}, r"options\['parameters'\] is \[1.0\]; write a mapping"),
        ({"disturbances": {"gist": [0] * 3}}, "no disturbance 'gist'; did you mean gust.*" + LINE),
        ({"disturbances": {"mass": [0] * 3}}, "no disturbance 'mass'; did you mean"),
        ({"disturbances": {"gust": [0, 0]}}, "gust has 3 pieces, found 2; give one.*" + LINE),
        ({"disturbances": {"gust": []}}, "gust has 3 pieces, found 0"),
        ({"disturbances": {"gust": [0] * 4}}, "gust has 3 pieces, found 4"),
        ({"disturbances": {"gust": [[0], [0], [0]]}}, "gust has 3 pieces, found no flat list"),
        ({"disturbances": {"gust": 1.0}}, "gust is 1.0; give one number in N for each.*" + LINE),
        ({"disturbances": {"gust": "abc"}}, "gust is 'abc'; give one number in N"),
        (
            {"disturbances": {"gust": [0, 0, 3]}},
            r"gust\[2\] = 3 N lies outside \[-1, 2\] N.*" + LINE,
        ),
        ({"disturbances": {"gust": [0, float("nan"), 0]}}, r"gust\[1\] = nan N lies outside"),
        ({"disturbances": {"gust": [float("inf"), 0, 0]}}, r"gust\[0\] = inf N lies outside"),
        ({"disturbances": {"gust": [0, None, 0]}}, r"gust\[1\] is None; give a number in N"),
        ({"parameters": {"gust[0]": 1.0}}, r"3 pieces, and gust\[1\] is not given; give all"),
        (
            {
                "parameters": {"wind[0]": 0.0, "wind[1]": 0.0},
                "disturbances": {"wind": [0.0, 0.0]},
            },
            "wind is given twice",
        ),
    ],
)
def test_a_wrong_option_is_refused_with_the_line_that_works(options, message):
    with pytest.raises(ScenarioError, match=message):
        draw(options)


def test_inputs_that_a_scenario_does_not_have_are_refused_in_so_many_words():
    none = Inputs(40)
    generator = np.random.default_rng(0)
    assert none.draw(generator, {}).parameters == {}
    with pytest.raises(ScenarioError, match="the scenario declares none; leave options"):
        none.draw(generator, {"parameters": {"mass": 1.0}})
    with pytest.raises(ScenarioError, match="the scenario declares none; leave options"):
        none.draw(generator, {"disturbances": {"gust": [1.0]}})


LONG = Disturbance("gust", "N", -1.0, 1.0, 40)
LONG_INPUTS = Inputs(40, disturbances=(LONG,))


class Blown(Walk):
    """Tells the recorder what it was given."""

    def reset(self, *, seed=None, options=None):
        observation, _ = super().reset(seed=seed)
        return observation, LONG_INPUTS.draw(self.np_random, options).info


def test_the_recorder_keeps_disturbances_whole_and_exact():
    values = np.random.default_rng(0).uniform(-1, 1, 40).tolist()
    assert len(repr(values)) > 500
    options = {"disturbances": {"gust": values}}
    for make_env in (Blown, Walk):  # told by info, or by the options alone
        trace = record(walk(make_env, disturbances=(LONG,)), follower(), 7, options=options)
        assert [trace.parameters[f"gust[{piece}]"] for piece in range(40)] == values
        assert [event for event in trace.events if event.kind == "option"] == []
        again = Trace.from_text(trace.to_text())
        assert again == trace
        assert options_of(again)["disturbances"] == {"gust": values}
        assert trace.validate() == ()


def test_disturbances_are_in_the_digest_of_the_trace():
    one, other = ({"disturbances": {"gust": [value] * 40}} for value in (0.5, 0.5 + 2**-52))
    spec = walk(Blown, disturbances=(LONG,))
    assert record(spec, follower(), 7, options=one) != record(spec, follower(), 7, options=other)
    assert record(spec, follower(), 7, options=one) == record(spec, follower(), 7, options=one)


@pytest.mark.parametrize("bad", [3, [1.0], {"gust": 1.0}])
def test_the_recorder_refuses_disturbances_that_are_no_lists_by_name(bad):
    from safegym.trace.model import Clock
    from safegym.trace.record import Recorder

    class Silent(Walk):
        def reset(self, *, seed=None, options=None):
            return super().reset(seed=seed)

    recorder = Recorder(
        Silent(), layout={"level": ()}, clock=Clock.parse("0.1"), read_signals=lambda e: (e.level,)
    )
    assert isinstance(recorder, gym.Env)
    with pytest.raises(TraceError, match="write a list of numbers for each name"):
        recorder.reset(seed=7, options={"disturbances": bad})


def test_options_of_a_trace_without_disturbances_have_none():
    spec = walk(parameters=(Parameter("mass", "kg", 1.0, 2.0),))
    trace = record(spec, follower(), 7, options={"parameters": {"mass": 1.5}})
    assert options_of(trace) == {"parameters": {"mass": 1.5}, "disturbance_seed": 0}


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["loss", "length"]), st.floats(0.0, 1.0)),
    st.dictionaries(
        st.just("gust"), st.lists(st.floats(-1.0, 2.0), min_size=3, max_size=3), max_size=1
    ),
)
def test_what_was_drawn_is_what_its_own_telling_draws_again(parameters, disturbances):
    first = draw({"parameters": parameters, "disturbances": disturbances})
    nested = draw({**first.info, "disturbance_seed": 3}, seed=9)
    pieces = {
        name: value
        for channel in (GUST, WIND)
        for name, value in zip(
            channel.piece_names, first.disturbances.get(channel.name, ()), strict=False
        )
    }
    flat = draw({"parameters": {**first.parameters, **pieces}}, seed=9)
    assert first == nested == flat
    assert {key: first.parameters[key] for key in parameters} == parameters


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"parameters": {"mess": 1.5}}, "There is no parameter 'mess'; did you mean mass"),
        ({"parameters": {"mass": 2.5}}, r"Parameter mass = 2\.5 kg lies outside \[1, 2\] kg"),
        ({"parameters": {"mass": "1.5"}}, "Parameter mass is '1.5'; give a number in kg"),
        ({"disturbances": {"gust": [0.0]}}, "There is no disturbance 'gust'"),
        ({"paramters": {}}, "There is no option 'paramters'"),
        ({"disturbance_seed": 1.5}, "disturbance_seed must be a whole number >= 0, found 1.5"),
        ([1], "options= is \\[1\\]; write a mapping"),
    ],
)
def test_a_recording_refuses_options_that_the_scenario_does_not_declare(options, said):
    """Walk takes whatever it is given, so that nobody else would refuse them."""
    spec = walk(parameters=(Parameter("mass", "kg", 1.0, 2.0),))
    with pytest.raises(ScenarioError, match=said):
        record(spec, follower(), 7, options=options)


def test_further_options_are_taken_where_the_scenario_names_them():
    trace = record(walk(options=("level",)), follower(), 7, options={"level": 3})
    assert [event.detail for event in trace.events if event.kind == "option"] == ["level=3"]


class Partial(Walk):
    """Tells one of the two parameters that it was given."""

    def reset(self, *, seed=None, options=None):
        observation, _ = super().reset(seed=seed)
        return observation, {"parameters": {"mass": 1.5}}


MASS_AND_DRAG = (Parameter("mass", "kg", 1.0, 2.0), Parameter("drag", "N", 0.0, 1.0))


def test_a_trace_tells_what_was_given_even_where_the_environment_does_not():
    spec = walk(Partial, parameters=MASS_AND_DRAG)
    trace = record(spec, follower(), 7, options={"parameters": {"mass": 1.5, "drag": 0.25}})
    assert dict(trace.parameters) == {"mass": 1.5, "drag": 0.25}


def test_a_recording_whose_environment_had_other_inputs_is_refused():
    spec = walk(Partial, parameters=MASS_AND_DRAG)
    with pytest.raises(ScenarioError, match=r"mass = 1\.25, and the episode says it had 1\.5"):
        record(spec, follower(), 7, options={"parameters": {"mass": 1.25}})
