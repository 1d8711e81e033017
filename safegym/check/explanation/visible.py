"""Text from outside, made harmless to read: control and direction characters shown by number."""

import unicodedata

_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn")
_OPEN = "\N{MATHEMATICAL LEFT ANGLE BRACKET}"
_CLOSE = "\N{MATHEMATICAL RIGHT ANGLE BRACKET}"


def visible(text: str) -> str:
    """Returns the text with characters that a reader could not see written as ⟨U+202E⟩."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    noncharacter = ord(character) & 0xFFFE == 0xFFFE
    if unicodedata.category(character) in _UNSEEN or noncharacter:
        return f"{_OPEN}U+{ord(character):04X}{_CLOSE}"
    return character
