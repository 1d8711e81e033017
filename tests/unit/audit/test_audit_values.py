"""Record values have one JSON spelling, and nothing else is read back."""

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.audit.values import DEPTH, canonical, decode_number, encode, parse
from safegym.errors import AuditError

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=15,
)


@given(JSON)
@settings(deadline=None, derandomize=True, max_examples=300)
def test_what_is_encoded_reads_back_equal_and_canonical(value):
    try:
        encoded = encode(value)
    except AuditError:
        return
    data = canonical(encoded)
    again = parse(data, what="It")
    assert again == encoded
    assert canonical(again) == data
    assert encode(encoded) == encoded


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(deadline=None, derandomize=True, max_examples=500)
def test_every_finite_float_survives_exactly(number):
    again = parse(canonical(encode(number)), what="It")
    assert float(again) == number


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (333333333.33333329, "333333333.3333333"),
        (1e-7, "1e-7"),
        (0.000001, "0.000001"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740994.0, "9007199254740994"),
        (295147905179352830000.0, "295147905179352830000"),
    ],
)
def test_numbers_are_spelled_as_in_rfc_8785_appendix_b(number, text):
    assert canonical(encode(number)) == text.encode()
    assert float(parse(text.encode(), what="It")) == number


def test_infinities_become_words_and_come_back():
    assert encode([math.inf, -math.inf]) == ["inf", "-inf"]
    assert decode_number("-inf") == -math.inf
    assert decode_number(0.5) == 0.5
    with pytest.raises(AuditError, match="Asked for a number, found 'many'"):
        decode_number("many")


@dataclass(frozen=True)
class Pair:
    low: float
    names: tuple[str, ...]


def test_python_and_numpy_values_become_plain_json():
    value = {
        "pair": Pair(-math.inf, ("a", "b")),
        "array": np.array([[1.5, np.inf]]),
        "flag": np.bool_(True),
        "count": np.int64(3),
        "single": np.float32(0.5),
        "proxy": MappingProxyType({"x": 1}),
    }
    encoded = encode(value)
    assert encoded == {
        "pair": {"low": "-inf", "names": ["a", "b"]},
        "array": [[1.5, "inf"]],
        "flag": True,
        "count": 3,
        "single": 0.5,
        "proxy": {"x": 1},
    }
    assert json.loads(json.dumps(encoded)) == encoded


def test_text_is_brought_into_normal_form_c():
    assert encode("cafe\u0301") == "caf\u00e9"
    assert encode({"cafe\u0301": 1}) == {"caf\u00e9": 1}
    with pytest.raises(AuditError, match="occurs twice once its Unicode form is normal"):
        encode({"cafe\u0301": 1, "caf\u00e9": 2})


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (math.nan, "NaN has no JSON form"),
        (2**53, r"exceeds 2\^53 - 1; write it as text"),
        (Fraction(1, 3), "the fraction 1/3 has no exact JSON number; write str"),
        ({1: "a"}, "the key 1 is not text; write '1'"),
        ({"a"}, "set has no JSON form"),
        (b"bytes", "bytes has no JSON form"),
        (object(), "object has no JSON form"),
    ],
)
def test_what_has_no_form_is_refused_in_words(value, words):
    with pytest.raises(AuditError, match=words):
        encode({"field": value})


def test_nesting_is_bounded_on_both_ways():
    value: object = 1
    for _ in range(DEPTH + 1):
        value = [value]
    with pytest.raises(AuditError, match="nested deeper"):
        encode(value)
    with pytest.raises(AuditError, match="nested deeper"):
        parse(b"[" * (DEPTH + 1) + b"1" + b"]" * (DEPTH + 1), what="It")
    with pytest.raises(AuditError, match="It is not JSON"):
        parse(b"[" * 200_000 + b"]" * 200_000, what="It")


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":1,"a":1}',
        b'{"b":1,"a":1}',
        b'{"a": 1}',
        b"NaN",
        b"Infinity",
        b"-0",
        b"-0.0",
        b"1e400",
        b"-1e400",
        b"1.0",
        b"1e2",
        b"01",
        b"9007199254740993",
        b"1" * 5000,
        b'"\\u0061"',
        b'"\\ud800"',
        '"cafe\u0301"'.encode(),
        b'"\xff"',
        b"",
        b"[1,]",
        b'{"a":1}\n',
        b"\xef\xbb\xbf1",
    ],
)
def test_every_other_spelling_is_refused_with_one_error_type(text):
    with pytest.raises(AuditError) as caught:
        parse(text, what="It")
    assert caught.value.step == "format"
