"""Certificates of a time-stamp answer in the order that DER wants.

Some authorities (those that run `openssl ts` with a chain, for one) list the certificates of their
answer unsorted, and strict readers refuse that. The list is outside of what is signed, and sorting
it changes no length. Source: RFC 3161 (TimeStampResp), RFC 5652 (SignedData), X.690 11.6.
"""

from dataclasses import dataclass

SEQUENCE, SET, CONTEXT_0 = 0x30, 0x31, 0xA0


@dataclass(frozen=True, slots=True)
class _Element:
    """One element: its tag, where it begins, where its contents begin and where it ends."""

    tag: int
    start: int
    inside: int
    end: int


def with_sorted_certificates(answer: bytes) -> bytes:
    """The same answer with its certificates in order; unchanged where it has no such list.

    Raises ValueError for what is not DER.
    """
    certificates = _certificates(answer)
    if certificates is None:
        return answer
    parts = _elements(answer, certificates.inside, certificates.end)
    listed = sorted(answer[part.start : part.end] for part in parts)
    return answer[: certificates.inside] + b"".join(listed) + answer[certificates.end :]


def _certificates(answer: bytes) -> _Element | None:
    """The list of certificates: TimeStampResp, token, content, SignedData, certificates."""
    response = _elements(answer, 0, len(answer))[0]
    parts = _children(answer, response, SEQUENCE)
    if len(parts) < 2:
        return None
    content = _children(answer, parts[1], SEQUENCE)
    inner = _children(answer, content[1], CONTEXT_0) if len(content) == 2 else []
    signed = _children(answer, inner[0], SEQUENCE) if len(inner) == 1 else []
    return next((part for part in signed if part.tag == CONTEXT_0), None)


def _children(data: bytes, parent: _Element, tag: int) -> list[_Element]:
    return _elements(data, parent.inside, parent.end) if parent.tag == tag else []


def _elements(data: bytes, start: int, end: int) -> list[_Element]:
    """The elements between two places. Raises ValueError."""
    found = list[_Element]()
    while start < end:
        element = _element(data, start, end)
        found.append(element)
        start = element.end
    if not found:
        raise ValueError("an element is empty")
    return found


def _element(data: bytes, start: int, end: int) -> _Element:
    if start + 2 > end:
        raise ValueError("an element is cut off")
    size, inside = data[start + 1], start + 2
    if size >= 0x80:
        count = size & 0x7F
        if not 1 <= count <= 4 or inside + count > end:
            raise ValueError("an element has no definite length")
        size = int.from_bytes(data[inside : inside + count])
        inside += count
    if inside + size > end:
        raise ValueError("an element is cut off")
    return _Element(data[start], start, inside, inside + size)
