"""Labels of a picture keep off each other, and off marks where they can."""

from collections.abc import Sequence

from safegym.audit.report.labels import Labels, Spot
from safegym.audit.report.svg import Canvas, Point

HIGH: Spot = ((100, 50), "start")
LOW: Spot = ((100, 80), "start")


def labels(marks: Sequence[Point] = ()) -> Labels:
    return Labels(Canvas("one", 400, 200, "title", "words"), 0, 400, marks)


def test_a_second_label_goes_to_its_next_spot_and_a_third_is_left_out():
    found = labels()
    spots = [HIGH, LOW]
    assert [found.put(spots, word, "value") for word in ("n=118", "n=520", "n=7")] == [
        True,
        True,
        False,
    ]
    drawn = str(found.canvas.markup())
    assert 'y="50" class="value">n=118<' in drawn
    assert 'y="80" class="value">n=520<' in drawn
    assert "n=7" not in drawn


def test_a_label_keeps_off_a_mark_but_is_drawn_over_it_where_no_other_spot_is():
    found = labels(marks=[(110, 48)])
    assert found.put([HIGH, LOW], "n=118", "value")
    assert 'y="80"' in str(found.canvas.markup())
    assert found.put([HIGH], "n=520", "value")


def test_a_label_stays_inside_the_picture():
    assert not labels().put([((390, 50), "start")], "n=118", "value")
