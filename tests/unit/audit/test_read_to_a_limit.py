"""Notes, reviews, tokens and successions are read to a limit, and never cut silently."""

import pytest

from safegym.audit import cosign, reviewing, stamping, succession
from safegym.audit.bounded import read_bounded
from safegym.errors import AuditError


def test_a_file_at_the_limit_is_read_whole(tmp_path):
    path = tmp_path / "note"
    path.write_bytes(b"x" * 10)
    assert read_bounded(path, "note", 10) == b"x" * 10


def test_a_larger_file_is_refused_not_cut(tmp_path):
    path = tmp_path / "note"
    path.write_bytes(b"x" * 11)
    with pytest.raises(AuditError, match="larger than 10 bytes, so it is no note"):
        read_bounded(path, "note", 10)


@pytest.mark.parametrize(
    "read",
    [
        cosign.read_note,
        reviewing.read_review_file,
        stamping.read_token,
        succession.read_successions,
    ],
)
def test_a_file_that_is_not_there_is_named(read, tmp_path):
    with pytest.raises(AuditError, match=r"gone.txt cannot be read"):
        read(tmp_path / "gone.txt")
