"""Whether the files of a frozen policy give the digest that everything else in a log names."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from safegym.policy.declared import FILE as DECLARED
from safegym.policy.declared import KINDS, declared_digest
from safegym.policy.stored import DOCUMENT, WEIGHTS, stored_digest
from safegym.policy.tree import FILE, TreePolicy


def misfiled(folder: Path, payload: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """What is wrong with the files of a policy_frozen record: (in words, whether one is missing).

    A scripted policy has none: its code is named by the digest alone. Raises PolicyError for files
    that are malformed.
    """
    if payload.get("kind") == "scripted":
        if payload["files"]:
            yield "a scripted policy has no files, and this one names some", False
        return
    paths = [folder / entry["artifact"] for entry in payload["files"]]
    kept = {path.name: path for path in paths if path.is_file()}
    declared = payload.get("kind") in KINDS
    wanted = {FILE} if payload.get("kind") == "tree" else {DOCUMENT, WEIGHTS}
    wanted = {DECLARED} if declared else wanted
    if not wanted <= set(kept):
        yield "the frozen policy's files are missing", True
        return
    found = (
        declared_digest(kept[DECLARED].read_bytes())
        if declared
        else _digest(kept, int(payload["width"]))
    )
    if found != payload["policy"]:
        yield f"the policy's files give {found}, logged {payload['policy']}", False


def _digest(kept: Mapping[str, Path], width: int) -> str:
    if FILE in kept:
        return TreePolicy.load(kept[FILE]).card.digest
    return stored_digest(kept[DOCUMENT].read_bytes(), kept[WEIGHTS].read_bytes(), width)
