"""JUnit XML: a CI server shows the claims as tests.

A claim that is refuted fails; one that is not shown or not tried is an error; one that is waived
is skipped, unless it is refuted: a waiver turns no verdict. What the log itself is like stands in a
suite of its own. Times come from the log, so the same log gives the same bytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree

from safegym.audit.exports.standing import Dossier, Standing
from safegym.audit.report.figures import visible

Found = Literal["passed", "failure", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class Case:
    """One test: what it is called, how it came out, in which words."""

    name: str
    found: Found
    words: str
    kind: str = ""


def junit_xml(dossier: Dossier) -> bytes:
    """The two suites, "claims" and "audit", as UTF-8 bytes with an XML declaration."""
    groups = _groups(dossier)
    every = [case for cases in groups.values() for case in cases]
    root = ElementTree.Element("testsuites", {"name": "safegym", **_counts(every)})
    for name, cases in groups.items():
        root.append(_suite(f"safegym.{name}", cases, dossier))
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def counts_of(dossier: Dossier) -> dict[str, int]:
    """Over both suites: tests, failures, errors, skipped."""
    every = [case for cases in _groups(dossier).values() for case in cases]
    return {name: int(number) for name, number in _counts(every).items()}


def _groups(dossier: Dossier) -> dict[str, list[Case]]:
    return {
        "claims": [_claim(standing) for standing in dossier.standings] or [_none()],
        "audit": list(_audit(dossier)),
    }


def _suite(name: str, cases: list[Case], dossier: Dossier) -> ElementTree.Element:
    time = dossier.story.last_time[:19] or "1970-01-01T00:00:00"
    about = {"name": name, "timestamp": time, "time": "0", **_counts(cases)}
    suite = ElementTree.Element("testsuite", about)
    facts = ElementTree.SubElement(suite, "properties")
    for key, value in _facts(dossier):
        ElementTree.SubElement(facts, "property", {"name": key, "value": visible(value)})
    group = f"{name}.{dossier.story.scenario.replace('.', '_') or 'no scenario'}"
    for case in cases:
        suite.append(_case(visible(group), case))
    return suite


def _case(group: str, case: Case) -> ElementTree.Element:
    about = {"name": visible(case.name), "classname": group, "time": "0"}
    found = ElementTree.Element("testcase", about)
    words = visible(case.words)
    if case.found == "passed":
        ElementTree.SubElement(found, "system-out").text = words
    elif case.found == "skipped":
        ElementTree.SubElement(found, "skipped", {"message": words})
    else:
        told = {"type": case.kind, "message": words}
        ElementTree.SubElement(found, case.found, told).text = words
    return found


def _counts(cases: list[Case]) -> dict[str, str]:
    found = [case.found for case in cases]
    return {
        "tests": str(len(found)),
        "failures": str(found.count("failure")),
        "errors": str(found.count("error")),
        "skipped": str(found.count("skipped")),
    }


def _facts(dossier: Dossier) -> Iterator[tuple[str, str]]:
    box = dossier.box
    yield "safegym.run", box.run
    yield "safegym.scenario", dossier.story.scenario
    yield "safegym.policy", dossier.outcome.policy
    yield "safegym.outcome", dossier.outcome.headline
    yield "safegym.log", f"{box.records} records, root {box.root}, key {box.key}"
    for caution in dossier.cautions:
        yield "safegym.caution", caution


def _claim(standing: Standing) -> Case:
    name, words = standing.claim.id, _words(standing)
    if standing.result == "violated":
        return Case(name, "failure", words, "violated")
    if standing.waiver is not None:
        return Case(name, "skipped", words)
    if standing.suspect:
        return Case(name, "error", words, "suspect")
    if standing.result == "satisfied":
        return Case(name, "passed", words)
    return Case(name, "error", words, standing.result.replace(" ", "-"))


def _words(standing: Standing) -> str:
    parts = [standing.verdict.text]
    if standing.waiver is not None:
        parts.insert(0, f"{standing.waiver.words}; the verdict stays")
    parts += standing.suspect
    if standing.record is not None:
        parts.append(f"evidence: record {standing.record.index}, leaf {standing.record.digest}")
    return ". ".join(parts)


def _none() -> Case:
    return Case("a claim is registered", "error", "the log registers no claim", "not-tried")


def _audit(dossier: Dossier) -> Iterator[Case]:
    box, story = dossier.box, dossier.story
    yield _look("nothing of the log is missing", not box.missing, "; ".join(box.missing))
    yield _look("the run is closed", story.closed, "it still goes on, or it was broken off")
    trusted = "no trusted key was given: pass --key KEY.pub.pem"
    yield _look("a trusted key signed the log", box.trusted, trusted)
    if box.derived:
        yield Case("verdicts and evidence were derived again", "passed", "from the traces")
    else:
        yield Case("verdicts and evidence were derived again", "skipped", "left out by --fast")
    if dossier.outcome.certified:
        yield Case("a policy is released", "passed", dossier.outcome.detail)
    else:
        told = f"{dossier.outcome.headline}. {dossier.outcome.detail}"
        yield Case("a policy is released", "failure", told, "not-released")


def _look(name: str, holds: bool, otherwise: str) -> Case:
    return Case(name, "passed", "yes") if holds else Case(name, "error", otherwise, "incomplete")
