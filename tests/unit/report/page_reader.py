"""Reads a page strictly: nesting, tags, attributes, headings, pictures."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

VOID = {"meta", "br", "link", "img", "hr", "input"}
INLINE = {"b", "a", "code", "span"}
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "section", "article"),
    *("h1", "h2", "h3", "h4", "p", "dl", "dt", "dd", "div", "ul", "li", "b", "a", "code", "pre"),
    *("span", "br", "table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption"),
    *("svg", "desc", "path", "line", "rect", "text"),
    *("nav", "caption", "input", "label", "ol"),
}


class Page(HTMLParser):
    """Checks nesting, tags and attributes while it reads, and keeps the text."""

    def __init__(self, page: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.words: list[str] = []
        self.ids: list[str] = []
        self.levels: list[int] = []
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(page.decode("utf-8"))
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, tag
        self.seen.add(tag)
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            assert name not in ("src", "srcset", "action", "style"), (tag, name)
            assert name != "href" or (value or "").startswith("#"), value
            if name == "id":
                self.ids.append(value or "")
        if tag in VOID:
            self.words.append(" ")
        else:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag not in INLINE:
            self.words.append(" ")

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        words = " ".join("".join(self.words).split())
        return words.replace("\N{NO-BREAK SPACE}", " ")


def pictures(page: bytes) -> list[ElementTree.Element]:
    found = re.findall(r"<svg xmlns=.*?</svg>", page.decode("utf-8"), re.DOTALL)
    return [ElementTree.fromstring(svg) for svg in found]
