"""Shards: exact round trips, atomic writes, and files that cannot be trusted."""

import errno
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trace_strategies import traces

from safegym.errors import TraceError
from safegym.trace import Event, Trace
from safegym.trace.store import (
    Limits,
    Seal,
    ShardWriter,
    index_path,
    iterate_shard,
    read_index,
    read_seal,
    read_shard,
    read_signals,
    seal_path,
    shard_digest,
)
from safegym.trace.store import messages as messages_module
from safegym.trace.store import write as write_module
from safegym.trace.store.seal import write_seal

law = settings(
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def episode(k=0, steps=5, **changes):
    rng = np.random.default_rng(k)
    return Trace.from_arrays(
        {"x": rng.normal(size=steps + 1), "p": rng.normal(size=(steps + 1, 3))},
        **{
            "dt": "1/240",
            "seed": 2**70 + k,
            "actions": rng.normal(size=(steps, 2)).astype(np.float32),
            "rewards": rng.normal(size=steps),
            "observations": rng.integers(0, 255, (steps + 1, 2, 2), dtype=np.uint8),
            "parameters": {"mass": 0.1},
            "events": [Event(1, "fault", "mötor")],
            "versions": {"mujoco": "3.17"},
            **changes,
        },
    )


def write(path, episodes, **options):
    with ShardWriter(path) as writer:
        for trace in episodes:
            writer.append(trace, **options)
    return writer.shard


@pytest.fixture
def shard(tmp_path):
    write(tmp_path / "a.arrow", [episode(k) for k in range(3)])
    return tmp_path / "a.arrow"


def test_a_shard_gives_back_equal_traces(tmp_path, monkeypatch):
    monkeypatch.setattr(write_module, "BATCH_ROWS", 4)
    episodes = [episode(k, steps=k) for k in range(1, 11)]
    made = write(tmp_path / "a.arrow", episodes)
    back = read_shard(made.path)
    assert back == episodes
    assert made.traces == tuple(trace.digest for trace in episodes)
    assert made.digest == shard_digest(made.path)
    assert made.size == made.path.stat().st_size
    assert back[3].actions.dtype == np.float32
    assert back[3].observations.dtype == np.uint8
    assert not back[3].signals["x"].flags.writeable


@law
@given(st.data(), st.integers(0, 3))
def test_any_traces_of_one_layout_survive_the_store(tmp_path, data, count):
    first = data.draw(traces())
    layout = {n: v.shape[1] if v.ndim == 2 else None for n, v in first.signals.items()}
    episodes = [first, *(data.draw(traces(layout=layout)) for _ in range(count))]
    path = tmp_path / f"{len(list(tmp_path.iterdir()))}.arrow"
    write(path, episodes)
    back = read_shard(path)
    assert back == episodes
    assert [list(trace.signals) for trace in back] == [list(first.signals)] * len(back)


def test_episodes_carry_their_own_numbers_and_margins(tmp_path):
    with ShardWriter(tmp_path / "a.arrow") as writer:
        writer.append(episode(0), episode=40, margins={"arm.stop": (-0.5, np.inf)})
        writer.append(episode(1), episode=41)
    assert [number for number, _ in iterate_shard(tmp_path / "a.arrow")] == [40, 41]
    entries = read_index(tmp_path / "a.arrow")
    assert [entry.episode for entry in entries] == [40, 41]
    assert [dict(entry.margins) for entry in entries] == [{"arm.stop": (-0.5, np.inf)}, {}]
    entry = entries[1]
    assert (entry.seed, entry.length, entry.end_kind) == (2**70 + 1, 5, "horizon")
    assert (entry.shard, entry.digest) == ("a.arrow", episode(1).digest)


def test_the_files_are_plain_arrow_and_parquet(shard):
    """Second opinion: the usual readers, without a line of ours."""
    with pa.ipc.open_file(shard) as file:
        table = file.read_all()
    x = table.column("signals/x").to_pylist()
    assert x[2] == episode(2).signals["x"].tolist()
    assert np.reshape(table.column("signals/p").to_pylist()[1], (-1, 3)).tolist() == (
        episode(1).signals["p"].tolist()
    )
    assert pq.read_table(index_path(shard)).column("digest").to_pylist() == [
        episode(k).digest for k in range(3)
    ]


def test_chosen_signals_are_read_alone(shard):
    found = dict(read_signals(shard, ["p"]))
    assert list(found) == [0, 1, 2]
    assert list(found[1]) == ["p"]
    assert np.array_equal(found[1]["p"], episode(1).signals["p"])
    with pytest.raises(TraceError, match="it has no signal speed, only x, p"):
        list(read_signals(shard, ["speed"]))


def test_an_empty_shard_is_a_shard(tmp_path):
    write(tmp_path / "a.arrow", [])
    assert read_shard(tmp_path / "a.arrow") == []


def test_a_shard_is_never_overwritten(shard):
    with pytest.raises(TraceError, match="a shard is never overwritten"):
        ShardWriter(shard)


def test_another_layout_needs_a_shard_of_its_own(tmp_path):
    with ShardWriter(tmp_path / "a.arrow") as writer:
        writer.append(episode())
        with pytest.raises(TraceError, match=r"holds the signals x, p\[3\], the trace has y"):
            writer.append(Trace.from_arrays({"y": [0.0]}, dt=1))


def test_an_action_that_float64_cannot_hold_is_refused(tmp_path):
    trace = Trace.from_arrays({"x": [0.0, 1.0]}, dt=1, actions=np.array([2**53 + 1]))
    with ShardWriter(tmp_path / "a.arrow") as writer, pytest.raises(TraceError, match=r"2\*\*53"):
        writer.append(trace)


def test_an_error_inside_the_block_leaves_nothing(tmp_path):
    def broken():
        yield episode()
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write(tmp_path / "a.arrow", broken())
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(TraceError, match=r"Cannot write .*nowhere.*No such file"):
        ShardWriter(tmp_path / "nowhere" / "a.arrow")


def full(*arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def full_at(number):
    """A stand-in for a call that works until the disk is full at the given call."""
    calls, real = [], os.fsync

    def maybe(*arguments):
        calls.append(arguments)
        return full() if len(calls) == number else real(*arguments)

    return maybe


@pytest.mark.parametrize("rows", [1, 64])
def test_a_disk_that_fills_while_writing_leaves_no_half_file(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(write_module, "BATCH_ROWS", rows)
    monkeypatch.setattr(write_module._HashingSink, "write", full)
    with pytest.raises(TraceError, match=r"No room on disk for .*No space left on device"):
        write(tmp_path / "a.arrow", [episode(0)])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", range(1, 7))
def test_a_disk_that_fills_at_a_flush_leaves_no_half_file(tmp_path, monkeypatch, number):
    """The flushes are, in order: index, seal, shard, and the folder after each."""
    monkeypatch.setattr(os, "fsync", full_at(number))
    with pytest.raises(TraceError, match=r"No room on disk for .*No space left on device"):
        write(tmp_path / "a.arrow", [episode(0)])
    assert list(tmp_path.iterdir()) == []


LIMITED = """
import resource, signal, sys
import numpy as np
from safegym.trace import Trace
from safegym.trace.store import ShardWriter
from safegym.errors import TraceError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
writer = ShardWriter(sys.argv[1])
try:
    for k in range(1000):
        writer.append(Trace.from_arrays({"x": np.arange(1000.0)}, dt=1))
    writer.close()
except TraceError as error:
    print(error)
"""


def test_a_real_limit_of_the_file_system_is_said_clearly(tmp_path):
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "a.arrow")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.startswith("No room on disk for"), done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("keep", [0, 1, 7, 100, 2000, -1, -7])
def test_a_truncated_shard_is_refused(shard, keep):
    whole = shard.read_bytes()
    shard.write_bytes(whole[:keep])
    with pytest.raises(TraceError, match=r"a\.arrow was changed or damaged"):
        read_shard(shard)
    with pytest.raises(TraceError, match=r"The shard a\.arrow cannot be trusted"):
        read_shard(shard, digest=shard_digest(shard))


def test_any_flipped_byte_of_a_shard_is_detected(shard):
    whole = shard.read_bytes()
    rng = np.random.default_rng(0)
    for at in [0, len(whole) - 1, *rng.integers(0, len(whole), 60).tolist()]:
        damaged = bytearray(whole)
        damaged[at] ^= 1 << int(rng.integers(8))
        shard.write_bytes(bytes(damaged))
        with pytest.raises(TraceError, match="changed or damaged"):
            read_shard(shard)


def test_damaged_bytes_that_carry_a_right_digest_raise_only_trace_errors(shard):
    """The digest is recomputed by the attacker: whatever is read must be an intact trace."""
    whole, right = shard.read_bytes(), read_shard(shard)
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(400):
        damaged = bytearray(whole)
        for at in rng.integers(0, len(whole), int(rng.integers(1, 4))).tolist():
            damaged[at] = int(rng.integers(256))
        shard.write_bytes(bytes(damaged))
        try:
            found = read_shard(shard, digest=shard_digest(shard))
        except TraceError:
            refused += 1
        else:
            assert found == right
    assert refused > 200


@law
@given(st.binary(max_size=300), st.booleans())
def test_foreign_bytes_are_refused(tmp_path, junk, framed):
    path = tmp_path / "junk.arrow"
    path.write_bytes(b"ARROW1\0\0" + junk + b"ARROW1" if framed else junk)
    with pytest.raises(TraceError, match=r"junk\.arrow"):
        read_shard(path, digest=shard_digest(path))


def read_unchecked(path):
    return read_shard(path, digest=shard_digest(path))


def rewritten(shard, change, **options):
    with pa.ipc.open_file(shard) as file:
        table = change(file.read_all())
    with pa.ipc.new_file(shard, table.schema, **options) as sink:
        sink.write_table(table)
    return shard


def same(table):
    return table


def test_a_rewritten_shard_without_changes_is_still_the_same(shard):
    right = read_shard(shard)
    assert read_unchecked(rewritten(shard, same)) == right


def test_compression_is_refused_before_it_unfolds(shard):
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pytest.raises(TraceError, match="batch 0 is compressed"):
        read_unchecked(rewritten(shard, same, options=options))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.drop_columns(["rewards"]), "its columns are not those"),
        (lambda t: t.append_column("z", pa.array([1, 2, 3])), "its columns are not those"),
        (lambda t: t.replace_schema_metadata({}), "not of format safegym-shard-1"),
        (
            lambda t: t.replace_schema_metadata({**t.schema.metadata, b"signals": '{"x":1,"x":2}'}),
            "appears twice",
        ),
        (
            lambda t: t.replace_schema_metadata({**t.schema.metadata, b"signals": '{"x":-1}'}),
            "width -1",
        ),
        (
            lambda t: t.set_column(0, t.schema.field(0), pa.array([0, None, 2])),
            "an empty field",
        ),
    ],
)
def test_a_file_of_another_form_is_refused(shard, change, words):
    with pytest.raises(TraceError, match=words):
        read_unchecked(rewritten(shard, change))


def set_text(name, value):
    def change(table):
        at = table.schema.get_field_index(name)
        kind = table.schema.field(at)
        values = table.column(at).to_pylist()
        values[1] = value
        return table.set_column(at, kind, pa.array(values, kind.type))

    return change


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seed", "1e3"),
        ("seed", "9" * 200),
        ("dt", "0"),
        ("dt", "1/0"),
        ("end_kind", "gone"),
        ("end_time", 99.0),
        ("horizon", 77),
        ("digest", ""),
        ("digest", "sha256:0"),
        ("policy_digest", "other"),
        ("parameters", "[]"),
        ("parameters", '{"m": "0x1p9999"}'),
        ("parameters", '{"m": 3}'),
        ("parameters", '{"m": NaN}'),
        ("events", "{}"),
        ("events", '{"events": [[1]]}'),
        ("versions", '{"a": 1}'),
        ("versions", "{" * 5000),
        ("actions_type", "O"),
        ("actions_type", "c16"),
        ("actions_shape", [5, 3]),
        ("actions_shape", [-1, 2]),
        ("actions_shape", [2**62, 2**62]),
        ("observations", b"123"),
        ("observations_type", "V1"),
        ("observations_type", None),
        ("observations_shape", [2**40, 0]),
        ("signals/x", [0.0, float("nan")]),
        ("signals/p", [0.0, 1.0]),
        ("rewards", []),
    ],
)
def test_a_row_with_one_wrong_field_is_refused_and_named(shard, name, value):
    with pytest.raises(TraceError, match=r"a\.arrow cannot be trusted: (row 1|batch)"):
        read_unchecked(rewritten(shard, set_text(name, value)))


def test_limits_bound_what_is_read(shard):
    with pytest.raises(TraceError, match=r"at most 100 are read. Pass limits=Limits\(max_bytes="):
        read_shard(shard, limits=Limits(max_bytes=100))
    with pytest.raises(TraceError, match="more rows than the limit"):
        read_shard(shard, limits=Limits(max_rows=2))
    with pytest.raises(TraceError, match="rows; at most 2 are read"):
        read_index(shard, limits=Limits(max_rows=2))


def test_a_shard_without_a_seal_needs_a_digest(shard):
    seal_path(shard).unlink()
    with pytest.raises(TraceError, match='pass digest="sha256:'):
        read_shard(shard)
    assert len(read_unchecked(shard)) == 3


def test_a_shard_can_be_read_without_its_index(shard):
    index_path(shard).unlink()
    assert len(read_shard(shard)) == 3
    with pytest.raises(TraceError, match=r"There is no file .*a\.index\.parquet"):
        read_index(shard)


def test_the_seal_names_both_files(shard):
    seal = read_seal(shard)
    assert seal.shard == shard_digest(shard)
    assert seal.index == shard_digest(index_path(shard))
    assert seal.episodes == 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": "safegym-seal-1", "shard": "a", "index": "b", "episodes": "3"}',
        '{"format": "other", "shard": "a", "index": "b", "episodes": 3}',
        '{"format": "safegym-seal-1", "shard": "a", "shard": "a", "index": "b", "episodes": 3}',
    ],
)
def test_a_malformed_seal_is_refused(shard, text):
    seal_path(shard).write_text(text)
    with pytest.raises(TraceError, match=r"The seal a\.seal\.json cannot be trusted"):
        read_shard(shard)


def test_a_seal_beyond_its_size_is_refused(shard):
    seal_path(shard).write_text(" " * 20_000)
    with pytest.raises(TraceError, match="at most 10000 are read"):
        read_shard(shard)


def test_the_seal_of_another_shard_is_refused(shard, tmp_path):
    other = write(tmp_path / "b.arrow", [episode(9)])
    seal_path(other.path).replace(seal_path(shard))
    with pytest.raises(TraceError, match="changed or damaged"):
        read_shard(shard)
    with pytest.raises(TraceError, match="changed or damaged"):
        read_index(shard)


def test_a_damaged_index_is_refused_before_it_is_interpreted(shard):
    """Parquet's reader ends the process on some damaged footers; it must never see one."""
    path = index_path(shard)
    whole = path.read_bytes()
    rng = np.random.default_rng(2)
    for at in [0, len(whole) - 1, *rng.integers(0, len(whole), 100).tolist()]:
        damaged = bytearray(whole)
        damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(damaged))
        with pytest.raises(TraceError, match=r"a\.index\.parquet was changed or damaged"):
            read_index(shard)


def reseal(shard):
    seal = read_seal(shard)
    write_seal(shard, Seal(seal.shard, shard_digest(index_path(shard)), seal.episodes))


@pytest.mark.parametrize("options", [{"compression": "zstd"}, {"use_dictionary": True}])
def test_a_compressed_index_is_refused(shard, options):
    table = pq.read_table(index_path(shard))
    pq.write_table(
        table, index_path(shard), **{"compression": "none", "use_dictionary": False, **options}
    )
    reseal(shard)
    with pytest.raises(TraceError, match="it is compressed, which an index never is"):
        read_index(shard)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.replace_schema_metadata({}), "not of format safegym-index-1"),
        (lambda t: t.drop_columns(["seed"]), "lacks the column seed"),
        (lambda t: t.append_column("z", pa.array([1, 2, 3])), "unknown column 'z'"),
        (lambda t: t.set_column(1, "seed", pa.array([None, "1", "2"])), "empty field"),
        (lambda t: t.set_column(1, "seed", pa.array(["x", "1", "2"])), "invalid literal"),
    ],
)
def test_an_index_of_another_form_is_refused(shard, change, words):
    table = change(pq.read_table(index_path(shard)))
    pq.write_table(table, index_path(shard), compression="none", use_dictionary=False)
    reseal(shard)
    with pytest.raises(TraceError, match=words):
        read_index(shard)


def test_a_file_that_is_no_parquet_is_no_index(shard):
    index_path(shard).write_bytes(b"PAR1")
    reseal(shard)
    with pytest.raises(TraceError, match=r"a\.index\.parquet cannot be trusted"):
        read_index(shard)


def test_the_compression_probe_agrees_with_what_arrow_was_asked_to_write():
    batch = pa.record_batch({"x": [1.0, 2.0]})
    for compression in (None, "lz4", "zstd"):
        options = pa.ipc.IpcWriteOptions(compression=compression)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema, options=options) as stream:
            stream.write_batch(batch)
        reader = pa.ipc.MessageReader.open_stream(pa.BufferReader(sink.getvalue()))
        reader.read_next_message()
        raw = reader.read_next_message().metadata.to_pybytes()
        assert messages_module.is_compressed(raw) is (compression is not None)


KILLED = """
import sys
import numpy as np
from safegym.trace import Trace
from safegym.trace.store import ShardWriter
print("ready", flush=True)
for number in range(10_000):
    with ShardWriter(f"{sys.argv[1]}/{number:05}.arrow") as writer:
        for k in range(20):
            writer.append(Trace.from_arrays({"x": np.arange(500.0) + k}, dt=1, seed=number))
"""


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_only_whole_shards(tmp_path):
    rng = np.random.default_rng(0)
    whole = 0
    for attempt in range(10):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        command = [sys.executable, "-c", KILLED, str(folder)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        process.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.05 + 0.3 * rng.random())
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        for path in sorted(folder.glob("*.arrow")):
            assert len(read_shard(path)) == 20
            whole += 1
        _rewritable(folder)
    assert whole > 0


def _rewritable(folder: Path) -> None:
    """After a kill, the shard that was cut off can be written under its own name."""
    path = folder / f"{len(list(folder.glob('*.arrow'))):05}.arrow"
    write(path, [episode()])
    assert read_shard(path) == [episode()]


def test_the_limit_of_open_files_does_not_leak(tmp_path):
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = len(os.listdir("/proc/self/fd"))
    for k in range(20):
        made = write(tmp_path / f"{k}.arrow", [episode()])
        read_shard(made.path)
    assert len(os.listdir("/proc/self/fd")) <= before + 2 <= soft
