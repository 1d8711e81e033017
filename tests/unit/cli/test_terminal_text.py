"""Text from outside cannot steer a terminal, or make one line read as another."""

import json

from safegym.cli.console import print_json, shown

HOSTILE = "Ann\x1b[31m\x9b2J\u202eevil\u2066\u200b\ufeff\u2028\U000e0041"


def test_no_character_of_control_or_direction_reaches_a_terminal():
    told = shown(HOSTILE)
    assert not any(sign in told for sign in "\x1b\x9b\u202e\u2066\u200b\ufeff\u2028\U000e0041")
    assert shown("plain, é, 漢, עברית\n") == "plain, é, 漢, עברית\n"


def test_json_escapes_them_and_means_the_same(capsys):
    print_json({"who": HOSTILE})
    text = capsys.readouterr().out
    assert not any(sign in text for sign in "\x1b\x9b\u202e\u2066\u200b\ufeff\u2028\U000e0041")
    assert json.loads(text) == {"who": HOSTILE}
