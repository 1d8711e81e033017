"""The made-up run as its exports read it, and the same run with one claim changed."""

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

from trail import SIGNER, whole_run

from safegym.audit.exports.standing import Dossier, Standing, open_dossier
from safegym.audit.sign import public_key, public_pem
from safegym.audit.waivers import Waiver

KEY = public_key(SIGNER)
WAIVER = Waiver(9, "2026-03-01", "drone.reach", "Ann", "rig only", "2030-01-01", "in force")


@cache
def dossier(run: Path, *, trusted: bool = True) -> Dossier:
    """The run, verified, with the signer's key or with none."""
    return open_dossier(run, keys=[KEY] if trusted else [])


def changed(whole: Dossier, claim: str, **changes: object) -> Dossier:
    """The same with one claim's standing changed; `status` is its evidence's."""
    return replace(
        whole, standings=tuple(_one(item, claim, dict(changes)) for item in whole.standings)
    )


def _one(item: Standing, claim: str, changes: dict[str, object]) -> Standing:
    if item.claim.id != claim:
        return item
    status = changes.pop("status", None)
    if status is not None and item.shown is not None:
        changes["shown"] = replace(item.shown, status=status)
    return replace(item, **changes)


def copied(run: Path, folder: Path) -> Path:
    """A copy of the run that a test may change, and its public key beside it."""
    shutil.copytree(run, folder / "run")
    (folder / "key.pem").write_bytes(public_pem(KEY))
    return folder / "run"


__all__ = ["KEY", "SIGNER", "WAIVER", "changed", "copied", "dossier", "whole_run"]
