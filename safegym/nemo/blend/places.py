"""Where rows are read and written: local paths, and what pyarrow's filesystems reach (s3://)."""

import os
import shutil
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from safegym.errors import BlendError

CHUNK = 8 << 20
"""Bytes that are copied at a time."""


@dataclass(frozen=True, slots=True)
class Place:
    """A file: a local path, or a path in one of pyarrow's filesystems.

    text: as it was named, without the keys and options that a URI may carry. filesystem: None for
    a local path.
    """

    text: str
    path: str
    filesystem: Any = None

    @classmethod
    def of(cls, named: "str | Path | Place", filesystem: Any = None) -> "Place":
        """The place that a text names: a path, or a URI such as s3://bucket/rows.jsonl.

        filesystem: of pyarrow, which the text is then a path in. Raises BlendError for a URI
        that pyarrow does not know.
        """
        if isinstance(named, Place):
            return named
        text = str(named)
        if filesystem is not None:
            return cls(text, text, filesystem)
        if "://" not in text:
            return cls(text, text)
        from pyarrow.fs import FileSystem

        named_as = _without_secrets(text)
        try:
            found, path = FileSystem.from_uri(text)
        except (ValueError, OSError, NotImplementedError) as error:
            why = f": {error}" if named_as == text else ""
            raise BlendError(
                f"{named_as} cannot be reached{why}. Write a path, or a URI such as "
                "s3://bucket/rows.jsonl."
            ) from error
        return cls(named_as, path, None if found.type_name == "local" else found)

    @property
    def kind(self) -> str:
        """How its rows are stored, by its name: "parquet" or "jsonl", with ".gz" if packed."""
        name = self.path.lower()
        packed = name.endswith(".gz")
        stem = name.removesuffix(".gz")
        if stem.endswith(".parquet") and not packed:
            return "parquet"
        if stem.endswith((".jsonl", ".ndjson")):
            return "jsonl.gz" if packed else "jsonl"
        raise BlendError(
            f"{self.text}: rows are kept in files named .jsonl, .jsonl.gz or .parquet."
        )

    def exists(self) -> bool:
        """Whether something is there."""
        if self.filesystem is None:
            return os.path.lexists(self.path)
        from pyarrow.fs import FileType

        with _said(self.text):
            return bool(self.filesystem.get_file_info(self.path).type != FileType.NotFound)

    def same_as(self, other: "Place") -> bool:
        """Whether both are one file, under whatever name."""
        if self.filesystem is None and other.filesystem is None:
            with suppress(OSError):
                return os.path.samefile(self.path, other.path)
            return os.path.abspath(self.path) == os.path.abspath(other.path)
        if self.filesystem is None or other.filesystem is None:
            return False
        return self.path == other.path and bool(self.filesystem.equals(other.filesystem))

    @contextmanager
    def opened(self) -> Generator[IO[bytes]]:
        """Its bytes, to be read from the start. Raises BlendError where it is no readable file."""
        with _said(self.text):
            if self.filesystem is None:
                if not os.path.isfile(self.path):
                    found = "a folder" if os.path.isdir(self.path) else "nothing"
                    raise BlendError(f"{self.text}: a file of rows was asked for, found {found}.")
                stream: Any = open(self.path, "rb", buffering=1 << 20)  # noqa: SIM115  # closed below
            else:
                stream = self.filesystem.open_input_file(self.path)
        try:
            yield cast(IO[bytes], stream)
        finally:
            stream.close()


def refuse(outputs: Iterable[Place], inputs: Iterable[Place]) -> None:
    """Raises BlendError for an output that is also an input, named twice, or there already."""
    listed, kept = list(outputs), list(inputs)
    for number, out in enumerate(listed):
        for source in kept:
            if out.same_as(source):
                raise BlendError(
                    f"{out.text} is also an input; name another output, such as {_other(out.text)}."
                )
        if any(out.same_as(before) for before in listed[:number]):
            raise BlendError(f"{out.text} is named twice as an output; name two files.")
        if out.exists():
            raise BlendError(
                f"{out.text} exists and is not overwritten; name another output, such as "
                f"{_other(out.text)}, or remove it first."
            )


@contextmanager
def published(place: Place) -> Generator[IO[bytes]]:
    """A stream that becomes the file only when all has been written; nothing is left otherwise.

    Raises BlendError if the file has come to exist, or cannot be written.
    """
    folder = None
    if place.filesystem is None:
        folder = os.path.dirname(os.path.abspath(place.path))
        if not os.path.isdir(folder):
            raise BlendError(f"{place.text}: there is no folder {folder}; make it first.")
    with _said(place.text):
        handle, name = tempfile.mkstemp(prefix=".rows-", suffix=".part", dir=folder)
    try:
        with os.fdopen(handle, "w+b", buffering=1 << 20) as stream:
            yield stream
            stream.flush()
            with _said(place.text):
                _publish(place, name, stream)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)


def _publish(place: Place, name: str, stream: IO[bytes]) -> None:
    if place.filesystem is None:
        os.fsync(stream.fileno())
        os.chmod(name, 0o666 & ~_umask())
        try:
            os.link(name, place.path)
        except FileExistsError as error:
            raise BlendError(
                f"{place.text} has come to exist meanwhile; nothing written."
            ) from error
        except OSError:  # a filesystem without hard links
            os.replace(name, place.path)
        return
    stream.seek(0)
    try:
        with place.filesystem.open_output_stream(place.path, compression=None) as target:
            shutil.copyfileobj(stream, target, CHUNK)
    except BaseException:
        with suppress(Exception):
            place.filesystem.delete_file(place.path)
        raise


def _without_secrets(uri: str) -> str:
    """A URI as it may stand in messages and reports: no user, no password, no options."""
    scheme, _, rest = uri.partition("://")
    host, slash, path = rest.partition("?")[0].partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def _umask() -> int:
    found = os.umask(0o077)
    os.umask(found)
    return found


@contextmanager
def _said(text: str) -> Generator[None]:
    """Says which file a filesystem's error is about."""
    try:
        yield
    except OSError as error:
        raise BlendError(f"{text}: {error.strerror or str(error).splitlines()[0]}.") from error


def _other(text: str) -> str:
    head, dot, tail = text.rpartition(".")
    return f"{head}-2{dot}{tail}" if dot else f"{text}-2"
