"""Which paths a log, a bundle or an archive may name: plain relative ones, nothing else."""

import re
import unicodedata

LONGEST_PATH = 480
LONGEST_PART = 200
_PART = re.compile(r"[^\x00-\x1f\x7f/\\:*?\"<>|]+\Z")


def path_fault(path: str) -> str | None:
    """Say why `path` is refused, or return None.

    Allowed: parts joined by "/", in Unicode normal form C, none of them ".", ".." or empty, free
    of control characters and of characters that mean something on another system.
    """
    shown = repr(path[:80])
    if not path or len(path) > LONGEST_PATH:
        return f"the path {shown} has {len(path)} characters, 1 to {LONGEST_PATH} are allowed"
    if not unicodedata.is_normalized("NFC", path):
        return f"the path {shown} is outside Unicode normal form C"
    if path.startswith("/"):
        return f"the path {shown} is absolute"
    for part in path.split("/"):
        if part == "..":
            return f"the path {shown} climbs out by '..'"
        if part in ("", ".") or len(part) > LONGEST_PART or not _PART.match(part):
            return f"the path {shown} has the part {part[:40]!r}, which is not a plain name"
        if part != part.rstrip(". ") or part != part.lstrip(" "):
            return f"the path {shown} has the part {part[:40]!r}, which ends in a dot or a space"
    return None if _encodable(path) else f"the path {shown} has no UTF-8 form"


def _encodable(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
