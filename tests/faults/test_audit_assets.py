"""The stored bundles verify as their manifest says, and are what this release writes."""

import json

import pytest
from audit_assets import FOLDER, write_assets
from test_audit_attacks import SINGLE

from safegym.audit.sign import read_key
from safegym.audit.verify import verify

MANIFEST = json.loads((FOLDER / "MANIFEST.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", MANIFEST)
def test_stored_bundle_verifies_as_the_manifest_says(name: str):
    expected = MANIFEST[name]
    report = verify(FOLDER / name, keys=[read_key(FOLDER / "key.pub.pem")])
    assert report.result == expected["result"]
    if report.broken is not None:
        assert report.broken.name == expected["step"]
    pem = (FOLDER / "key.pub.pem").read_bytes()
    assert SINGLE.verify_single(FOLDER / name, [pem])[0] == expected["single"]


def test_stored_bundles_are_those_that_this_release_writes(tmp_path):
    write_assets(tmp_path / "audit")
    for path in sorted((tmp_path / "audit").rglob("*.*")):
        stored = FOLDER / path.relative_to(tmp_path / "audit")
        assert stored.read_bytes() == path.read_bytes(), (
            f"{stored.name} differs: the format changed. If that is meant, keep the old bundles "
            "as assets of their release and run python tests/faults/audit_assets.py"
        )
