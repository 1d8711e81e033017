"""A verified log, its raw records, and `safegym audit ...` as a person asks it."""

import base64
import json

from safegym.audit.sign import default_key
from safegym.cli.application import run as safegym
from safegym.gate.answers import open_log


def opened(place):
    return open_log(place, keys=[default_key()])


def raw(run):
    """The records of a log, read without safegym: kind, payload, leaves."""
    found = []
    for line in (run / "log.jsonl").read_text().splitlines():
        statement = json.loads(base64.b64decode(json.loads(line)["payload"]))
        told = statement["predicate"]
        found.append((told["kind"], told["payload"], told["envelope"]["leaves"]))
    return found


def asked(capsys, *words):
    """Exit status and output of `safegym audit ...`, with runs of spaces as one."""
    capsys.readouterr()
    status = safegym(["audit", *map(str, words)])
    told = capsys.readouterr()
    return status, " ".join((told.out + told.err).split())


def asked_json(capsys, *words):
    capsys.readouterr()
    status = safegym(["audit", *map(str, words), "--json"])
    return status, json.loads(capsys.readouterr().out)
