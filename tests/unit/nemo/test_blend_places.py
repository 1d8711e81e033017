"""Files that rows live in: packed, Parquet, and other filesystems, S3 among them."""

import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from blend_rows import row, write
from pyarrow.fs import LocalFileSystem, S3FileSystem, SubTreeFileSystem

from safegym.errors import BlendError
from safegym.nemo.blend.convert import convert
from safegym.nemo.blend.curriculum import sort_by_pass_rate
from safegym.nemo.blend.mix import mix
from safegym.nemo.blend.places import Place
from safegym.nemo.blend.recipe import Recipe
from safegym.nemo.blend.stored import stored_lines, writing

ODD = [
    row(0, text="ü\n\u2028", big=2**70, small=1e-300, nested={"a": [None, {"b": []}]}),
    row(1, text="\ud800", pass_rate=0.5),
    row(2, pass_rate=None, empty=""),
]


def lines(place: str | Path | Place) -> list[bytes]:
    return [line.text for line in stored_lines(Place.of(place))]


@pytest.mark.parametrize("name", ["x.jsonl.gz", "x.parquet"])
def test_rows_come_back_as_the_bytes_that_they_were(tmp_path: Path, name: str) -> None:
    source = write(tmp_path / "in.jsonl", ODD)
    first = convert(source, tmp_path / name)
    second = convert(tmp_path / name, tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == source.read_bytes()
    assert first.digest == second.digest
    convert(source, tmp_path / f"again-{name}")
    assert (tmp_path / name).read_bytes() == (tmp_path / f"again-{name}").read_bytes()


def test_a_parquet_file_can_be_asked_for_agents_and_rates(tmp_path: Path) -> None:
    convert(write(tmp_path / "in.jsonl", ODD), tmp_path / "x.parquet")
    table = pq.read_table(tmp_path / "x.parquet", columns=["agent", "pass_rate"])
    assert table.to_pydict() == {"agent": ["math"] * 3, "pass_rate": [None, 0.5, None]}


def test_in_parquet_of_others_a_null_is_a_key_that_is_not_there(tmp_path: Path) -> None:
    rows = [row(0, a={"x": 1, "y": None}), row(1, b=[{"z": None}])]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "x.parquet")
    rest = '"responses_create_params":{"input":[{"content":"math %d","role":"user"}]}'
    found = [line.decode() for line in lines(tmp_path / "x.parquet")]
    assert all(rest % i in found[i] or f'"content":"math {i}"' in found[i] for i in range(2))
    assert '"a":{"x":1}' in found[0]
    assert '"a"' not in found[1]


@pytest.mark.parametrize(
    ("name", "said"), [("x.parquet", "no readable Parquet file"), ("x.jsonl.gz", "no whole gzip")]
)
def test_a_file_that_is_not_what_its_name_says_is_refused(
    tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / name).write_bytes(b"\x1f\x8bnothing of the kind")
    with pytest.raises(BlendError, match=said):
        lines(tmp_path / name)


def test_a_torn_gzip_is_told(tmp_path: Path) -> None:
    convert(write(tmp_path / "in.jsonl", ODD), tmp_path / "x.jsonl.gz")
    whole = (tmp_path / "x.jsonl.gz").read_bytes()
    (tmp_path / "x.jsonl.gz").write_bytes(whole[:-12])
    with pytest.raises(BlendError, match="no whole gzip file"):
        lines(tmp_path / "x.jsonl.gz")


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def broken() -> None:
        with writing(Place.of(tmp_path / "x.jsonl")) as written:
            written.write(b"{}")
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        broken()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_appears_while_writing_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"

    def raced() -> None:
        with writing(Place.of(path)) as written:
            written.write(b"{}")
            path.write_text("theirs")

    with pytest.raises(BlendError, match="come to exist meanwhile"):
        raced()
    assert path.read_text() == "theirs"
    assert [each.name for each in tmp_path.iterdir()] == ["x.jsonl"]


def test_a_uri_of_a_local_file_is_that_file(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", ODD)
    assert lines(f"file://{source}") == lines(source)
    with pytest.raises(BlendError, match="is also an input"):
        convert(source, f"file://{source}")
    with pytest.raises(BlendError, match="nowhere://x cannot be reached"):
        Place.of("nowhere://x")
    with pytest.raises(BlendError, match="there is no folder"):
        convert(source, tmp_path / "no" / "x.jsonl")


def test_another_filesystem_takes_part_in_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "bucket").mkdir()
    far = SubTreeFileSystem(str(tmp_path / "bucket"), LocalFileSystem())
    part = Place.of("part.jsonl", far)
    convert(write(tmp_path / "in.jsonl", (row(i) for i in range(50))), part)
    mixed, packed = Place.of("mixed.parquet", far), Place.of("again.jsonl.gz", far)
    recipe = Recipe.of({"a": "0.5", "b": "0.5"})
    report = mix(recipe, {"a": part, "b": part}, mixed)
    assert convert(mixed, packed).digest == report.digest
    assert len(lines(packed)) == 100
    with pytest.raises(BlendError, match="exists and is not overwritten"):
        convert(part, Place.of("mixed.parquet", far))
    with pytest.raises(BlendError, match="is also an input"):
        convert(part, Place.of("part.jsonl", far))
    with pytest.raises(BlendError, match=r"no\.jsonl: "):
        lines(Place.of("no.jsonl", far))


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Generator[S3FileSystem]:
    """A real S3 endpoint on loopback, where moto's server is on the PATH."""
    server = shutil.which("moto_server")
    if server is None:
        pytest.skip("moto_server is not on the PATH: S3 is tried against other filesystems only")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    process = subprocess.Popen(
        [server, "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(200):
            with suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/moto-api/", timeout=1).close()
                break
            time.sleep(0.1)
        else:
            pytest.skip("moto_server did not start")
        yield S3FileSystem(
            endpoint_override=f"127.0.0.1:{port}",
            scheme="http",
            allow_bucket_creation=True,
            allow_delayed_open=True,  # one request for a small file: all that moto understands
        )
    finally:
        process.terminate()
        process.wait(10)


@pytest.mark.slow
def test_rows_go_to_s3_and_come_back(tmp_path: Path, s3: S3FileSystem) -> None:
    s3.create_dir("rows")
    rows = [row(i, pass_rate=i / 300, text="x" * 3000) for i in range(300)]
    source = write(tmp_path / "in.jsonl", rows)
    far, ordered = Place.of("rows/part.jsonl", s3), Place.of("rows/sorted.parquet", s3)
    assert convert(source, far).rows == 300
    assert sort_by_pass_rate(far, ordered).rows == 300
    convert(ordered, tmp_path / "back.jsonl")
    back = (tmp_path / "back.jsonl").read_bytes().splitlines()
    assert back[::-1] == source.read_bytes().splitlines()
    with pytest.raises(BlendError, match="exists and is not overwritten"):
        convert(source, far)
    with pytest.raises(BlendError, match="is also an input"):
        convert(far, far)
    with pytest.raises(BlendError, match=r"rows/none\.jsonl"):
        lines(Place.of("rows/none.jsonl", s3))


def test_keys_in_a_uri_stay_out_of_messages_and_reports() -> None:
    named = "s3://KEY:SECRET@bucket/rows.jsonl?region=eu-west-1"
    assert Place.of(named).text == "s3://bucket/rows.jsonl"
    with pytest.raises(BlendError, match=r"^nowhere://h/x cannot be reached\. Write"):
        Place.of("nowhere://KEY:SECRET@h/x?token=SECRET")
