"""What `safegym prove` is asked: the policy, the property, the region."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safegym.errors import PolicyError, SafegymError
from safegym.formula.claim import Claim
from safegym.formula.text import parse_statement

if TYPE_CHECKING:
    from safegym.check.neural.proof.subject import ClaimInput
    from safegym.check.neural.property.region import RegionInput

LARGEST_CLAIM = 2**20
_SIDE = re.compile(r"\s*([A-Za-z_]\w*(?:\[\d+\])?)\s*=(?!=)\s*([^<>=]+)\Z", re.ASCII)
_PAIR = re.compile(r"\s*(\S+?)\s*:\s*(?:action\[(\d+)\]|(\d+))\s*\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Asked:
    """The options that say what is to be proved."""

    formula: str | None
    claim: str | None
    scenario: str | None
    never_saturates: bool
    never_chooses: int | None
    robust_at: str | None
    epsilon: str | None
    delta: float | None
    monotone: str | None
    tolerance: float | None
    decreasing: bool

    @property
    def named(self) -> list[str]:
        """The options given that each name a property."""
        given = {
            "--formula": self.formula is not None,
            "--claim": self.claim is not None,
            "--never-saturates": self.never_saturates,
            "--never-chooses": self.never_chooses is not None,
            "--robust-at": self.robust_at is not None,
            "--monotone": self.monotone is not None,
        }
        return [option for option, there in given.items() if there]


def property_of(asked: Asked) -> "ClaimInput":
    """The one property that the options name. Raises SafegymError for none, or several."""
    if len(asked.named) != 1:
        found = " and ".join(asked.named) or "none"
        raise SafegymError(
            f"One proof is about one property, found {found}; give one of --formula, --claim, "
            "--never-saturates, --never-chooses, --robust-at, --monotone, for example --formula "
            '"obs[0] > 0.1 implies action[0] < 0".'
        )
    if asked.formula is not None:
        return Claim(id="formula.1", statement=parse_statement(asked.formula))
    if asked.claim is not None:
        return _claim(asked.claim, asked.scenario)
    return _ready(asked)


def _ready(asked: Asked) -> "ClaimInput":
    from safegym.check.neural.proof import monotone, never_chooses, never_saturates, robust

    if asked.never_saturates:
        return never_saturates()
    if asked.never_chooses is not None:
        return never_chooses(asked.never_chooses)
    if asked.robust_at is not None:
        if asked.epsilon is None:
            raise SafegymError("--robust-at needs the ball's radius: --epsilon 0.01.")
        return robust(numbers(asked.robust_at), asked.epsilon, asked.delta)
    found = _PAIR.match(asked.monotone or "")
    if found is None or asked.tolerance is None:
        raise SafegymError(
            f"--monotone {asked.monotone!r} is not understood, or lacks --tolerance; write "
            '--monotone "obs[0]:action[0]" --tolerance 0.001.'
        )
    action = int(found[2] or found[3])
    rising = not asked.decreasing
    return monotone(found[1], action, tolerance=asked.tolerance, increasing=rising)


def _claim(name: str, scenario: str | None) -> Claim:
    path = Path(name)
    if scenario is None and path.suffix == ".json" and path.is_file():
        return _claim_file(path)
    if scenario is None:
        raise SafegymError(
            f"--claim {name} is no claim file (.json), and without --scenario an id names no "
            "claim; a formula needs neither: --formula TEXT."
        )
    from safegym.scenario.registry import find

    spec = find(scenario)
    for claim in spec.claims:
        if claim.id == name:
            return claim
    known = ", ".join(claim.id for claim in spec.claims)
    raise SafegymError(f"{scenario} has no claim {name!r}; its claims are {known}.")


def _claim_file(path: Path) -> Claim:
    import json

    if path.stat().st_size > LARGEST_CLAIM:
        raise SafegymError(f"{path} is larger than {LARGEST_CLAIM >> 20} MiB.")
    try:
        return Claim.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, RecursionError) as error:
        raise SafegymError(f"{path} holds no claim: {error}") from None


def region_of(texts: Sequence[str]) -> "RegionInput":
    """What --region says, all of it together; None where it says nothing.

    NAME=LOW..HIGH and NAME=VALUE limit an entry, anything with a comparison is a linear constraint,
    and FILE.json holds a region, alone. Raises SafegymError for anything else.
    """
    from safegym.check.neural.property.region import WHERE, read_region

    if not texts:
        return None
    files = [text for text in texts if text.strip().endswith(".json")]
    if files:
        if len(texts) > 1:
            raise SafegymError("--region FILE.json is the whole region; give no other --region.")
        return read_region(Path(files[0].strip()))
    box: dict[str, Any] = {}
    where: list[str] = []
    for text in texts:
        side = _SIDE.match(text)
        if side is None and "<" not in text and ">" not in text:
            raise SafegymError(
                f'--region {text!r} is not understood; write --region "obs[0]=-0.1..0.1", '
                '--region "obs[0] + obs[1] <= 1" or --region FILE.json.'
            )
        if side is None:
            where.append(text)
        elif side[1] in box:
            raise SafegymError(f"--region limits {side[1]} twice; give it once.")
        else:
            box[side[1]] = side[2].strip()
    return {**box, **({WHERE: where} if where else {})}


def fields_of(texts: Sequence[str]) -> dict[str, int | str]:
    """What --field says: NAME=obs[1], NAME=action[0]. Raises SafegymError for anything else."""
    found: dict[str, int | str] = {}
    for text in texts:
        name, equals, place = (part.strip() for part in text.partition("="))
        if not (name and equals and place) or name in found:
            raise SafegymError(
                f"--field {text!r} is not understood, or names {name} twice; write "
                '--field "speed=obs[1]".'
            )
        found[name] = place
    return found


def numbers(text: str) -> list[float]:
    """Numbers with commas between. Raises SafegymError."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise SafegymError(
            f"{text!r:.80} is no list of numbers; write --robust-at 0,0.1,0,0."
        ) from None


def policy_of(name: str, scenario: str | None, *, trust_pickle: bool, algorithm: str) -> Any:
    """The policy of --policy: a folder, an SB3 .zip, or a ready one of --scenario.

    Raises PolicyError with what there is to choose from.
    """
    if scenario is not None:
        from safegym.cli.policies import load
        from safegym.scenario.registry import find

        return load(name, find(scenario), trust_pickle=trust_pickle, algorithm=algorithm)
    path = Path(name)
    if not path.exists():
        raise PolicyError(
            f"There is no policy {name!r}; give a frozen policy's folder, an SB3 .zip with "
            "--trust-pickle, or --onnx FILE."
        )
    if path.suffix == ".zip":
        from safegym.policy.sb3 import load_zip

        return load_zip(path, algorithm=algorithm, trust_pickle=trust_pickle)
    from safegym.policy.loading import load_policy

    return load_policy(path)
