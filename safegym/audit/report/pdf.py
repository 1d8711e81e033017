"""The report as PDF/A-3b, set by typst: the page's words and pictures, its evidence attached.

Texts reach typst as data, never as markup. No font and no file of the machine is read, and the
document bears the time of the log's last record, so that one log gives one PDF.
"""

import json
import re
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any

from markupsafe import Markup

from safegym.audit.report import gaps, wording
from safegym.audit.report.drawing import Drawing
from safegym.audit.report.evidence import evidence_of
from safegym.audit.report.figures import short_digest, visible
from safegym.audit.report.page import Pictures, baselines_of, decisive, facts
from safegym.audit.report.timeline import timeline
from safegym.errors import SafegymError

STANDARD = "a-3b"
PLOTTED = 60
"""Claims with pictures; the others have their line in the tables."""
MISSING = (
    "The PDF is set by typst, which is not installed. Run: pip install 'safegym[pdf]', or open the "
    "page and print it."
)
LARGER = 2
"""Pixels by which texts in pictures are larger than on the page: paper shows them smaller."""
VARIABLE = re.compile(r"var\((--[a-z]+)\)")
FAMILY = '"Libertinus Serif"'


def pdf_of(found: Drawing) -> bytes:
    """The PDF as bytes. Raises SafegymError without typst."""
    return _compiled(found, format="pdf", pdf_standards=[STANDARD])[0]


def pages_of(found: Drawing, *, ppi: float = 72.0) -> list[bytes]:
    """The same pages as PNG pictures. Raises SafegymError without typst."""
    return _compiled(found, format="png", ppi=ppi)


def _compiled(found: Drawing, **options: Any) -> list[bytes]:
    try:
        import typst
    except ImportError as error:
        raise SafegymError(MISSING) from error
    evidence = evidence_of(found.records, found.story, found.box, found.drawn.unread)
    with tempfile.TemporaryDirectory(prefix="safegym-pdf-") as name:
        folder = Path(name)
        template = files("safegym.audit.report").joinpath("templates", "report.typ")
        (folder / "report.typ").write_text(template.read_text("utf-8"), encoding="utf-8")
        (folder / "report.json").write_text(json.dumps(_data(found)), encoding="utf-8")
        text = json.dumps(evidence, ensure_ascii=False, indent=1, sort_keys=True)
        (folder / "evidence.json").write_text(text, encoding="utf-8")
        try:
            made = typst.compile(
                folder / "report.typ", root=folder, ignore_system_fonts=True, **options
            )
        except typst.TypstError as error:
            raise SafegymError(f"typst could not set the report: {error}") from error
    return made if isinstance(made, list) else [made]


def _data(found: Drawing) -> dict[str, Any]:
    """Everything that the PDF says, as plain texts."""
    story, box, drawn = found.story, found.box, found.drawn
    outcome = wording.outcome_of(story, incomplete=bool(box.missing))
    data = {
        "outcome": {
            "headline": outcome.headline,
            "good": outcome.certified and not box.missing,
            "detail": outcome.detail,
            "policy": outcome.policy,
            "caution": outcome.caution,
        },
        "scenario": story.scenario or "an unregistered scenario",
        "closed": story.closed,
        "time": _moment(story.last_time),
        "facts": [list(pair) for pair in facts(story)],
        "verdicts": [_verdict(item) for item in outcome.verdicts],
        "meaning": story.meaning,
        "timeline": _picture(timeline(story)),
        "decisions": [
            [str(d.epoch), d.action, "; ".join(d.reasons), short_digest(d.policy)]
            for d in decisive(story)[:60]
        ],
        "claims": [_claim(item) for item in drawn.claims[:PLOTTED]],
        "undrawn": max(0, len(drawn.claims) - PLOTTED),
        "source": drawn.source,
        "coverage": _picture(drawn.coverage),
        "covered": drawn.covered,
        "baselines": [[name, str(n), *cells] for name, n, cells in baselines_of(story)],
        "returns": _picture(drawn.returns),
        "box": {
            "command": box.command,
            "run": box.run,
            "records": str(box.records),
            "root": box.root,
            "key": box.key,
            "trusted": box.trusted,
            "derived": box.derived,
            "missing": list(box.missing),
            "signed": "; ".join(box.signed[:20]),
            "steps": [list(step) for step in box.steps],
        },
        "gaps": [[gap.name, gap.detail] for gap in gaps.gaps_of(story, box, drawn.unread)],
        "waivers": [
            [item.claim_id, item.who, item.why, item.expiry, gaps.waiver_state(item, story)]
            for item in story.waivers[:200]
        ],
    }
    return {name: _seen(value) for name, value in data.items()}


def _moment(time: str) -> list[int]:
    """Year to second of the log's last record; the first moment of 1970 for a log without one."""
    numbers = [int(part) for part in re.findall(r"[0-9]+", time)[:6]]
    return numbers if len(numbers) == 6 else [1970, 1, 1, 0, 0, 0]


def _verdict(item: wording.ClaimVerdict) -> dict[str, Any]:
    claim = item.claim
    hazard = "" if claim.claim is None else claim.claim.hazard
    severity = "" if claim.claim is None else claim.claim.severity
    return {
        "id": claim.id,
        "mark": item.mark,
        "word": item.word,
        "text": item.text,
        "statement": claim.statement,
        "digest": short_digest(claim.digest),
        "hazard": hazard,
        "severity": severity,
        "asked": wording.threshold_words(claim),
        "leaf": "none" if item.leaf is None else f"record {item.leaf}",
    }


def _claim(item: Pictures) -> dict[str, Any]:
    pair = item.broken.pair
    return {
        "id": item.claim.id,
        "statement": item.claim.statement,
        "margins": _picture(item.margins),
        "bounds": _picture(item.bounds),
        "signal": None if pair is not None else _picture(item.broken.signal),
        "pair": None if pair is None else _picture(pair.picture),
        "caption": item.broken.caption + ("" if pair is None else f" {pair.caption}"),
        "counts": item.counts,
        "searched": item.searched,
    }


def _picture(svg: Markup) -> dict[str, str] | None:
    """A picture with the page's colours written in, and its words; None for no picture."""
    if not svg:
        return None
    text = str(svg)
    title, desc = (
        re.search(rf"<{tag}[^>]*>(.*?)</{tag}>", text, re.S) for tag in ("title", "desc")
    )
    words = " ".join(Markup(part.group(1)).unescape() for part in (title, desc) if part)
    start = text.index(">") + 1
    return {"svg": f"{text[:start]}<style>{_style()}</style>{text[start:]}", "alt": words}


def _style() -> str:
    """The rules of the page's style sheet that are about pictures, for print, without variables."""
    sheet = files("safegym.audit.report").joinpath("templates", "page.css").read_text("utf-8")
    light = dict(re.findall(r"(--[a-z]+): (#[0-9a-f]+)", sheet.partition("}")[0]))
    rules = re.findall(r"(svg (?:text|path|line|\.)[^{}]*){([^}]*)}", sheet)
    found = [
        f"{selector.replace('svg ', '')}{{{VARIABLE.sub(lambda m: light[m.group(1)], body)}}}"
        for selector, body in rules
        if "animation" not in body
    ]
    text = "".join(found)
    text = re.sub(r"font: ([0-9]+px) [^;}]*", rf"font-size: \1; font-family: {FAMILY}", text)
    larger = (
        f"font-size: {int(size) + LARGER}px" for size in re.findall(r"font-size: (\d+)px", text)
    )
    return re.sub(r"font-size: \d+px", lambda _: next(larger), text)


def _seen(value: Any) -> Any:
    """Every text with its control characters visible; pictures are already escaped."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, list):
        return [_seen(item) for item in value]
    if isinstance(value, dict):
        return {name: item if name == "svg" else _seen(item) for name, item in value.items()}
    return value
