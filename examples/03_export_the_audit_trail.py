"""Certify a policy, export the audit trail, and check it as a reviewer would.

The reviewer needs the bundle and the public key, which must reach them apart from it. Every
verdict is derived again from the traces in the bundle. Changing one byte is found.

Run: python examples/03_export_the_audit_trail.py
"""

import tempfile
import zipfile
from pathlib import Path

from safegym.audit.bundle import export
from safegym.audit.report import write_report
from safegym.audit.sign import default_key
from safegym.audit.verify import verify
from safegym.gate.certify import certify
from safegym.gate.rederive import rederive
from safegym.scenario.registry import find

folder = Path(tempfile.mkdtemp())
run, bundle, unpacked = folder / "run", folder / "bundle.zip", folder / "unpacked"

# 1. Certify the scenario's own careful controller on at most 400 fresh episodes.
spec = find("classic/cartpole-v0")
assert spec.good is not None
for item in certify(spec, spec.good(), budget=400, out=run):
    print(f"{item.claim_id}: {item.status} ({item.violations} of {item.episodes} failed)")

# 2. Export: one file with the signed log, the traces it rests on, and the policy's files.
export(run, bundle)
page = write_report(run, folder / "report.html")
print(f"bundle: {bundle.stat().st_size / 1024:.0f} KiB; report: {page}")

# 3. The reviewer verifies with a key that they trust, and derives every verdict again.
key = default_key()
assert key is not None
report = verify(bundle, keys=[key], rederive=rederive)
print(f"{report.result}: {len(report.records)} records, root {report.root}")
assert report.result == "intact"

# 4. Somebody unpacks it and changes one byte of one trace.
zipfile.ZipFile(bundle).extractall(unpacked)
assert verify(unpacked, keys=[key], rederive=rederive).result == "intact"
shard = next(unpacked.rglob("*.arrow"))
data = bytearray(shard.read_bytes())
data[len(data) // 2] ^= 1
shard.write_bytes(data)
report = verify(unpacked, keys=[key], rederive=rederive)
broken = [step.name for step in report.steps if step.result == "broken"]
print(f"{report.result}: step {broken[0]}: {report.steps[5].detail[:120]}")
assert broken == ["artifacts"]
