"""The look of a picture: two palettes, chosen by the reader's own setting."""

_LIGHT = {
    "paper": "#ffffff",
    "ink": "#171a1e",
    "muted": "#5a636e",
    "rule": "#dfe3e8",
    "line": "#00629b",
    "second": "#6a4c93",
    "bad": "#b83a00",
    "ok": "#00784a",
    "open": "#7a5c00",
}
_DARK = {
    "paper": "#14171b",
    "ink": "#e7eaee",
    "muted": "#a3acb7",
    "rule": "#30363e",
    "line": "#6cbcf0",
    "second": "#c9a9f5",
    "bad": "#ff9466",
    "ok": "#5fd3a0",
    "open": "#e6c453",
}
_RULES = """
.sg text{{font:12px system-ui,-apple-system,"Segoe UI","Liberation Sans",sans-serif;fill:{ink}}}
.sg text{{paint-order:stroke;stroke:{paper};stroke-width:3px;stroke-linejoin:round}}
.sg .sg-small{{font-size:11px;fill:{muted}}}
.sg .sg-head{{font-size:15px;font-weight:600}}
.sg .sg-title{{font-weight:600}}
.sg .sg-strong{{font-weight:600}}
.sg .sg-paper{{fill:{paper}}}
.sg .sg-frame{{fill:none;stroke:{muted}}}
.sg .sg-grid{{stroke:{rule}}}
.sg .sg-line{{fill:none;stroke:{line};stroke-width:1.6;stroke-linejoin:round}}
.sg .sg-dots{{fill:none;stroke:{line};stroke-width:4.4;stroke-linecap:round}}
.sg .sg-line.sg-second{{stroke:{second};stroke-dasharray:7 3}}
.sg .sg-dots.sg-second{{stroke:{second}}}
.sg .sg-limit{{stroke:{bad};stroke-width:1.4;stroke-dasharray:6 4}}
.sg .sg-shade{{fill:{bad};fill-opacity:.16}}
.sg .sg-bar{{fill:{bad}}}
.sg .sg-bracket{{fill:none;stroke:{muted};stroke-width:1.2}}
.sg .sg-rule{{stroke:{muted};stroke-dasharray:2 3}}
.sg .sg-edge{{stroke:{muted}}}
.sg .sg-hatch{{fill:none;stroke:{muted};stroke-opacity:.5}}
.sg .sg-tail{{fill:{muted};fill-opacity:.1}}
.sg .sg-part{{fill:{ink};fill-opacity:.1;stroke:{muted}}}
.sg .sg-mark{{stroke:{paper};stroke-width:1.5}}
.sg text.sg-bad,.sg .sg-bad{{fill:{bad}}}
.sg text.sg-ok,.sg .sg-ok{{fill:{ok}}}
.sg text.sg-open,.sg .sg-open{{fill:{open}}}
.sg text.sg-note,.sg .sg-note{{fill:{ink}}}
.sg text.sg-name{{fill:{line}}}
.sg text.sg-name2{{fill:{second}}}
"""

STYLE = (
    _RULES.format(**_LIGHT) + "@media (prefers-color-scheme:dark){" + _RULES.format(**_DARK) + "}"
)
"""Every rule is under the class `sg`, so that a page around the picture keeps its own look."""


def colour(name: str) -> str:
    """Returns a colour of the light palette, for matplotlib."""
    return _LIGHT[name]
