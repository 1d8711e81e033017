"""The recorder: what a trace holds, how it ends, and what survives a misbehaving environment."""

import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.classic_control.cartpole import CartPoleEnv
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from safegym.errors import TraceError
from safegym.trace import Clock, Event, Trace
from safegym.trace.record import Recorder

CLOCK = Clock.parse("0.1")


class Scripted(gym.Env):
    """Counts steps; `script` maps a step to what deviates there. Writes into its own buffers."""

    def __init__(self, script=None, *, end=None, space=None):
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)
        self.action_space = space or gym.spaces.Box(-1, 1, (2,), np.float32)
        self.script = script or {}
        self.end = end
        self.buffer = np.zeros(2, dtype=np.float32)
        self.place = np.zeros(3)
        self.closed = 0
        self.first_info = {}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.k = 0
        return self._observe(), dict(self.first_info)

    def _observe(self):
        self.buffer[:] = self.script.get(("observation", self.k), self.k)
        self.place[:] = self.script.get(("place", self.k), self.k)
        self.x = self.script.get(("x", self.k), float(self.k))
        return self.buffer

    def step(self, action):
        self.k += 1
        if ("raise", self.k) in self.script:
            raise self.script["raise", self.k]
        observation = self._observe()
        info = dict(self.script.get(("info", self.k), {}))
        ended = self.end is not None and self.k >= self.end[0]
        terminated = ended and "terminated" in self.end[1:]
        truncated = ended and "truncated" in self.end[1:]
        reward = self.script.get(("reward", self.k), 1.0)
        return observation, reward, terminated, truncated, info

    def close(self):
        self.closed += 1


def recorder(script=None, *, end=None, space=None, vector=False, **options):
    layout = {"x": (), "p": (3,)} if vector else {"x": ()}
    read = (lambda env: (env.x, env.place)) if vector else (lambda env: (env.x,))
    defaults = {"layout": layout, "read_signals": read, "clock": CLOCK}
    return Recorder(Scripted(script, end=end, space=space), **{**defaults, **options})


def play(env, steps=100, action=None, **reset):
    env.reset(**reset)
    action = np.zeros(2, dtype=np.float32) if action is None else action
    for _ in range(steps):
        *_, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            break
    return env.trace


def test_sample_t_is_the_terminal_observation():
    trace = play(recorder(end=(3, "terminated"), terminals={"terminated": "failed"}))
    assert trace.signals["x"].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert trace.rewards.tolist() == [1.0, 1.0, 1.0]
    assert trace.steps == 3
    assert trace.end.kind == "failed"
    assert trace.end.time == 0.3
    assert trace.validate() == ()


@pytest.mark.parametrize("script", [{}, {("x", 2): np.nan}, {("observation", 2): np.inf}])
def test_a_recorded_episode_has_no_gaps_whatever_happened(script):
    """What is not finite cuts the trace; it is never made a gap."""
    for trace in (
        play(recorder(script, end=(4, "truncated"))),
        play(recorder(script, vector=True, end=(4, "truncated"), keep_observations=True)),
    ):
        assert trace.gaps == ()
        assert trace.unseen == {}
        assert trace.resampling == {}
        assert trace.end.kind == "interrupted"
        assert Trace.from_json(trace.to_json()) == trace


@pytest.mark.parametrize(
    ("options", "kind", "reason"),
    [
        ({"end": (3, "terminated"), "terminals": {"terminated": "failed"}}, "failed", "terminated"),
        (
            {"end": (3, "terminated"), "terminals": {"terminated": "absorbed"}},
            "absorbed",
            "terminated",
        ),
        ({"end": (3, "terminated")}, "interrupted", "undeclared terminal: terminated"),
        ({"end": (3, "truncated")}, "interrupted", "truncated by the environment"),
        ({"end": (3, "truncated"), "horizon": 3}, "horizon", "horizon"),
        ({"end": (3, "truncated"), "horizon": 4}, "interrupted", "truncated by the environment"),
        ({"limit": 3, "horizon": 3}, "horizon", "horizon"),
        ({"limit": 3, "horizon": 2}, "horizon", "horizon"),
        ({"limit": 3, "horizon": 5}, "interrupted", "limit of 3 steps"),
        ({"limit": 3}, "interrupted", "limit of 3 steps"),
        (
            {
                "limit": 3,
                "horizon": 3,
                "end": (3, "terminated"),
                "terminals": {"terminated": "failed"},
            },
            "failed",
            "terminated",
        ),
        (
            {
                "limit": 9,
                "horizon": 2,
                "end": (3, "terminated", "truncated"),
                "terminals": {"terminated": "absorbed"},
            },
            "absorbed",
            "terminated",
        ),
    ],
)
def test_the_end_kind_follows_the_declarations(options, kind, reason):
    trace = play(recorder(**options))
    assert (trace.steps, trace.end.kind, trace.end.reason) == (3, kind, reason)
    assert trace.horizon == options.get("horizon")


def test_the_environment_names_its_terminal():
    script = {("info", 2): {"terminal": "goal"}}
    options = {"terminals": {"goal": "absorbed", "crash": "failed"}, "end": (2, "terminated")}
    assert play(recorder(script, **options)).end.kind == "absorbed"
    script = {("info", 2): {"terminal": "fire"}}
    end = play(recorder(script, **options)).end
    assert (end.kind, end.reason) == ("interrupted", "undeclared terminal: fire")


def test_reaching_the_limit_truncates_and_nothing_else_changes():
    env = recorder(limit=2, horizon=2)
    observation, info = env.reset(seed=3)
    assert observation is env.unwrapped.buffer
    assert info == {}
    assert env.step(np.zeros(2))[2:4] == (False, False)
    assert env.step(np.zeros(2))[2:4] == (False, True)


def test_stepping_on_after_the_end_is_refused():
    env = recorder(limit=1)
    with pytest.raises(TraceError, match=r"No episode is open. Call reset\(\)"):
        env.step(np.zeros(2))
    play(env)
    with pytest.raises(TraceError, match="the last one ended: interrupted"):
        env.step(np.zeros(2))


def test_buffers_that_the_environment_or_the_caller_reuses_do_not_leak():
    action = np.zeros(2, dtype=np.float32)
    env = recorder(limit=3, vector=True, keep_observations=True)
    env.reset()
    for k in range(3):
        action[:] = k
        env.step(action)
    action[:] = 99
    trace = env.trace
    assert trace.observations.tolist() == [[k, k] for k in range(4)]
    assert trace.signals["p"].tolist() == [[k, k, k] for k in range(4)]
    assert trace.actions.tolist() == [[k, k] for k in range(3)]
    assert trace.actions.dtype == trace.observations.dtype == np.float32


@pytest.mark.parametrize("one", [1, np.int64(1), np.array(1)])
def test_discrete_actions_are_kept_as_whole_numbers(one):
    trace = play(recorder(limit=3, space=gym.spaces.Discrete(2)), action=one)
    assert trace.actions.tolist() == [1, 1, 1]
    assert trace.actions.dtype == np.int64


def test_dictionary_spaces_are_recorded_flat():
    space = gym.spaces.Dict({"a": gym.spaces.Discrete(2), "b": gym.spaces.Box(-1, 1, (2,))})
    trace = play(recorder(limit=2, space=space), action={"a": 1, "b": np.array([0.5, -0.5])})
    assert trace.actions.tolist() == [[0, 1, 0.5, -0.5]] * 2


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    ("place", "name"),
    [
        (("x", 3), "Signal x is not finite at sample 3"),
        (("place", 3), "Signal p is not finite at sample 3"),
        (("reward", 3), "The reward is not finite at sample 3"),
        (("observation", 3), "The observation is not finite at sample 3"),
    ],
)
def test_a_number_that_is_not_finite_cuts_the_trace_before_it(bad, place, name):
    options = {"vector": True, "limit": 6, "horizon": 6}
    for keep in (True, False):
        trace = play(recorder({place: bad}, keep_observations=keep, **options))
        assert trace.steps == 2
        assert trace.signals["x"].tolist() == [0.0, 1.0, 2.0]
        assert (trace.end.kind, trace.end.reason, trace.end.time) == ("interrupted", name, 0.2)


def test_an_action_that_is_not_finite_cuts_the_trace_before_its_effect():
    env = recorder(limit=4, horizon=4)
    env.reset()
    for k in range(4):
        env.step(np.array([np.nan if k == 2 else 0.0, 0.0]))
    assert env.trace.steps == 2
    assert env.trace.end.reason == "The action is not finite at sample 3"


def test_the_first_of_several_faults_is_named():
    script = {("x", 4): np.nan, ("reward", 2): np.nan}
    trace = play(recorder(script, limit=6))
    assert trace.end.reason == "The reward is not finite at sample 2"
    assert trace.steps == 1


def test_a_fault_beats_a_failure_declared_later():
    options = {"end": (3, "terminated"), "terminals": {"terminated": "absorbed"}}
    trace = play(recorder({("x", 2): np.nan}, **options))
    assert trace.end.kind == "interrupted"


def test_observations_are_checked_in_long_episodes_that_do_not_keep_them():
    env = recorder({("observation", 700): np.nan}, limit=1500, horizon=1500)
    trace = play(env, steps=1500)
    assert trace.steps == 699
    assert trace.observations is None


@pytest.mark.parametrize("place", ["x", "observation"])
def test_a_first_sample_that_is_not_finite_leaves_no_episode(place):
    env = recorder({(place, 0): np.nan})
    with pytest.raises(TraceError, match="no usable sample"):
        env.reset(seed=4)
    assert env.trace is None


def test_an_exception_in_the_environment_closes_the_episode_and_goes_on():
    seen = []
    env = recorder({("raise", 3): RuntimeError("unstable")}, on_trace=seen.append)
    with pytest.raises(RuntimeError, match="unstable"):
        play(env)
    assert env.trace.end.kind == "interrupted"
    assert env.trace.end.reason == "RuntimeError in step: unstable"
    assert env.trace.steps == 2
    assert seen == [env.trace]


def test_an_exception_in_the_reader_closes_the_episode_and_goes_on():
    def read(env):
        if env.k == 3:
            raise KeyError("geom")
        return (env.x,)

    env = recorder(read_signals=read)
    with pytest.raises(KeyError):
        play(env)
    assert env.trace.end.reason == "KeyError in step: 'geom'"
    assert env.trace.steps == 2


def test_an_interrupt_leaves_the_episode_open_and_readable():
    env = recorder({("raise", 3): KeyboardInterrupt()})
    with pytest.raises(KeyboardInterrupt):
        play(env)
    assert env.trace is None
    assert env.prefix().steps == 2


def test_an_episode_whose_step_was_cut_off_cannot_go_on():
    def read(env):
        if env.k == 3:
            raise KeyboardInterrupt
        return (env.x,)

    env = recorder(read_signals=read)
    with pytest.raises(KeyboardInterrupt):
        play(env)
    with pytest.raises(TraceError, match=r"The last step was cut off; call reset\(\)"):
        env.step(np.zeros(2))
    assert env.trace.signals["x"].tolist() == [0.0, 1.0, 2.0]
    assert env.trace.end.kind == "interrupted"
    assert play(recorder(limit=2)).steps == 2


def test_a_long_exception_text_is_cut_and_made_valid():
    env = recorder({("raise", 1): RuntimeError("\ud800" + "x" * 9999)})
    with pytest.raises(RuntimeError):
        play(env)
    assert len(env.trace.end.reason) == 500


def test_reset_and_close_amid_an_episode_close_it_as_interrupted():
    seen = []
    env = recorder(on_trace=seen.append)
    play(env, 2)
    env.reset()
    play(env, 1)
    env.close()
    env.close()
    assert [(t.steps, t.end.kind, t.end.reason) for t in seen] == [
        (2, "interrupted", "reset"),
        (0, "interrupted", "reset"),
        (1, "interrupted", "close"),
    ]
    assert env.unwrapped.closed == 2


def test_the_prefix_of_an_open_episode_is_interrupted():
    env = recorder(horizon=5, limit=5)
    with pytest.raises(TraceError, match=r"No episode is open; call reset\(\)"):
        env.prefix()
    env.reset()
    assert env.prefix().steps == 0
    env.step(np.zeros(2))
    prefix = env.prefix()
    assert (prefix.steps, prefix.end.kind, prefix.end.time) == (1, "interrupted", 0.1)
    env.step(np.zeros(2))
    assert prefix.steps == 1
    assert env.prefix().steps == 2


def test_seed_parameters_and_events_are_remembered():
    env = recorder({("info", 2): {"events": [("shield", "braked")]}}, limit=3, policy_digest="p1")
    env.unwrapped.first_info = {
        "parameters": {"mass": 2},
        "disturbance_seed": 11,
        "events": [("fault", "motor 1")],
    }
    trace = play(env, seed=2**70, options={"parameters": {"mass": 3.0}, "night": True})
    assert trace.seed == 2**70
    assert dict(trace.parameters) == {"mass": 2.0}
    assert trace.disturbance_seed == 11
    assert trace.policy_digest == "p1"
    assert trace.events == (
        Event(0, "option", "night=True"),
        Event(0, "fault", "motor 1"),
        Event(2, "shield", "braked"),
    )


def test_options_stand_in_for_what_the_environment_does_not_report():
    options = {"parameters": {"mass": 3.0}, "disturbance_seed": 5}
    trace = play(recorder(limit=1), options=options)
    assert dict(trace.parameters) == {"mass": 3.0}
    assert trace.disturbance_seed == 5
    assert trace.seed == -1


def test_the_policy_that_acts_at_reset_is_named():
    env = recorder(limit=1, policy_digest="old")
    env.reset()
    env.policy_digest = "new"
    env.step(np.zeros(2))
    assert env.trace.policy_digest == "old"
    assert play(env).policy_digest == "new"


def test_malformed_events_are_refused():
    with pytest.raises(TraceError, match=r"it must be a list of \(kind, detail\)"):
        play(recorder({("info", 1): {"events": [3]}}))


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (lambda env: [0.0], "read_signals returned list; it must return a tuple of 1: x"),
        (lambda env: (0.0, 1.0), "returned 2 values"),
        (lambda env: (np.zeros(2),), r"Signal x has shape \(2,\) at sample 0"),
        (lambda env: (0.0,) * (1 + (env.k == 2)), r"returned \[1, 2\] values in one episode"),
        (lambda env: (0.0 if env.k < 2 else object(),), "something other than a number"),
    ],
)
def test_a_reader_that_does_not_fit_its_layout_is_refused(read, words):
    with pytest.raises(TraceError, match=words):
        play(recorder(read_signals=read, limit=3))


def test_a_signal_that_goes_missing_counts_as_not_finite():
    trace = play(recorder(read_signals=lambda env: (0.0 if env.k < 2 else None,), limit=3))
    assert trace.end.reason == "Signal x is not finite at sample 2"


def test_a_vector_signal_that_changes_its_width_is_refused():
    read = lambda env: (env.x, np.zeros(3 if env.k < 2 else 2))  # noqa: E731 - one line says it
    with pytest.raises(TraceError, match="Signal p"):
        play(recorder(read_signals=read, vector=True, limit=3))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layout": {}}, "needs signals"),
        ({"layout": {"x": (2, 2)}}, r"declared with shape \(2, 2\)"),
        ({"read_signals": None}, "exactly one of"),
        ({"signals_from": lambda o, a: ()}, "exactly one of"),
        ({"limit": 0}, "limit is 0 steps"),
        ({"horizon": 0}, "horizon is 0 steps"),
        ({"terminals": {"a": "gone"}}, "Terminal 'a' is 'gone'"),
    ],
)
def test_a_recorder_that_cannot_work_is_refused(options, words):
    with pytest.raises(TraceError, match=words):
        recorder(**options)


def angles(observations, actions):
    return observations[:, 0].astype(float), observations[:, 2].astype(float)


def test_signals_from_observations_equal_signals_read_at_each_step():
    layout = {"x": (), "theta": ()}
    read = Recorder(
        CartPoleEnv(),
        layout=layout,
        clock=CLOCK,
        read_signals=lambda env: (np.float32(env.state[0]), np.float32(env.state[2])),
    )
    derived = Recorder(CartPoleEnv(), layout=layout, clock=CLOCK, signals_from=angles)
    for env in (read, derived):
        play(env, action=1, seed=5)
    assert read.trace == derived.trace
    assert derived.trace.steps > 3


def test_signals_from_of_the_wrong_length_is_refused():
    env = Recorder(
        CartPoleEnv(), layout={"x": ()}, clock=CLOCK, signals_from=lambda o, a: (o[1:, 0],)
    )
    with pytest.raises(TraceError, match="Signal x has shape"):
        play(env, action=1, seed=5)
    env = Recorder(CartPoleEnv(), layout={"x": ()}, clock=CLOCK, signals_from=lambda o, a: ())
    with pytest.raises(TraceError, match="returned 0 arrays for 1 declared"):
        play(env, action=1, seed=5)


@pytest.mark.parametrize("mode", list(AutoresetMode)[:2])
def test_a_vector_environment_cannot_hide_the_terminal_sample(mode):
    seen = []

    def make():
        return Recorder(
            CartPoleEnv(),
            layout={"theta": ()},
            clock=CLOCK,
            read_signals=lambda env: (float(env.state[2]),),
            terminals={"terminated": "failed"},
            on_trace=seen.append,
        )

    env = SyncVectorEnv([make, make], autoreset_mode=mode)
    env.reset(seed=1)
    for _ in range(60):
        env.step(np.array([1, 0]))
    ended = [trace for trace in seen if trace.end.kind == "failed"]
    assert len(ended) >= 6
    limit = CartPoleEnv().theta_threshold_radians
    for trace in ended:
        theta = np.abs(trace.signals["theta"])
        assert theta[-1] > limit
        assert (theta[:-1] <= limit).all()
    env.close()


def test_an_episode_recorded_bare_and_by_hand_is_the_same():
    """Second opinion: the plain loop that the recorder replaces."""
    env, states, actions, rewards = CartPoleEnv(), [], [], []
    env.reset(seed=9)
    states.append(env.state.copy())
    rng = np.random.default_rng(0)
    done = False
    while not done:
        actions.append(int(rng.integers(2)))
        _, reward, done, _, _ = env.step(actions[-1])
        states.append(env.state.copy())
        rewards.append(reward)
    wrapped = Recorder(
        CartPoleEnv(),
        layout={"s": (4,)},
        clock=CLOCK,
        read_signals=lambda env: (env.state,),
        terminals={"terminated": "failed"},
    )
    wrapped.reset(seed=9)
    for action in actions:
        wrapped.step(action)
    trace = wrapped.trace
    assert np.array_equal(trace.signals["s"], np.array(states))
    assert trace.actions.tolist() == actions
    assert trace.rewards.tolist() == rewards


@pytest.mark.parametrize("vector", [False, True])
@pytest.mark.parametrize("keep", [False, True])
def test_a_recorded_trace_passes_every_check_of_the_constructor(vector, keep):
    """The recorder checks an episode as a whole; the constructor is the second opinion."""
    for steps in (1, 2, 7):
        trace = play(recorder(limit=steps, horizon=steps, vector=vector, keep_observations=keep))
        fields = {name: getattr(trace, name) for name in Trace.__slots__}
        assert trace.validate() == ()
        assert Trace(**fields) == Trace(**{**fields, "digest": ""}) == trace
        assert pickle.loads(pickle.dumps(trace)) == trace
        arrays = [*trace.signals.values(), trace.actions, trace.rewards]
        for values in arrays if trace.observations is None else [*arrays, trace.observations]:
            with pytest.raises(ValueError, match="read-only"):
                values[...] = 0
        with pytest.raises(TypeError):
            trace.parameters["m"] = 1.0


@pytest.mark.parametrize("bad", [{"mass": np.nan}, {"mass": "heavy"}, [1.0]])
def test_parameters_that_are_no_finite_numbers_are_refused_at_reset(bad):
    env = recorder()
    env.unwrapped.first_info = {"parameters": bad}
    with pytest.raises(TraceError, match=r"[Pp]arameter"):
        env.reset()
    assert env.trace is None


def test_actions_of_a_type_that_no_trace_holds_are_refused():
    with pytest.raises(TraceError, match="array of actions has elements of type"):
        play(recorder(limit=2), action="left")
