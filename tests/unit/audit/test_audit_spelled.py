"""The fast spelling of JSON is that of RFC 8785, or the library for it is asked."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safegym.audit.values import SAFE_INTEGER, canonical, parse, spelled
from safegym.errors import AuditError

NUMBERS = st.one_of(
    st.integers(-SAFE_INTEGER, SAFE_INTEGER),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1e-4, 9.9e-5, 1e-7, 1e15, 1e16, 1e21, 1e22, 5e-324, 0.1, 1.5, 123456.75]),
)
TEXT = st.text('ab\u20ac\ue000\U0001f600\u007f\u0001"\\/\n', max_size=6)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=4)),
    max_leaves=12,
)


@given(VALUES)
def test_a_value_is_spelled_as_rfc_8785_spells_it(value):
    assert spelled(value) == canonical(value)


@given(VALUES)
def test_canonical_text_is_read_and_every_other_spelling_of_it_is_refused(value):
    text = canonical(value)
    again = parse(text, what="it")
    assert canonical(again) == text
    other = json.dumps(again, indent=1).encode()
    if other != text:
        with pytest.raises(AuditError, match="it is not in canonical form"):
            parse(other, what="it")
