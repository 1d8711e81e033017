"""A report as a reviewer opens it: in a browser without a network, on narrow and wide screens."""

import io
from itertools import pairwise
from pathlib import Path

import pytest
from devtools_pipe import Chromium

pytestmark = pytest.mark.slow
WIDTHS = (400, 900, 1400)
LEVELS = "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])"
UNNAMED = """
[...document.querySelectorAll('img, svg, canvas, video, object, iframe')].filter(e => {
  if (e.closest('[aria-hidden=true]') || e.parentElement.closest('svg')) return false;
  if (e.tagName === 'IMG') return !e.alt;
  const ids = (e.getAttribute('aria-labelledby') || '').split(/\\s+/).filter(Boolean);
  return e.getAttribute('role') !== 'img' || !ids.length
    || ids.some(id => !(document.getElementById(id) || {textContent: ''}).textContent.trim());
}).map(e => e.outerHTML.slice(0, 200))
"""
OVERFLOWING = """
[...document.querySelectorAll('body *')].filter(e => !e.closest('svg') && !e.closest('.wide'))
  .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map(e => e.outerHTML.slice(0, 120))
"""


def test_the_browser_sees_a_request_that_a_page_makes(browser: Chromium, tmp_path: Path) -> None:
    """Without this the next test could not fail."""
    page = tmp_path / "leaking.html"
    page.write_text('<html><body><img src="http://leak.example/x.png"></body></html>')
    browser.open(page.as_uri())
    assert browser.requests == [page.as_uri(), "http://leak.example/x.png"]


def test_no_request_leaves_a_report_at_any_width_or_in_print(
    browser: Chromium, seen_page: Path
) -> None:
    for width in WIDTHS:
        browser.width(width)
        browser.open(seen_page.as_uri())
        browser.hear(0.3)
        assert browser.run(OVERFLOWING) == [], f"wider than {width} pixels"
        assert len(browser.picture()) > 20_000
    printed = browser.printed()
    assert set(browser.requests) == {seen_page.as_uri()}
    assert browser.complaints == []
    assert browser.run("performance.getEntriesByType('resource').length") == 0
    pypdf = pytest.importorskip("pypdf", reason="needs pypdf to read the print")
    pages = [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(printed)).pages]
    assert 2 <= len(pages) <= 20
    assert "CERTIFIED" in pages[0]
    assert all(text.strip() for text in pages), "an empty page is printed"
    assert "Integrity" in "\n".join(pages)


def test_every_picture_has_its_alternative_and_headings_go_down_one_by_one(
    browser: Chromium, seen_page: Path
) -> None:
    browser.open(seen_page.as_uri())
    assert browser.run("document.querySelectorAll('svg[role=img]').length") >= 5
    assert browser.run(UNNAMED) == []
    names = browser.names("image") + browser.names("img")
    assert len(names) >= 5
    assert all(len(name) > 20 for name in names)
    levels = browser.run(LEVELS)
    assert levels[0] == 1
    assert levels.count(1) == 1
    jumps = [(a, b) for a, b in pairwise(levels) if b > a + 1]
    assert jumps == []
    assert browser.run("document.documentElement.lang") == "en"


def test_a_report_is_whole_without_script(browser: Chromium, seen_page: Path) -> None:
    browser.open(seen_page.as_uri())
    shown = browser.run("document.body.innerText")
    assert browser.run("document.scripts.length") == 0
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(seen_page.as_uri())
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.run("document.body.innerText") == shown
