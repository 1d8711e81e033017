"""Random damage to any file of a good run or bundle never passes, and never escapes as a crash."""

import random
import resource
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from audit_forge import (
    Files,
    forged,
    good_run,
    resumed_run,
    signer,
    statements,
    write_bundle,
    write_folder,
)
from audit_slices import good_slice
from test_audit_attacks import SINGLE

from safegym.audit.archive import StoredZip
from safegym.audit.bundle import export_slice
from safegym.audit.limits import Limits
from safegym.audit.sign import public_key, public_pem
from safegym.audit.verify import verify
from safegym.errors import AuditError

KEY = public_key(signer())
PEMS = [public_pem(KEY)]


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Flip bits, delete or insert a few bytes, or repeat or cut a stretch."""
    position, width = rng.randrange(len(data)), rng.choice([1, 1, 2, 7, 40])
    how = rng.choice(["flip", "flip", "delete", "insert", "cut", "repeat"])
    if how == "flip":
        new = data[position] ^ (1 << rng.randrange(8))
        return data[:position] + bytes([new]) + data[position + 1 :]
    if how == "delete":
        return data[:position] + data[position + width :]
    if how == "insert":
        piece = rng.choice([rng.randbytes(width), b"\n", b" ", b"0", b'"', b"\n\n", b"}"])
        return data[:position] + piece + data[position:]
    if how == "cut":
        return data[:position]
    return data[:position] + data[position : position + width] + data[position:]


def check(place: Path, note: str) -> None:
    report = verify(place, keys=[KEY])
    assert report.result != "intact", note
    assert any(step.detail for step in report.steps), note
    result, found = SINGLE.verify_single(place, PEMS)
    assert (result != "intact", bool(found)) == (True, True), note


def fuzz_folder(folder: Path, files: Files, rounds: int) -> None:
    write_folder(folder, files)
    for name, data in files.items():
        rng = random.Random(name)
        for number in range(rounds):
            bad = damaged(data, rng)
            if bad == data:
                continue
            (folder / name).write_bytes(bad)
            check(folder, f"{name}, damage {number}")
        (folder / name).write_bytes(data)
    assert verify(folder, keys=[KEY]).result == "intact"


def fuzz_bundle(place: Path, files: Files, rounds: int) -> None:
    data = write_bundle(place, files).read_bytes()
    rng = random.Random("bundle")
    for number in range(rounds):
        bad = damaged(data, rng)
        if bad != data:
            place.write_bytes(bad)
            check(place, f"bundle, damage {number}")


def test_damage_to_any_file_of_a_run_folder_never_passes(tmp_path):
    fuzz_folder(tmp_path / "run", good_run(), 40)


def test_damage_to_a_bundle_never_passes(tmp_path):
    fuzz_bundle(tmp_path / "run.zip", good_run(), 150)


def test_damage_inside_a_slice_never_passes(tmp_path):
    """Also to what is unsigned in it: what it is about, its proofs, its claims as text."""
    rng, place = random.Random("slice"), tmp_path / "slice.zip"
    forms = [good_slice(), good_slice(resumed=True, claim=None)]
    for number in range(150):
        files = dict(rng.choice(forms))
        name = rng.choice(sorted(files))
        bad = damaged(files[name], rng)
        if bad != files[name]:
            write_bundle(place, {**files, name: bad})
            assert verify(place, keys=[KEY]).result != "intact", f"{name}, damage {number}"
            SINGLE.verify_single(place, PEMS)


def test_a_slice_of_a_log_that_names_records_which_are_not_there_is_refused(tmp_path):
    changed = statements(good_run())
    changed[7]["predicate"]["envelope"]["leaves"] = [4, 4000]
    folder = write_folder(tmp_path / "run", forged(good_run(), changed))
    with pytest.raises(AuditError, match="names record 4000, which is not there"):
        export_slice(folder, tmp_path / "slice.zip", claim="no-collision")


@pytest.mark.slow
def test_much_damage_to_any_file_of_a_resumed_run_never_passes(tmp_path):
    fuzz_folder(tmp_path / "run", resumed_run(), 200)


@pytest.mark.slow
def test_much_damage_to_a_bundle_of_a_resumed_run_never_passes(tmp_path):
    fuzz_bundle(tmp_path / "run.zip", resumed_run(), 1500)


@pytest.mark.parametrize("name", sorted(good_run()))
def test_a_file_taken_away_never_passes_unless_it_only_informs(name: str, tmp_path):
    files = good_run()
    del files[name]
    report = verify(write_folder(tmp_path / "run", files), keys=[KEY])
    expected = {"log.jsonl": "broken", "public.pem": "intact"}
    assert report.result == expected.get(name, "incomplete")


def contents(place: Path) -> Files:
    archive = StoredZip(place, Limits())
    try:
        found: Files = {}
        for name in archive.names:
            with archive.open(name) as file:
                found[name] = file.read()
        return found
    finally:
        archive.close()


def test_every_single_byte_of_a_bundle_matters(tmp_path):
    """Each byte of a small archive is flipped once: headers, names, checksums and contents."""
    good = {"a": b"x", "log.jsonl": b"line\n"}
    data = write_bundle(tmp_path / "run.zip", good).read_bytes()
    assert contents(tmp_path / "run.zip") == good
    place = tmp_path / "bad.zip"
    for position in range(len(data)):
        place.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        with pytest.raises(AuditError):
            contents(place)


def test_a_directory_that_claims_to_be_huge_is_refused_before_it_is_read(tmp_path):
    """A sparse file of 2 GiB whose end says that nearly all of it is the list of its one file."""
    place, size = tmp_path / "huge.zip", 2 << 30
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, size - 22, 0, 0)
    with place.open("wb") as file:
        file.seek(size - len(end))
        file.write(end)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = verify(place, keys=[KEY])
    assert report.broken is not None
    assert "a directory of the wrong size" in report.broken.detail
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


STRANGE: list[Any] = [
    *(None, True, -1, 0, 2**53 - 1, 1.5, "", "inf", "x", [], {}, [[]], [None]),
    *({"artifact": 1}, {"kind": "verdict", "record": "x"}, {"a": {"b": []}}),
    "sha256:" + "0" * 64,
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place inside a JSON value."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def twisted(statements_: list[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    """One value in one statement replaced or removed."""
    statement = rng.choice(statements_)
    *way, last = rng.choice([path for path in places(statement) if path])
    inner: Any = statement
    for key in way:
        inner = inner[key]
    if rng.random() < 0.3:
        del inner[last]
    else:
        inner[last] = rng.choice(STRANGE)
    return statements_


def fuzz_meaning(place: Path, rounds: int) -> None:
    """The owner signs nonsense: whatever it is, verification answers with a report."""
    rng = random.Random("meaning")
    for number in range(rounds):
        files = rng.choice([good_run, resumed_run])()
        changed = twisted(statements(files), rng)
        try:
            bad = forged(files, changed)
        except (KeyError, TypeError, AttributeError, IndexError):
            continue
        if bad["log.jsonl"] == files["log.jsonl"]:
            continue
        place.write_bytes(b"")
        report = verify(write_bundle(place, bad), keys=[KEY])
        assert report.result in ("intact", "broken", "incomplete"), number
        SINGLE.verify_single(place, PEMS)


def test_nonsense_signed_by_the_owner_never_escapes_as_a_crash(tmp_path):
    fuzz_meaning(tmp_path / "run.zip", 150)


@pytest.mark.slow
def test_much_nonsense_signed_by_the_owner_never_escapes_as_a_crash(tmp_path):
    fuzz_meaning(tmp_path / "run.zip", 800)
