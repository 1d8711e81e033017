"""Files that come from other people, read to a limit."""

import os
from pathlib import Path

from safegym.errors import AuditError


def read_bounded(path: str | os.PathLike[str], what: str, most: int) -> bytes:
    """The bytes of a file of at most `most` bytes. what: how messages name it ("note").

    Raises AuditError if it cannot be read or is larger: then it is no such file.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise AuditError(f"The {what} {path} cannot be read: {error.strerror}.") from error
    if len(data) > most:
        raise AuditError(
            f"{path} is larger than {most} bytes, so it is no {what}; name the file that was made "
            "as one."
        )
    return data
