"""The PDF: archival, complete, the same bytes each time, its evidence attached."""

import importlib.util
import io
import json
import sys
from pathlib import Path

import pytest
from trail import CLAIMS, SIGNER, Trail, policy

from safegym.audit.report.drawing import Drawing, drawing_of
from safegym.audit.report.evidence import evidence_of
from safegym.audit.report.pdf import pages_of, pdf_of
from safegym.audit.sign import public_key
from safegym.errors import SafegymError

needs_typst = pytest.mark.skipif(
    importlib.util.find_spec("typst") is None, reason="needs typst (safegym[pdf])"
)


@pytest.fixture(scope="module")
def drawing(run: Path) -> Drawing:
    return drawing_of(run, keys=[public_key(SIGNER)])


@needs_typst
def test_one_log_gives_one_pdf_a_3b_with_every_font_inside(drawing: Drawing) -> None:
    pypdf = pytest.importorskip("pypdf", reason="needs pypdf to read the PDF")
    made = pdf_of(drawing)
    assert pdf_of(drawing) == made
    reader = pypdf.PdfReader(io.BytesIO(made))
    xmp = reader.trailer["/Root"]["/Metadata"].get_data().decode("utf-8")
    assert "<pdfaid:part>3</pdfaid:part>" in xmp
    assert "<pdfaid:conformance>B</pdfaid:conformance>" in xmp
    assert reader.metadata.title == "Report of a run on test/corridor-v0"
    assert reader.metadata.creation_date.year == 2026  # the log's last record, not today
    fonts = [
        font.get_object()["/DescendantFonts"][0].get_object()["/FontDescriptor"].get_object()
        for page in reader.pages
        for font in page["/Resources"].get("/Font", {}).values()
    ]
    assert fonts
    assert all({"/FontFile2", "/FontFile3"} & set(font) for font in fonts)
    assert "/OpenAction" not in reader.trailer["/Root"]
    assert b"/JavaScript" not in made


@needs_typst
def test_the_attached_evidence_is_the_logs_own(drawing: Drawing) -> None:
    pypdf = pytest.importorskip("pypdf", reason="needs pypdf to read the PDF")
    reader = pypdf.PdfReader(io.BytesIO(pdf_of(drawing)))
    attached = json.loads(reader.attachments["evidence.json"][0])
    assert attached == json.loads(
        json.dumps(evidence_of(drawing.records, drawing.story, drawing.box))
    )
    assert attached["outcome"]["policy"] == policy("e9")
    for entry in attached["rests_on"]:
        record = drawing.records[entry["record"]]
        assert (entry["kind"], entry["payload"]) == (record.kind, record.payload)
        assert entry["payload_digest"] == record.payload_digest
    named = {item["evidence_record"] for item in attached["claims"]}
    assert named <= {e["record"] for e in attached["rests_on"] if e["kind"] == "evidence"}


@needs_typst
def test_every_part_of_the_page_is_in_the_pdf(drawing: Drawing) -> None:
    pypdf = pytest.importorskip("pypdf", reason="needs pypdf to read the PDF")
    reader = pypdf.PdfReader(io.BytesIO(pdf_of(drawing)))
    text = " ".join("\n".join(page.extract_text() for page in reader.pages).split())
    for words in (
        "CERTIFIED except invariants, observed",
        "The gate over the epochs",
        "Where episodes began",
        "Requirements, claims, verdicts",
        "Return against safety",
        "Integrity",
        "safegym audit verify run --key KEY.pem",
        "Gaps and waivers",
        "episode 117",
        *(claim.id for claim in CLAIMS),
    ):
        assert words in text, words
    assert len(pages_of(drawing, ppi=20)) == len(reader.pages)


@needs_typst
def test_hostile_texts_reach_the_pdf_as_texts(tmp_path: Path) -> None:
    pypdf = pytest.importorskip("pypdf", reason="needs pypdf to read the PDF")
    hostile = '#panic("x") *b* $x$ #read("/etc/passwd") </svg> \\ `r` @ref \u202e'
    trail = Trail(tmp_path / "run", name=hostile)
    trail.register()
    trail.freeze(policy("x"), 1)
    trail.decide("hold", 1, policy("x"), [], [hostile])
    made = pdf_of(drawing_of(trail.close(hostile)))
    reader = pypdf.PdfReader(io.BytesIO(made))
    text = " ".join("\n".join(page.extract_text() for page in reader.pages).split())
    assert '#panic("x") *b* $x$ #read("/etc/passwd")' in text
    assert "\u202e" not in text


def test_without_typst_the_line_to_install_it_is_said(
    drawing: Drawing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(SafegymError, match=r"pip install 'safegym\[pdf\]'"):
        pdf_of(drawing)
