"""Verifying long logs: processor seconds for 100,000 records, and what the rest of a trail costs.

log: a log through the real writer, with records as a training run mixes them (an epoch: a
checkpoint, a penalty, a replay, one shard of 100 traces, four verdicts of 100 rows, one evidence,
one decision; then short ones until the count is right), verified without re-derivation: steps 1
to 7. The rival is the single-file verifier, which checks steps 1 to 6 of the same folder, and must
find the same root. slice: cutting one claim's slice out of that log and verifying it. Times are of
the processor, the best of three.

    python benchmarks/audit_speed.py [--quick] [--json]
"""

import argparse
import importlib.util
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safegym.audit.bundle import export_slice
from safegym.audit.log import AuditLog
from safegym.audit.sign import CryptoSigner, public_key, public_pem
from safegym.audit.verify import verify
from safegym.digest import digest_text

RECORDS = 100_000
HEAVY = 0.02
"""Share of the records that belong to screens: shards and verdicts of 100 rows."""
BAR_SECONDS = 60.0
POLICY, SCENARIO, CLAIM = (digest_text(name) for name in ("policy", "scenario", "claim"))
SINGLE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "verify_single.py"


def write(folder: Path, records: int, signer: CryptoSigner) -> None:
    """A closed run of so many records."""
    log = AuditLog.create(folder, signer=signer, durability="epoch")
    (folder / "traces").mkdir()
    claim = {"id": "no-collision", "text": "always(clearance > 0)", "digest": CLAIM}
    log.append("spec_registered", {"claims": [claim], "digest": CLAIM})
    log.append("scenario_registered", {"name": "drone/corridor-v0", "digest": SCENARIO})
    log.append("plan_registered", {"plan": {"level": 0.05, "seed": 7}, "digest": SCENARIO})
    epoch, screens = 0, int(records * HEAVY / 7)
    while log.size < records - 1:
        epoch += 1
        if epoch <= screens and log.size < records - 12:
            _screen(log, folder, epoch)
        log.append("checkpoint", {"epoch": epoch, "steps": 20_480 * epoch, "mean_return": 1.25})
        for kind in ("penalty", "replay"):
            if log.size < records - 1:
                log.append(kind, {"epoch": epoch, "episodes": 31, "total": -12.75})
        if epoch % 500 == 0:
            log.checkpoint()
    log.close("completed")


def _screen(log: AuditLog, folder: Path, epoch: int) -> None:
    subject = {"stream": "gate", "policy": POLICY, "scenario": SCENARIO, "epoch": epoch}
    traces = [digest_text(f"{epoch}-{number}") for number in range(100)]
    name = f"traces/screen-{epoch:05d}.arrow"
    (folder / name).write_bytes(f"traces of epoch {epoch}\n".encode() * 40)
    stored = {"shard": log.artifact(name), "traces": traces, "first_index": 0}
    shard = log.append("trace_shard", {**subject, **stored}).reference()
    rows = [
        {"trace": trace, "status": "satisfied", "lo": 0.1037 + number, "hi": 0.1037 + number}
        for number, trace in enumerate(traces)
    ]
    verdict = {"claim_id": "no-collision", "claim_digest": CLAIM, "verdicts": rows}
    for _ in range(4):
        named = log.append("verdict", {**subject, **verdict, "rests_on": [shard], "part": _})
    log.append(
        "evidence",
        {
            **{"claim_id": "no-collision", "claim_digest": CLAIM, "policy": POLICY},
            **{"kind": "observed", "status": "satisfied", "threshold": None, "bound": None},
            **{"confidence": None, "level": None, "episodes": 100, "violations": 0},
            **{"undecided": 0, "attempt": 0, "validity": "exact", "method": "screen"},
            "rests_on": [named.reference()],
        },
    )


def best(work: Callable[[], Any], times: int) -> tuple[float, Any]:
    """Least processor seconds of a few runs, and the last result."""
    spent, found = list[float](), None
    for _ in range(times):
        begun = time.process_time()
        found = work()
        spent.append(time.process_time() - begun)
    return min(spent), found


def load_single() -> Any:
    """The single-file verifier, as a reviewer would run it."""
    spec = importlib.util.spec_from_file_location("verify_single", SINGLE)
    if spec is None or spec.loader is None:
        raise ImportError(str(SINGLE))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measure(records: int, times: int) -> dict[str, Any]:
    """Figures for a log of so many records."""
    signer = CryptoSigner.generate_ed25519()
    key = public_key(signer)
    with tempfile.TemporaryDirectory() as name:
        run, part = Path(name) / "run", Path(name) / "slice.zip"
        begun = time.process_time()
        write(run, records, signer)
        written = time.process_time() - begun
        whole, report = best(lambda: verify(run, keys=[key]), times)
        single, (result, found) = best(
            lambda: load_single().verify_single(run, [public_pem(key)]), 1
        )
        cut, _ = best(lambda: export_slice(run, part, claim="no-collision"), 1)
        sliced, of = best(lambda: verify(part, keys=[key]), 1)
        megabytes = (run / "log.jsonl").stat().st_size / 2**20
    if (report.result, result, of.result) != ("intact",) * 3 or report.root not in found[0]:
        raise SystemExit(f"void: {report.result}, {result} {found[:1]}, {of.result}")
    scaled = whole * RECORDS / records
    return {
        "figures": {
            "records": records,
            "log MiB": round(megabytes, 1),
            "write s": round(written, 2),
            "verify s": round(whole, 2),
            "verify s for 100,000": round(scaled, 1),
            "cut a slice s": round(cut, 2),
            "verify the slice s": round(sliced, 2),
            "records of the slice": of.size,
        },
        "rivals": {"single-file verifier s": round(single, 2)},
        "ratios": {"verify over the single-file verifier": round(whole / single, 2)},
        "bars": {
            "verify s for 100,000": {"bar": BAR_SECONDS, "met": scaled < BAR_SECONDS},
        },
        "ok": scaled < BAR_SECONDS,
    }


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="3,000 records instead of 100,000")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = measure(3_000 if asked.quick else RECORDS, 1 if asked.quick else 3)
    if asked.json:
        print(json.dumps(found))
    else:
        for part in ("figures", "rivals", "ratios", "bars"):
            print(f"{part}: {json.dumps(found[part], indent=1)}")
    return 0 if found["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
