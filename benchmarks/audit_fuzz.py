"""Mutated bundles against the reader: one kind of answer, bounded memory, bounded time.

Four ways of damage, in turn, on bundles and slices of small runs: bytes of the file (headers and
all), one file inside with its checksum made right again, several at once, and statements with
nonsense in them, signed by the key's owner so that only their meaning is wrong. Each goes through
`verify`; one in ten also through the single-file verifier, as the rival. A verifier that raises,
a damaged file that `verify` calls intact, a second of processor time or growing memory is a fault.
Nonsense that an owner signs may be intact: where it is only another value, the log says that.

    python benchmarks/audit_fuzz.py [--quick] [--rounds 100000] [--seed 1] [--json]
"""

import argparse
import contextlib
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE / "tests" / "faults"))

from audit_forge import (  # noqa: E402 - the forging tools stand with the tests
    Files,
    forged,
    good_run,
    resumed_run,
    signer,
    statements,
    write_bundle,
    write_folder,
)
from audit_slices import good_slice  # noqa: E402
from test_audit_attacks import SINGLE  # noqa: E402
from test_audit_fuzz import damaged, twisted  # noqa: E402

from safegym.audit.bundle import export_slice  # noqa: E402
from safegym.audit.sign import public_key, public_pem  # noqa: E402
from safegym.audit.verify import verify  # noqa: E402
from safegym.errors import AuditError  # noqa: E402

SLOWEST = 1.0
"""Seconds of processor time that one small bundle may take."""
MOST_MIB = 400
"""Growth of the process over all rounds, in MiB."""
RIVAL_EVERY = 40
"""Of so many rounds the first four, one of each way, are the rival's too."""
SLICED = 0.3
"""Share of the nonsense that is cut into a slice, where the export takes it."""
KEY = public_key(signer())
PEMS = [public_pem(KEY)]
Way = Callable[[Path, random.Random], bool]
"""Writes a mutated bundle; whether it must not pass as intact."""


def sources() -> list[Files]:
    """Sound bundles of every form."""
    return [good_run(), resumed_run(), good_slice(), good_slice(resumed=True, claim=None)]


def bytes_of_the_file(place: Path, rng: random.Random) -> bool:
    """Damage anywhere in the archive."""
    whole = write_bundle(place, rng.choice(sources())).read_bytes()
    bad = damaged(whole, rng)
    place.write_bytes(bad)
    return bad != whole


def one_file_inside(place: Path, rng: random.Random) -> bool:
    """Damage inside one file; the archive around it is sound."""
    files = dict(rng.choice(sources()))
    name = rng.choice(sorted(files))
    bad = damaged(files[name], rng)
    changed = bad != files[name]
    write_bundle(place, {**files, name: bad})
    return changed


def several_files(place: Path, rng: random.Random) -> bool:
    """Files dropped, exchanged between runs, and damaged."""
    files, other = dict(rng.choice(sources())), rng.choice(sources())
    for name in rng.sample(sorted(files), k=min(3, len(files))):
        how = rng.choice(["drop", "exchange", "damage", "empty"])
        if how == "drop" and len(files) > 1:
            del files[name]
        elif how == "exchange" and name in other:
            files[name] = other[name]
        elif how == "empty":
            files[name] = b""
        elif files.get(name):
            files[name] = damaged(files[name], rng)
    write_bundle(place, files)
    return all(_needed(files) != _needed(source) for source in sources())


def _needed(files: Files) -> Files:
    """The files without which a bundle is not whole; the others only inform."""
    optional = {"public.pem", "bundle.json", "claims.txt"}
    return {name: data for name, data in files.items() if name not in optional}


def nonsense_signed(place: Path, rng: random.Random) -> bool:
    """The owner signs a statement with one value replaced or removed."""
    files = dict(rng.choice(sources()[:2]))
    changed = twisted(statements(files), rng)
    try:
        bad = forged(files, changed)
    except (KeyError, TypeError, AttributeError, IndexError):
        bad = files
    write_bundle(place, bad)
    if rng.random() < SLICED:
        with tempfile.TemporaryDirectory(dir=memory()) as name, contextlib.suppress(AuditError):
            folder = write_folder(Path(name), bad)
            export_slice(folder, place, claim="no-collision")
    return False


WAYS: tuple[Way, ...] = (bytes_of_the_file, one_file_inside, several_files, nonsense_signed)


def one(place: Path, way: Way, seed: str) -> tuple[str, str, float, str]:
    """Results of both, broken step, processor seconds and what went wrong ("" for nothing)."""
    must_fail = way(place, random.Random(seed))
    begun = time.process_time()
    try:
        report = verify(place, keys=[KEY])
        result, step = report.result, report.broken.name if report.broken else ""
        asked = int(seed.rpartition("-")[2]) % RIVAL_EVERY < len(WAYS)
        single = SINGLE.verify_single(place, PEMS)[0] if asked else "not asked"
    except Exception as error:
        return "raised", "", time.process_time() - begun, f"{seed}: {type(error).__name__}: {error}"
    spent = time.process_time() - begun
    passed = must_fail and result == "intact"
    kept = f"{result}, single {single}"
    return kept, step, spent, f"{seed}: passed as intact" if passed else ""


def measure(rounds: int, seed: int) -> dict[str, Any]:
    """Run them all."""
    results, steps, ways = Counter[str](), Counter[str](), Counter[str]()
    faults, slowest, total = list[str](), 0.0, 0.0
    with tempfile.TemporaryDirectory(dir=memory()) as name:
        place = Path(name) / "bundle.zip"
        for warm in WAYS:
            one(place, warm, "warm-0")
        before = peak_mib()
        done = 0
        with contextlib.suppress(KeyboardInterrupt):  # what was run until then is reported
            for number in range(rounds):
                way = WAYS[number % len(WAYS)]
                result, step, spent, wrong = one(place, way, f"{seed}-{number}")
                results[result] += 1
                ways[way.__name__] += 1
                steps[step] += bool(step)
                slowest, total, done = max(slowest, spent), total + spent, number + 1
                if wrong:
                    faults.append(f"{way.__name__} {wrong}")
    figures = {
        "rounds": done,
        "slowest s": round(slowest, 4),
        "mean ms": round(1000 * total / max(1, done), 3),
        "grew MiB": round(peak_mib() - before, 1),
        "faults": len(faults),
        **{f"way {name}": count for name, count in sorted(ways.items())},
        **{f"broken at {name}": count for name, count in sorted(steps.items()) if count},
    }
    passes = sum(n for k, n in results.items() if k.endswith("single intact"))
    rivals = {"single-file verifier, called intact": passes, **dict(sorted(results.items()))}
    bars = {
        "slowest s": {"bar": SLOWEST, "met": slowest < SLOWEST},
        "grew MiB": {"bar": MOST_MIB, "met": peak_mib() - before < MOST_MIB},
        "faults": {"bar": 0, "met": not faults},
    }
    mine = results["intact, single intact"]
    return {
        "figures": figures,
        "rivals": rivals,
        "ratios": {"intact to both of those intact to one": round(mine / max(1, passes), 3)},
        "bars": bars,
        "seen": faults[:20],
        "ok": all(bar["met"] for bar in bars.values()),
    }


def memory() -> str | None:
    """A folder in memory, where the system has one: the disk is not what is measured."""
    place = Path("/dev/shm")
    return str(place) if place.is_dir() and os.access(place, os.W_OK) else None


def peak_mib() -> float:
    """Largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="400 rounds instead of 100,000")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    rounds = asked.rounds or (400 if asked.quick else 100_000)
    found = measure(rounds, asked.seed)
    if asked.json:
        print(json.dumps(found))
    else:
        for part in ("figures", "rivals", "ratios", "bars", "seen"):
            print(f"{part}: {json.dumps(found[part], indent=1)}")
    return 0 if found["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
