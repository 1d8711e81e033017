"""The lock of the claim sets: `python -m safegym_predicates.lock --check | --write`.

claims.lock holds the canonical text and digest of every claim at its default thresholds, so that a
change of meaning shows in review. --check exits 0 when it matches, 1 when it does not (and prints
the difference), 2 on bad usage.
"""

import sys
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from pathlib import Path

from safegym.formula.claim import set_digest
from safegym_predicates import CLAIM_SETS

LOCK = Path(__file__).with_name("claims.lock")
USAGE = "Usage: python -m safegym_predicates.lock --check | --write"


def lock_text() -> str:
    """Returns what claims.lock must hold."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Written by: python -m safegym_predicates.lock --write"
    for name in sorted(CLAIM_SETS):
        claims = CLAIM_SETS[name]()
        yield ""
        yield f"[{name}] {set_digest(claims)}"
        for claim in claims:
            yield ""
            yield f"{claim.id} {claim.digest}"
            yield from (f"    {line}" for line in claim.canonical_text.splitlines())


def check() -> list[str]:
    """Returns the difference between claims.lock and the claim sets, empty if there is none."""
    locked = LOCK.read_text(encoding="utf-8") if LOCK.exists() else ""
    return list(
        unified_diff(
            locked.splitlines(), lock_text().splitlines(), "claims.lock", "claim sets", lineterm=""
        )
    )


def main(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    if list(arguments) == ["--write"]:
        LOCK.write_text(lock_text(), encoding="utf-8")
        print(f"Wrote {LOCK.name}: {len(CLAIM_SETS)} claim sets.")
        return 0
    if list(arguments) != ["--check"]:
        print(USAGE, file=sys.stderr)
        return 2
    difference = check()
    if not difference:
        print(f"{LOCK.name} matches {len(CLAIM_SETS)} claim sets.")
        return 0
    print("\n".join(difference))
    print("\nIf the change is meant: python -m safegym_predicates.lock --write", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
