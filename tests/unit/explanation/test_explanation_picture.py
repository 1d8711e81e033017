"""The SVG: what is drawn is where the data are, and nothing in it can run."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from picture_reading import SVG, Picture, number, read

from safegym.check.explanation import explain
from safegym.check.explanation.view import SHORTEST_ZOOM
from safegym.formula.build import always, eventually, never, rising
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.terms import Apply, Signal
from safegym.trace.model import Trace
from safegym.verdict import Verdict

SPEED = Signal("speed", unit="m/s")
JOINT = Signal("joint_speed", unit="rad/s")
FAULT = Signal("fault")
RESPONSE = always(rising(FAULT >= 1).implies(eventually(JOINT <= 0.01, within="0.3")))
PULSE = [0.0, 0.2, 0.7, 0.9, 0.4, 0.1, 0.8, 0.0]


def trace(end: str = "horizon", horizon: int | None = None, **signals: object) -> Trace:
    return Trace.from_arrays(signals, dt="0.1", end=end, horizon=horizon)  # type: ignore[arg-type]  # test values


def picture(subject: Formula | Claim, seen: Trace) -> Picture:
    return read(explain(subject, seen).svg)


def assert_line_is(line: list[tuple[float, float]], values: list[float]) -> None:
    """Vertices in even steps of time, and affine in the values."""
    xs, ys = np.array(line).T
    assert len(xs) == len(values)
    assert np.diff(xs) == pytest.approx(
        [(xs[-1] - xs[0]) / (len(xs) - 1)] * (len(xs) - 1), abs=0.02
    )
    slope, offset = np.polyfit(values, ys, 1)
    assert slope < 0  # larger values stand higher
    assert ys == pytest.approx(slope * np.array(values) + offset, abs=0.02)


def test_the_line_is_the_signal_and_the_mark_lies_on_it() -> None:
    drawn = picture(always(SPEED <= 0.5), trace(speed=PULSE))
    assert_line_is(drawn.lines[0], PULSE)
    assert drawn.marks("sg-bad") == [drawn.lines[0][3]]


def test_the_shaded_stretches_are_the_samples_where_the_atom_is_false() -> None:
    drawn = picture(always(SPEED <= 0.5), trace(speed=PULSE))
    xs = [x for x, _ in drawn.lines[0]]
    half = (xs[1] - xs[0]) / 2
    wanted = [(xs[2] - half, xs[3] + half), (xs[6] - half, xs[6] + half)]
    assert np.array(drawn.shaded) == pytest.approx(np.array(wanted), abs=0.03)


def test_the_limit_is_drawn_at_its_value() -> None:
    drawn = picture(always(SPEED <= 0.5), trace(speed=PULSE))
    ys = dict(zip(PULSE, (y for _, y in drawn.lines[0]), strict=True))
    at_limit = ys[0.4] + (ys[0.2] - ys[0.4]) / (0.2 - 0.4) * (0.5 - 0.4)
    limits = [number(e, "y1") for e in drawn.of("line", "sg-limit")]
    assert limits == pytest.approx([at_limit], abs=0.03)
    assert "<= 0.5 m/s" in drawn.texts


def test_the_window_of_the_deciding_operator_is_bracketed() -> None:
    drawn = picture(always(SPEED <= 0.5, window=("0.1", "0.4")), trace(speed=PULSE))
    xs = [x for x, _ in drawn.lines[0]]
    data = drawn.of("path", "sg-bracket")[0].get("d", "")
    start, end = re.findall(r"M([\d.]+) [\d.]+H([\d.]+)", data)[0]
    assert (float(start), float(end)) == pytest.approx((xs[1], xs[4]), abs=0.02)
    assert "always[0.1,0.4]" in drawn.texts
    assert len(drawn.shaded) == 1  # the failure at 0.6 s lies outside


def test_a_failure_that_another_part_makes_good_is_not_shaded() -> None:
    either = always((SPEED <= 0.5) | (FAULT >= 1))
    drawn = picture(either, trace(speed=[0, 1, 0, 2.0], fault=[0, 1, 0, -2.0]))
    xs = [x for x, _ in drawn.lines[0]]
    half = (xs[1] - xs[0]) / 2
    assert drawn.shaded == [pytest.approx((xs[3] - half, xs[3] + half), abs=0.03)]


def test_an_unmet_duty_is_drawn_first_and_its_condition_below() -> None:
    joint = [0.5, 0.5, 0.5, 0.375, 0.125, 0.25, 0.0, 0.0]
    drawn = picture(RESPONSE, trace(fault=[0, 0, 1, 1, 1, 1, 1, 1], joint_speed=joint))
    titles = [text for text in drawn.texts if text in ("joint_speed [rad/s]", "fault")]
    assert titles == ["joint_speed [rad/s]", "fault"]
    assert_line_is(drawn.lines[0], joint)
    assert drawn.marks("sg-bad") == [drawn.lines[0][4]]
    (trigger,) = drawn.marks("sg-note")
    assert trigger[0] == drawn.lines[0][2][0]
    xs = [x for x, _ in drawn.lines[0]]
    half = (xs[1] - xs[0]) / 2
    assert drawn.shaded == [pytest.approx((xs[2] - half, xs[5] + half), abs=0.03)]


def test_a_flag_is_drawn_as_steps_through_its_samples() -> None:
    drawn = picture(always(FAULT < 1), trace(fault=[0, 0, 1, 0]))
    (line,) = drawn.lines
    assert len(line) == 7
    uprights = [(a, b) for a, b in pairwise(line) if a[0] == b[0]]
    levels = [b[1] for _, b in uprights]
    assert levels[0] > levels[1] < levels[2]


def test_two_terms_against_each_other_are_two_named_lines() -> None:
    goal = Signal("goal", unit="m/s")
    drawn = picture(always(SPEED > goal), trace(speed=[2.0, 1.0], goal=[1.0, 1.5]))
    assert len(drawn.lines) == 2
    assert {"speed", "goal"} <= set(drawn.texts)


def test_a_norm_is_one_line_of_the_lengths() -> None:
    position = Signal("p", unit="m", shape=(2,))
    seen = trace(p=[[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    drawn = picture(always(Apply("norm", tuple(position)) <= 4), seen)
    assert_line_is(drawn.lines[0], [0.0, 5.0, 10.0])
    assert "norm(p) [m]" in drawn.texts


def test_a_mode_has_its_names_on_the_axis() -> None:
    mode = Signal("mode", labels=("IDLE", "RUN", "FAULT"))
    drawn = picture(never(mode.is_("FAULT")), trace(mode=[0, 1, 0]))
    assert {"IDLE", "RUN", "FAULT", "not FAULT"} <= set(drawn.texts)


def test_a_band_has_both_its_limits() -> None:
    drawn = picture(always(abs(SPEED) <= 0.5), trace(speed=[0.0, -0.75, 0.25]))
    assert_line_is(drawn.lines[0], [0.0, -0.75, 0.25])
    assert {"0.5 m/s", "-0.5 m/s"} <= set(drawn.texts)
    assert drawn.marks("sg-bad") == [drawn.lines[0][1]]


def test_samples_not_seen_are_hatched_and_not_shaded() -> None:
    drawn = picture(always(SPEED <= 0.5, lasting="0.4"), trace(speed=[0.0, 0.25, 0.125]))
    assert drawn.of("path", "sg-hatch")
    assert "after the end: not seen" in drawn.texts
    assert not drawn.shaded
    assert drawn.lines[0][-1][0] < drawn.frame[1] - 60


def test_a_tail_past_the_horizon_is_marked() -> None:
    drawn = picture(always(SPEED <= 0.5), trace(horizon=3, speed=PULSE))
    assert "tail, past the horizon at 0.3 s" in drawn.texts
    (tail,) = drawn.of("rect", "sg-tail")
    xs = [x for x, _ in drawn.lines[0]]
    assert number(tail, "x") == pytest.approx((xs[3] + xs[4]) / 2, abs=0.02)


def test_a_gap_is_hatched_and_breaks_the_line() -> None:
    seen = Trace.from_arrays({"speed": PULSE}, dt="0.1", gaps=[(3, 4)])
    drawn = picture(always(SPEED <= 0.75), seen)
    assert [len(line) for line in drawn.lines] == [3, 3]
    assert "gap: nothing is known" in drawn.texts


@pytest.mark.parametrize("values", [[0.75], [0.75] * 9, [1e300, -1e300], [5e-324, 0.0], [1e9] * 3])
def test_one_sample_constant_and_extreme_signals_are_drawn(values: list[float]) -> None:
    drawn = picture(always(SPEED <= 0.5), trace(speed=values))
    numbers = [float(v) for line in drawn.lines for point in line for v in point]
    assert np.isfinite(numbers).all()
    assert sum(len(line) for line in drawn.lines) >= 1
    for line in drawn.lines:
        assert all(drawn.frame[0] <= x <= drawn.frame[1] for x, _ in line)


def test_infinite_robustness_is_drawn_and_told() -> None:
    from safegym.formula.build import previous

    explanation = explain(previous(SPEED > 0.5), trace(speed=[1.0]))
    assert "Robustness minus infinity" in explanation.words
    assert len(read(explanation.svg).lines) == 1


def test_a_formula_without_signals_says_so() -> None:
    from safegym.formula.nodes import FALSE

    assert "It reads no signal." in picture(always(FALSE), trace(speed=[0.0])).texts


def test_at_most_four_panels_are_drawn() -> None:
    signals = [Signal(f"s{k}") for k in range(9)]
    formula = always(signals[0] < 1)
    for signal in signals[1:]:
        formula = formula | always(signal < 1)
    drawn = picture(formula, trace(**{s.name: [0.0, 2.0] for s in signals}))
    assert len(drawn.of("rect", "sg-frame")) == 4


def test_one_sample_in_a_hundred_thousand_is_seen() -> None:
    values = np.sin(np.arange(100_001) / 9_000)
    values[61_234] = 4.0
    svg = explain(always(SPEED <= 2), trace(speed=values)).svg
    drawn = read(svg)
    (mark,) = drawn.marks("sg-bad")
    assert mark in drawn.lines[0]
    assert mark[1] == min(y for _, y in drawn.lines[0])
    (left, right) = drawn.shaded[0]
    assert right - left == pytest.approx(2.0, abs=0.02)
    assert left <= mark[0] <= right
    assert len(svg) < 100_000


def test_a_short_window_in_a_long_trace_is_shown_near_with_the_whole_below() -> None:
    n = 20_000
    fault = (np.arange(n) >= 9_000).astype(float)
    drawn = picture(RESPONSE, trace(fault=fault, joint_speed=np.full(n, 0.5)))
    assert any("The whole episode, 0 s to 1999.9 s" in text for text in drawn.texts)
    assert len(drawn.of("rect", "sg-part")) == 1
    assert len(drawn.lines[0]) < SHORTEST_ZOOM


def test_late_clocks_count_from_the_first_sample() -> None:
    seen = Trace.from_arrays({"speed": PULSE}, dt="0.1", start="1000000")
    texts = picture(always(SPEED <= 0.5), seen).texts
    assert "seconds after 1000000 s" in texts
    assert {"0.0", "0.2"} <= set(texts)


def test_the_picture_has_a_text_alternative() -> None:
    explanation = explain(Claim(id="a.drift", statement=always(SPEED <= 0.5)), trace(speed=PULSE))
    root = ElementTree.fromstring(explanation.svg)
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert desc is not None
    assert title.text == "a.drift: violated"
    assert desc.text == explanation.words
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == f"{title.get('id')} {desc.get('id')}"


def test_the_picture_has_colours_for_light_and_dark() -> None:
    style = read(explain(always(SPEED <= 0.5), trace(speed=PULSE)).svg).root.find(f"{SVG}style")
    assert style is not None
    text = style.text or ""
    assert "@media (prefers-color-scheme:dark)" in text
    selectors = re.findall(r"(?m)^([^{}@\n]+)\{", text)
    assert selectors
    for selector in selectors:
        assert all(part.strip().startswith(".sg ") for part in selector.split(","))


TAGS = {"svg", "title", "desc", "style", "rect", "line", "path", "circle", "text"}


def assert_harmless(svg: str) -> None:
    """Only shapes and text; no references, no handlers, nothing loaded."""
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in TAGS
        for name in element.attrib:
            assert not name.lower().startswith("on")
            assert "href" not in name.lower()
    style = root.find(f"{SVG}style")
    assert style is not None
    assert "url(" not in (style.text or "")
    assert "@import" not in (style.text or "")


HOSTILE = [
    "<script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "]]>&amp;&#x3c;",
    "\x00\x1b[2J\u202e\ud800\ufffe",
    "a" * 5000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_claim_ids_and_reasons_stay_text(text: str) -> None:
    seen = Trace.from_arrays({"speed": PULSE}, dt="0.1", end="interrupted", reason="stop")
    subject = always(SPEED <= 1)
    given = explain(subject, seen).verdict
    hostile = Verdict(
        text, given.status, given.robustness, given.witness, given.trace_digest, given.notes
    )
    from safegym.check.explanation.explain import explanation_of

    svg = explanation_of(hostile, subject, seen).svg
    assert_harmless(svg)
    assert svg.encode("utf-8")


def test_ordinary_pictures_are_harmless() -> None:
    assert_harmless(explain(RESPONSE, trace(fault=[0, 1], joint_speed=[1, 1.0])).svg)


def test_signs_of_formulas_are_escaped() -> None:
    drawn = picture(always((SPEED < 0.5) & (SPEED > -1)), trace(speed=[0, 1.0]))
    assert "always((speed < 0.5) and (speed > -1))" in drawn.texts
