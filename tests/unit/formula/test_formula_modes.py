"""Mode signals: names for numbers, in Python, in text, in the digest, in JSON, on traces."""

import json
from typing import Any

import pytest

from safegym import Trace, check
from safegym.errors import FormulaError
from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal, describe
from safegym.formula.text import parse

COUNTED = Signal("mode", labels=("OK", "FAULT"))
CODED = Signal("mode", labels={"OK": 0, "FAULT": 7, "LAND": -3})


def test_a_mode_holds_where_the_signal_has_the_labels_number() -> None:
    assert COUNTED.is_("FAULT") is (abs(COUNTED - 1) <= 0.5)
    assert CODED.is_("FAULT") is (abs(CODED - 7) <= 0.5)
    assert CODED.is_("LAND") is (abs(CODED - -3) <= 0.5)
    trace = Trace.from_arrays({"mode": [7.0, 7.0, -3.0]}, dt=1)
    assert check(CODED.is_("FAULT"), trace).status == "satisfied"
    assert check(CODED.is_("OK"), trace).status == "violated"
    assert check(always(CODED.is_("FAULT") | CODED.is_("LAND")), trace).status == "satisfied"
    assert check(always(CODED.is_("FAULT")), trace, backend="z3").status == "violated"


def test_the_same_coding_written_in_two_ways_is_one_signal() -> None:
    assert Signal("mode", labels={"OK": 0, "FAULT": 1}) is COUNTED
    assert Signal("mode", labels=["OK", "FAULT"]) is COUNTED
    assert Signal("mode", labels=(("OK", 0), ("FAULT", 1))) is COUNTED
    assert COUNTED.labels == ("OK", "FAULT")
    assert CODED.coding == (("OK", 0), ("FAULT", 7), ("LAND", -3))


@pytest.mark.parametrize(
    "labels",
    [
        {"A": 0, "B": 0},
        ("A", "A"),
        {"A": 0.5},
        {"A": True},
        {"A": "0"},
        {"2x": 0},
        {"A": 2**40},
        (("A", 1, 2),),
        "AB",
        3,
        None,
    ],
)
def test_malformed_labels_are_refused_with_both_forms(labels: Any) -> None:
    with pytest.raises(FormulaError, match=r"Signal 'mode': labels must .*\"FAULT\": 7"):
        Signal("mode", labels=labels)


def test_a_vector_has_no_labels() -> None:
    with pytest.raises(FormulaError, match="of a scalar"):
        Signal("mode", shape=(2,), labels=("A", "B"))


def test_an_unknown_label_names_the_nearest() -> None:
    with pytest.raises(
        FormulaError,
        match=r"'FALT'; its labels: OK, FAULT, LAND\. Did you mean FAULT\?",
    ):
        CODED.is_("FALT")
    with pytest.raises(FormulaError, match=r"no label 'FALT'; it has none at all: declare them"):
        Signal("mode").is_("FALT")


def test_modes_in_text() -> None:
    assert parse("mode is FAULT", [CODED]) is CODED.is_("FAULT")
    assert parse("not mode is OK and x > 0", [CODED]) is (~CODED.is_("OK") & (Signal("x") > 0))
    assert parse("always(mode is FAULT implies mode is LAND)", [CODED]).signals == (CODED,)
    found = always(CODED.is_("FAULT"))
    assert str(found) == "always(abs(mode - 7) <= 0.5)"
    assert parse(str(found), found.signals) is found
    assert parse("is > 0") is (Signal("is") > 0)
    for text, column, problem in (
        ("mode is FALT", 9, r"has no label 'FALT'.*Did you mean FAULT\?"),
        ("mode is 7", 9, "expected one of mode's labels after 'is', found '7'"),
        ("mode is", 8, "expected one of mode's labels after 'is', found the end"),
        ("other is FAULT", 10, "has no label 'FAULT'; it has none at all"),
        ("(mode > 0) is FAULT", 12, "expected an operator, found 'is'"),
    ):
        with pytest.raises(FormulaError, match=rf"column {column}: .*{problem}"):
            parse(text, [CODED])


def test_the_coding_is_in_the_digest_and_survives_json() -> None:
    digests = set()
    for labels in ((), ("OK", "FAULT"), {"OK": 0, "FAULT": 7}, {"OK": 7, "FAULT": 0}):
        signal = Signal("mode", labels=labels)
        claim = Claim(id="m.safe", statement=always(signal < 9))
        digests.add(claim.digest)
        again = Claim.from_json(json.loads(json.dumps(claim.to_json())))
        assert again == claim
        assert again.signals == (signal,)
    assert len(digests) == 4
    assert describe(COUNTED).endswith("hold=sample labels=(OK,FAULT)")
    assert describe(CODED).endswith("hold=sample labels=(OK=0,FAULT=7,LAND=-3)")
    assert Claim(id="m.safe", statement=CODED < 9).to_json()["signals"][0]["labels"] == {
        "OK": 0,
        "FAULT": 7,
        "LAND": -3,
    }
