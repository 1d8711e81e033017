"""Writes tests/assets/audit: good and bad bundles with what verifiers must say of each.

    python tests/faults/audit_assets.py

The bundles are kept in the repository so that later releases, and verifiers in other languages,
can be tested against them. Small text bundles only; the zip bomb is made in the test.
"""

import json
import shutil
import sys
from pathlib import Path

from audit_attacks import ATTACKS
from audit_forge import good_run, resumed_run, signer, write_bundle
from audit_people import peopled_run
from audit_slices import good_slice

from safegym.audit.sign import public_key, public_pem

FOLDER = Path(__file__).parents[1] / "assets" / "audit"
LEFT_OUT = frozenset(
    {"zip-bomb", "zip-entry-climbs-out", "zip-entry-absolute", "zip-entry-is-a-link"}
)
"""Made by zipfile at test time: their bytes carry the hour or the machine."""


def write_assets(folder: Path) -> None:
    """Write every asset and the manifest."""
    (folder / "bad").mkdir(parents=True)
    (folder / "good").mkdir()
    (folder / "key.pub.pem").write_bytes(public_pem(public_key(signer())))
    entries: dict[str, dict[str, str]] = {}
    good = {
        "closed": good_run(),
        "resumed": resumed_run(),
        "peopled": peopled_run(),
        "slice-of-a-claim": good_slice(),
        "slice-of-a-policy": good_slice(resumed=True, claim=None),
    }
    for name, files in good.items():
        write_bundle(folder / "good" / f"{name}.zip", files)
        entries[f"good/{name}.zip"] = {"result": "intact", "step": "", "single": "intact"}
    for attack in ATTACKS:
        if attack.name in LEFT_OUT:
            continue
        attack.write(folder / "bad" / f"{attack.name}.zip")
        entries[f"bad/{attack.name}.zip"] = {
            "result": attack.result,
            "step": attack.step,
            "single": attack.single,
        }
    text = json.dumps(entries, indent=1, sort_keys=True) + "\n"
    (folder / "MANIFEST.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    write_assets(FOLDER)
    sys.stdout.write(f"written to {FOLDER}\n")
