"""Reading JSON lines: what is broken is told with its line."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.errors import BlendError
from safegym.nemo.rows import lines
from safegym.nemo.rows.lines import Line, lines_of, row_of, text_of

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def read(data: bytes) -> list[Line]:
    return list(lines_of(io.BytesIO(data), "x.jsonl"))


def test_blank_lines_are_left_out_and_counted() -> None:
    found = read(b'\xef\xbb\xbf{"a":1}\r\n\n  \n{"b":2}')
    assert [(line.number, line.text) for line in found] == [(1, b'{"a":1}'), (4, b'{"b":2}')]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'{"a": 1', "line 3: broken JSON, .* at column"),
        (b'{"a": 1} {"b": 2}', "line 3: broken JSON, Extra data at column 10"),
        (b'{"a": "\xff"}', "line 3: byte 8 is not UTF-8"),
        (b"[1]", "line 3: a row is a JSON object"),
        (b'{"a": NaN}', "line 3: NaN is not JSON"),
        (b'{"a": ' + b"[" * 100_000, "line 3: nested too deeply"),
        (b'{"a": ' + b"1" * 5000 + b"}", "line 3: "),
    ],
)
def test_a_broken_row_is_told_with_its_line(text: bytes, said: str) -> None:
    with pytest.raises(BlendError, match=r"x\.jsonl " + said):
        row_of(Line(3, text), "x.jsonl")


def test_a_line_that_is_too_long_is_refused_before_it_is_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lines, "LONGEST", 20)
    with pytest.raises(BlendError, match="line 2 is longer"):
        read(b"{}\n" + b" " * 30)


@settings(max_examples=50)
@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_a_row_that_is_written_reads_back_the_same(row: dict[str, object]) -> None:
    text = text_of(row)
    assert b"\n" not in text
    assert row_of(Line(1, text), "x") == row


def test_a_lone_surrogate_is_written_as_an_escape_and_nan_is_refused() -> None:
    row = json.loads('{"a": "\\ud800"}')
    assert row_of(Line(1, text_of(row)), "x") == row
    with pytest.raises(BlendError, match="cannot be written as JSON"):
        text_of({"a": float("nan")})
