"""Bad input, one row each: what is wrong, at which door, and what is said about it.

Every message names the claim where one is judged, the signal or window, the value that was found,
and the line that would work.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from safegym.check.dispatch import check
from safegym.check.monitor import Monitor, judge, robustness, settling
from safegym.check.monitor.naming import name_claim
from safegym.cli.application import run
from safegym.errors import FormulaError, SafegymError, ScenarioError, TraceError, UnitError
from safegym.formula.build import always, eventually, once, prob
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal
from safegym.formula.text import parse
from safegym.gate.certify import certification_setting
from safegym.trace.model import Trace

X = Signal("x")
TRACE = Trace.from_arrays(
    {"x": [1.0, 2.0, 3.0], "speed": [1.0, 2.0, 3.0], "p": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]},
    dt="0.1",
    units={"speed": "m/s"},
)


def refused(build: Callable[[], object], kind: type[SafegymError], *told: str) -> None:
    """Raises AssertionError unless `build` raises this error, whose message has all these parts."""
    with pytest.raises(kind) as caught:
        build()
    for part in told:
        assert part in str(caught.value), str(caught.value)


WINDOWS: list[tuple[str, Callable[[], object], tuple[str, ...]]] = [
    ("reversed", lambda: always(X > 0, window=(2, 1)), ("always: The window [2,1]", "write [1,2]")),
    (
        "reversed text",
        lambda: parse("x until[3,1] x > 0"),
        ("column 8", "The window [3,1] is reversed; write [1,3]"),
    ),
    (
        "negative",
        lambda: eventually(X > 0, window=(-1, 2)),
        ("eventually: The window [-1,2]", "Write [0,2] for what lies ahead", "over [0,1]"),
    ),
    (
        "all negative",
        lambda: always(X > 0, window=(-2, -1)),
        ("The window [-2,-1]", "once or historically over [1,2]"),
    ),
    (
        "negative past",
        lambda: once(X > 0, window=(-1, None)),
        ("once: The window [-1,inf]", "both bounds are >= 0"),
    ),
    (
        "negative word",
        lambda: eventually(X > 0, within="-0.5"),
        ("eventually: within=-0.5 reaches into negative time; write within=0.5",),
    ),
    (
        "negative text",
        lambda: parse("always[-1,2](x > 0)"),
        ("column 8", "a bound in seconds, >= 0", "found '-'"),
    ),
    ("no pair", lambda: always(X > 0, window=(0, 1, 2)), ("must be a pair (a, b)", "(0, 1, 2)")),
    ("no number", lambda: always(X > 0, window=("a", 1)), ("lower bound", "'a'", '"0.1"')),
    ("not finite", lambda: always(X > 0, lasting=float("nan")), ("always: lasting", "nan")),
    (
        "both words",
        lambda: always(X > 0, lasting=1, window=(0, 1)),
        ("both lasting= and window=", "keep one"),
    ),
]


@pytest.mark.parametrize(
    ("build", "told"), [row[1:] for row in WINDOWS], ids=[r[0] for r in WINDOWS]
)
def test_a_window_that_makes_no_sense_is_refused_when_it_is_built(
    build: Callable[[], object], told: tuple[str, ...]
) -> None:
    refused(build, FormulaError, *told)


def claim(formula: Formula) -> Claim:
    return Claim(id="arm.stop", statement=formula)


JUDGED: list[tuple[str, Formula, type[SafegymError], tuple[str, ...]]] = [
    (
        "off grid",
        always(X > 0, lasting="0.25"),
        FormulaError,
        ("bound 0.25 s of `always[0,0.25](x > 0)`", "dt = 0.1 s", "0.2 s or 0.3 s", "conservative"),
    ),
    (
        "unknown signal",
        always(Signal("sped", "m/s") > 0),
        TraceError,
        ("reads signal sped, which the trace lacks", "did you mean speed?"),
    ),
    (
        "signal like no other",
        always(Signal("torque", "N*m") > 0),
        TraceError,
        ("reads signal torque, which the trace lacks", "it has x, speed, p."),
    ),
    (
        "scalar read as a vector",
        always(Signal("x", shape=(2,))[0] > 0),
        TraceError,
        ("x is declared with shape (2,)", "found (3,)", 'declare Signal("x").'),
    ),
    (
        "vector read as a scalar",
        always(Signal("p", "m") > 0),
        TraceError,
        ("found (3, 2)", 'declare Signal("p", "m", shape=(2,)), with components p[0] to p[1].'),
    ),
    (
        "component that is not there",
        parse("always(p[7] > 0)"),
        TraceError,
        ("reads p[7]", "components 0 to 1"),
    ),
    (
        "another dimension",
        always(Signal("speed", "m") > 0),
        UnitError,
        ("reads speed in m", "m/s (speed) and m (length)", 'Signal("speed", unit="m/s")'),
    ),
    (
        "text without units",
        parse("always(speed > 0)"),
        UnitError,
        ("1 (a plain number)", "parse(..., signals=[...])"),
    ),
]
DOORS: dict[str, Callable[[Formula | Claim], object]] = {
    "judge": lambda subject: judge(subject, TRACE),
    "robustness": lambda subject: robustness(subject, TRACE),
    "settling": lambda subject: settling(subject, TRACE),
    "check": lambda subject: check(subject, TRACE),
    "z3": lambda subject: check(subject, TRACE, backend="z3"),
}


@pytest.mark.parametrize("door", list(DOORS))
@pytest.mark.parametrize(
    ("formula", "kind", "told"), [row[1:] for row in JUDGED], ids=[r[0] for r in JUDGED]
)
def test_a_formula_that_does_not_fit_its_trace_is_refused_at_every_door(
    formula: Formula, kind: type[SafegymError], told: tuple[str, ...], door: str
) -> None:
    refused(lambda: DOORS[door](formula), kind, *told)
    refused(lambda: DOORS[door](claim(formula)), kind, "arm.stop", *told)


TRACES: list[tuple[str, Callable[[], object], tuple[str, ...]]] = [
    ("no signal", lambda: Trace.from_arrays({}, dt="0.1"), ("at least one signal", '{"x": x}')),
    (
        "empty",
        lambda: Trace.from_arrays({"x": []}, dt="0.1"),
        ("Signal x has no samples", "empty trace", '{"x": [0.5]}'),
    ),
    (
        "NaN",
        lambda: Trace.from_arrays({"x": [1.0, np.nan]}, dt="0.1"),
        ("Signal x is not finite at index 1 (nan)", 'end="interrupted"'),
    ),
    (
        "infinite",
        lambda: Trace.from_arrays({"x": [1.0, -np.inf]}, dt="0.1"),
        ("Signal x is not finite at index 1 (-inf)", 'end="interrupted"'),
    ),
    (
        "NaN in a file",
        lambda: Trace.from_text('{"signals": {"x": [0.5, NaN]}, "dt": "0.1"}'),
        ("NaN is not allowed (at signals.x[1])", '"interrupted"'),
    ),
    (
        "wrong shape",
        lambda: Trace.from_arrays({"x": np.ones((2, 2, 2))}, dt="0.1"),
        ("Signal x has shape (2, 2, 2)", "(2,) or (2, d)"),
    ),
    (
        "different lengths",
        lambda: Trace.from_arrays({"x": [1.0, 2.0], "y": [1.0]}, dt="0.1"),
        ("Signal y has shape (1,)", "T = 1", "(2,) or (2, d)"),
    ),
    (
        "no numbers",
        lambda: Trace.from_arrays({"x": ["a", "b"]}, dt="0.1"),
        ("Signal x is not an array of real numbers",),
    ),
    ("no time", lambda: Trace.from_arrays({"x": [1.0]}, dt=0), ("dt = 0", 'dt="0.1"')),
    (
        "negative time",
        lambda: Trace.from_arrays({"x": [1.0]}, dt="-0.1"),
        ("dt = -1/10", 'dt="0.1"'),
    ),
    (
        "time going backwards",
        lambda: Trace.from_arrays({"x": [1.0, 2.0, 3.0]}, dt="0.1", times=[0.0, 0.2, 0.1]),
        ("stamp 2", "0.1", "stamp 1", "0.2", "sort the log"),
    ),
    (
        "a stamp twice",
        lambda: Trace.from_arrays({"x": [1.0, 2.0, 3.0]}, dt="0.1", times=[0.0, 0.1, 0.1]),
        ("stamp 2", "equals stamp 1", "drop the repeated samples"),
    ),
    (
        "unit of nothing",
        lambda: Trace.from_arrays({"speed": [1.0]}, dt="0.1", units={"sped": "m/s"}),
        ("unit is given for signal sped", "did you mean speed?"),
    ),
    (
        "unit unknown",
        lambda: Trace.from_arrays({"speed": [1.0]}, dt="0.1", units={"speed": "kph"}),
        ("unit of signal speed cannot be read", "'kph'", "near it: km/h"),
    ),
]


@pytest.mark.parametrize(("build", "told"), [row[1:] for row in TRACES], ids=[r[0] for r in TRACES])
def test_data_that_is_no_trace_is_refused_when_it_is_made(
    build: Callable[[], object], told: tuple[str, ...]
) -> None:
    refused(build, TraceError, *told)


ONLINE: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("unknown signal", {"speeds": [1.0, 1.0]}, ("reads signal speed", "did you mean speeds?")),
    ("wrong batch", {"speed": [1.0]}, ("Signal speed has shape (1,)", "B = 2", "(2,)")),
    ("vector", {"speed": [[1.0], [1.0]]}, ("Signal speed has shape (2, 1)", "(2,)")),
    (
        "NaN",
        {"speed": [1.0, np.nan]},
        ("Signal speed is not finite at sample 0 of episode 1 (nan)", "as interrupted"),
    ),
    ("no numbers", {"speed": ["a", "b"]}, ("Signal speed must be an array of real numbers",)),
]


@pytest.mark.parametrize(
    ("sample", "told"), [row[1:] for row in ONLINE], ids=[r[0] for r in ONLINE]
)
def test_a_sample_that_does_not_fit_is_refused_online(
    sample: dict[str, Any], told: tuple[str, ...]
) -> None:
    monitor = Monitor(claim(always(Signal("speed", "m/s") > 0)), "0.1", batch=2)
    refused(lambda: monitor.update(sample), TraceError, *told)
    assert monitor.update({"speed": [1.0, 1.0]}).episode.status.tolist() == ["inconclusive"] * 2


def test_a_bound_off_the_grid_is_refused_online_too() -> None:
    wanted = JUDGED[0]
    refused(lambda: Monitor(claim(wanted[1]), "0.1"), wanted[2], *wanted[3])


COMMANDS: list[tuple[str, str, tuple[str, ...]]] = [
    ("reversed", "always[2,1](x > 0)", ("[2,1] is reversed; write [1,2]",)),
    ("negative", "always[-1,2](x > 0)", (">= 0", "found '-'")),
    ("off grid", "always[0,0.25](x > 0)", ("formula.1", "0.2 s or 0.3 s")),
    ("unknown signal", "always(sped > 0)", ("formula.1", "did you mean speed?")),
    ("wrong shape", "always(p > 0)", ("formula.1", "found (3, 2)")),
    ("unit mismatch", "always(speed < 5{m})", ("m/s (speed) and m (length)",)),
    ("no formula", "always(x <", ("column 11", "expected a term or a formula")),
]


@pytest.mark.parametrize(
    ("text", "told"), [row[1:] for row in COMMANDS], ids=[r[0] for r in COMMANDS]
)
def test_the_command_line_says_the_same_and_exits_with_two(
    text: str, told: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(TRACE.to_text())
    assert run(["check", str(path), "-f", text]) == 2
    words = " ".join(capsys.readouterr().err.split())
    for part in told:
        assert part in words, words


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("sped=km/h", "--unit sped=km/h: there is no signal 'sped'; it has speed, x, p"),
        ("speed=kmh", "Signal 'speed': Unit symbol 'kmh' in 'kmh' is not known; near it: km/h"),
        ("speed=m", "Claim formula.1: The formula reads speed in m"),
        ("speed", 'A unit must be text such as "m/s"'),
    ],
)
def test_a_unit_that_does_not_fit_is_refused_at_the_command_line(
    given: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(TRACE.to_text())
    assert run(["check", str(path), "-f", "always(speed < 11)", "--unit", given]) == 2
    assert told in " ".join(capsys.readouterr().err.split())


def test_a_unit_given_at_the_command_line_converts_what_was_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The fastest sample is 3 m/s, 10.8 km/h."""
    path = tmp_path / "trace.json"
    path.write_text(TRACE.to_text())
    for limit, status in (("10.8", 0), ("10.7", 1)):
        text = f"always(speed <= {limit})"
        assert run(["check", str(path), "-f", text, "--unit", "speed=km/h"]) == status
        assert run(["check", str(path), "-f", text]) == 0
    assert (
        run(["check", str(path), "--unit", "speed=km/h", "--scenario", "classic/cartpole-v0"]) == 2
    )
    assert "claims declare their own" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"signals": {"x": [0.5, float("nan")]}}, "NaN is not allowed (at signals.x[1])"),
        ({"signals": {"x": []}}, "Signal x has no samples"),
        ({"signals": {}}, "at least one signal"),
        ({"dt": "-1/10"}, "dt = -1/10"),
        ({"units": {"x": "metres"}}, "near it: m"),
        ({"units": {"y": "m"}}, "which the trace lacks"),
    ],
)
def test_a_trace_file_that_is_wrong_is_refused_at_the_command_line(
    change: dict[str, Any], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sound = {"signals": {"x": [0.5, 1.5]}, "dt": "0.1", "end": {"kind": "cut", "time": 0.1}}
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({**sound, **change}))
    assert run(["check", str(path), "-f", "always(x > 0)"]) == 2
    assert told in " ".join(capsys.readouterr().err.split())


ANGLE = Signal("pole_angle", "rad")
CERTIFIED: list[tuple[str, Formula, type[SafegymError], tuple[str, ...]]] = [
    ("off grid", always(ANGLE < 1, lasting="0.005"), FormulaError, ("0.005 s", "0 s or 0.02 s")),
    (
        "unknown signal",
        always(Signal("pole_angel", "rad") < 1),
        ScenarioError,
        ("pole_angel", "did you mean pole_angle"),
    ),
    (
        "wrong shape",
        always(Signal("pole_angle", "rad", shape=(2,))[0] < 1),
        ScenarioError,
        ("with shape (2,)", "records it with shape ()", "parse(text, signals=spec.signals)"),
    ),
    (
        "another dimension",
        always(Signal("pole_angle", "m") < 1),
        UnitError,
        ("records it in rad", "rad (angle) and m (length)", 'unit="rad"'),
    ),
]


@pytest.mark.parametrize(
    ("formula", "kind", "told"), [row[1:] for row in CERTIFIED], ids=[r[0] for r in CERTIFIED]
)
def test_a_claim_that_does_not_fit_its_scenario_is_refused_before_any_episode(
    formula: Formula, kind: type[SafegymError], told: tuple[str, ...]
) -> None:
    asked = Claim(id="arm.stop", statement=prob(formula) >= 0.9)
    refused(
        lambda: certification_setting("classic/cartpole-v0", claims=[asked]),
        kind,
        "arm.stop",
        *told,
    )


def test_a_claim_is_named_once_also_where_its_id_begins_another() -> None:
    for identity, message, wanted in (
        ("arm", "Signal x is missing.", "Claim arm: Signal x is missing."),
        ("arm", "The bound 1 s (claim arm) is off.", "The bound 1 s (claim arm) is off."),
        ("arm", "Claim arm.stop is off.", "Claim arm: Claim arm.stop is off."),
        ("arm.stop", "Claim arm.stop is off.", "Claim arm.stop is off."),
    ):
        error = TraceError(message)
        name_claim(error, Claim(id=identity, statement=always(X > 0)))
        assert str(error) == wanted
    bare = TraceError("Signal x is missing.")
    name_claim(bare, always(X > 0))
    assert str(bare) == "Signal x is missing."
