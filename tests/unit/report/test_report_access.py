"""The page for everybody: contrast, headings, keyboard, alternatives, and no motion unasked."""

import re
from importlib.resources import files
from itertools import pairwise

import pytest
from page_reader import Page, pictures
from trail import CLAIMS

CSS = files("safegym.audit.report").joinpath("templates", "page.css").read_text("utf-8")
TEXTS = ("ink", "muted", "ok", "bad", "open")
GROUNDS = ("paper", "panel", "badzone", "band")
THEMES = ("screen, light", "screen, dark", "print")


def themes() -> dict[str, dict[str, str]]:
    """The colours of each theme, by variable name."""
    found = re.findall(r":root {([^}]*)}", CSS)
    assert len(found) == len(THEMES)
    listed = [dict(re.findall(r"--([a-z]+): #([0-9a-f]+)", block)) for block in found]
    return dict(zip(THEMES, listed, strict=True))


def over(colour: str, ground: str) -> tuple[float, float, float]:
    """A colour of six or eight hex digits laid over an opaque ground; each channel in 0..1."""
    opaque = int(colour[6:8], 16) / 255 if len(colour) == 8 else 1.0
    top, below = ([int(c[at : at + 2], 16) / 255 for at in (0, 2, 4)] for c in (colour, ground))
    red, green, blue = (opaque * a + (1 - opaque) * b for a, b in zip(top, below, strict=True))
    return red, green, blue


def contrast(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """Contrast ratio after WCAG 2.2: relative luminances, 0.05 of flare on both."""

    def luminance(colour: tuple[float, float, float]) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_the_contrast_is_that_of_the_published_examples() -> None:
    assert contrast((0, 0, 0), (1, 1, 1)) == pytest.approx(21.0)
    grey = over("777777", "ffffff")
    assert contrast(grey, (1, 1, 1)) == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("ground", GROUNDS)
def test_every_text_stands_out_from_every_ground(theme: str, ground: str) -> None:
    colours = themes()[theme]
    behind = over(colours[ground], colours["paper"])
    for name in TEXTS:
        found = contrast(over(colours[name], colours["paper"]), behind)
        assert found >= 4.5, f"{name} on {ground} ({theme}): {found:.2f}"


def test_headings_go_down_one_by_one_and_every_section_is_reached(page: bytes) -> None:
    seen = Page(page)
    assert seen.levels[0] == 1
    assert seen.levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(seen.levels))
    assert ("html", {"lang": "en"}) in seen.found
    links = [attrs["href"][1:] for tag, attrs in seen.found if tag == "a"]
    assert set(links) <= set(seen.ids)
    sections = [attrs["id"] for tag, attrs in seen.found if tag == "section"]
    assert set(sections) <= set(links)


def test_what_scrolls_is_reached_by_keyboard_and_has_a_name(page: bytes) -> None:
    wide = [a for _, a in Page(page).found if "wide" in a.get("class", "").split()]
    assert len(wide) > 8
    for attrs in wide:
        assert attrs["tabindex"] == "0"
        assert attrs["aria-label"]
    ticks = [attrs["id"] for tag, attrs in Page(page).found if tag == "input"]
    labelled = [attrs["for"] for tag, attrs in Page(page).found if tag == "label"]
    assert ticks
    assert ticks == labelled


def test_tables_have_captions_and_their_headings_say_of_what(page: bytes) -> None:
    seen = Page(page)
    tables = sum(tag == "table" for tag, _ in seen.found)
    assert tables == sum(tag == "caption" for tag, _ in seen.found)
    assert all(attrs["scope"] in ("col", "row") for tag, attrs in seen.found if tag == "th")


def test_verdicts_differ_by_shape_and_word_not_by_colour_alone() -> None:
    parts = files("safegym.audit.report").joinpath("templates", "parts.html.j2").read_text("utf-8")
    macro = parts.partition("{% endmacro %}")[0]
    shapes = re.findall(r'mark == "[a-z]+" %}(.*)|{% else %}(.*)', macro)
    drawn = [re.findall(r' d="([^"]*)"', "".join(pair)) for pair in shapes]
    assert len(drawn) == 6
    assert len({tuple(paths) for paths in drawn}) == len(drawn)


def test_nothing_moves_in_print_or_for_who_wants_no_motion() -> None:
    asked = CSS.index("@media screen and (prefers-reduced-motion: no-preference)")
    ends = CSS.index("\n}\n", asked)
    assert [at for at in places("animation:") if not asked < at < ends] == []
    assert "display: none" in rule("svg .curtain")
    assert "display: none" in rule("svg .moment")
    assert "transition" not in CSS


def places(words: str) -> list[int]:
    return [found.start() for found in re.finditer(re.escape(words), CSS)]


def rule(selector: str) -> str:
    start = CSS.index(selector + " {")
    return CSS[start : CSS.index("}", start)]


def test_a_pair_says_in_words_what_it_shows(page: bytes) -> None:
    named = "{http://www.w3.org/2000/svg}"
    pairs = [
        svg.findtext(f"{named}desc") or ""
        for svg in pictures(page)
        if (svg.findtext(f"{named}title") or "").endswith("broken and kept")
    ]
    assert len(pairs) >= 2
    assert all("the nearest that keeps it" in words for words in pairs)
    assert len(pairs) <= len(CLAIMS)
