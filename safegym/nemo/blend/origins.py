"""Where the questions of placeholders come from: local files with a pinned digest, read by row."""

import json
import tempfile
from array import array
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import IO, Any, Literal

from safegym.digest import PREFIX
from safegym.errors import BlendError
from safegym.nemo.blend.places import Place
from safegym.nemo.blend.stored import Tell, stored_rows

Wrapping = Literal["around", "inside", "either"]
"""How a template holds the question: {prefix, suffix} around it, or a text with "{question}"."""


@dataclass(frozen=True, slots=True)
class Alias:
    """A public data set that placeholders name: where it is, and how its templates look."""

    dataset: str
    split: str
    wrapping: Wrapping


ALIASES: Mapping[str, Alias] = {
    "nano_v3_sft_profiled_dapo17k": Alias("BytedTsinghua-SIA/DAPO-Math-17k", "train", "around"),
    "nano_v3_sft_profiled_skywork_no_omni": Alias("Skywork/Skywork-OR1-RL-Data", "math", "inside"),
}


@dataclass(frozen=True, slots=True)
class Pinned:
    """A local file and the digest that it must have, `sha256:<hex>`."""

    file: str | Path | Place
    digest: str

    @classmethod
    def parse(cls, text: str) -> "Pinned":
        """From PATH@sha256:HEX. Raises BlendError without a whole digest."""
        path, _, digest = text.rpartition("@")
        if not path or not _is_digest(digest):
            raise BlendError(
                f"{text!r:.120} pins no digest; write FILE@sha256:HEX with the 64 digits that "
                "`sha256sum FILE` shows, once they are compared with the publisher's."
            )
        return cls(path, digest)


@dataclass(frozen=True, slots=True)
class Found:
    """Question and answer of one row of a source; None where the row has none."""

    question: str | None
    answer: Any


class Origin:
    """The rows of one alias, kept on disk and read by number; 8 bytes of memory a row."""

    def __init__(self, spool: IO[bytes], offsets: "array[int]") -> None:
        self._spool, self._offsets = spool, offsets

    @property
    def rows(self) -> int:
        """How many rows the source has."""
        return len(self._offsets)

    def row(self, number: int) -> Found:
        """The row of this number, counted from 0."""
        self._spool.seek(self._offsets[number])
        question, answer = json.loads(self._spool.readline())
        return Found(question, answer)


@contextmanager
def origins(sources: Mapping[str, Sequence[Pinned]], tell: Tell) -> Generator[Mapping[str, Origin]]:
    """Reads the files of each alias, in order. Raises BlendError where a digest differs."""
    with ExitStack() as stack:
        yield {
            alias: _origin(alias, files, stack.enter_context(tempfile.TemporaryFile()), tell)
            for alias, files in sources.items()
        }


def _origin(alias: str, files: Sequence[Pinned], spool: IO[bytes], tell: Tell) -> Origin:
    offsets = array("Q")
    for pinned in files:
        place = Place.of(pinned.file)
        _check(alias, place, pinned.digest)
        for _, record in stored_rows(place, tell, f"reading {alias}"):
            offsets.append(spool.tell())
            question = _at(record, "prompt", 0, "content")
            found = question if isinstance(question, str) else None
            answer = _at(record, "reward_model", "ground_truth")
            spool.write(json.dumps([found, answer]).encode("ascii") + b"\n")
    return Origin(spool, offsets)


def _check(alias: str, place: Place, digest: str) -> None:
    if not _is_digest(digest):
        raise BlendError(
            f"The digest of {place.text} is {digest!r:.80}; write sha256: and 64 digits."
        )
    with place.opened() as stream:
        found = PREFIX + file_digest(_Readable(stream), "sha256").hexdigest()
    if found != digest:
        raise BlendError(
            f"{place.text} for {alias} has digest {found}, pinned is {digest}: it is another "
            "file, or was changed. Nothing was filled."
        )


class _Readable:
    """What `file_digest` asks of a stream, of streams that pyarrow opened too."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def readinto(self, buffer: Any) -> int:
        chunk = self._stream.read(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def readable(self) -> bool:
        return True


def _at(value: Any, *path: str | int) -> Any:
    for key in path:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value


def _is_digest(text: str) -> bool:
    digits = text.removeprefix(PREFIX)
    return text.startswith(PREFIX) and len(digits) == 64 and set(digits) <= set("0123456789abcdef")
