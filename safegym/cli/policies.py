"""How commands name a policy: a ready one of the scenario, a checkpoint folder, or an SB3 zip."""

from pathlib import Path

from safegym.errors import PolicyError
from safegym.policy.base import Policy
from safegym.scenario.spec import ScenarioSpec

OPTION_HELP = (
    "good, bad:CLAIM or a baseline's name (scripted policies of the scenario), a frozen policy "
    "folder, a tree's .json file, an SB3 .zip with --trust-pickle, or llm:FILE.toml for a language "
    "model."
)
LLM = "llm:"
"""How the name of a language model's file begins."""


def load(
    name: str, spec: ScenarioSpec, *, trust_pickle: bool = False, algorithm: str = "ppo"
) -> Policy:
    """The policy that `name` stands for. Raises PolicyError with what there is to choose from.

    algorithm: of an SB3 .zip.
    """
    ready = {"good": spec.good, **{f"bad:{key}": make for key, make in spec.bad.items()}}
    ready.update(spec.baselines)
    maker = ready.get(name)
    if maker is not None:
        return maker()
    if name.startswith(LLM):
        return language_model(name.removeprefix(LLM), spec)
    path = Path(name)
    if path.exists():
        if path.suffix == ".zip":
            from safegym.policy.sb3 import load_zip

            return load_zip(path, algorithm=algorithm, trust_pickle=trust_pickle)
        from safegym.policy.loading import load_policy

        return load_policy(path)
    known = ", ".join(key for key, value in ready.items() if value is not None) or "none"
    raise PolicyError(
        f"There is no policy {name!r}: it is neither a file nor a ready policy of {spec.name} "
        f"(ready: {known})."
    )


def language_model(file: str, spec: ScenarioSpec) -> Policy:
    """The language model that a TOML file describes, told of this scenario; shielded if it says so.

    Raises PolicyError for a file that says something else, or a backup that the scenario has not.
    """
    from safegym.policy.llm.file import read_llm_file
    from safegym.scenario.brief import brief_of

    told = read_llm_file(file)
    brief = brief_of(spec, observation=told.observation, action=told.action, about=told.about)
    policy = told.policy(brief)
    if told.shield is None:
        return policy
    from safegym.check.lookahead import LookaheadPolicy

    backup = load(told.shield.backup, spec)
    return LookaheadPolicy(policy, spec, backup=backup, steps=told.shield.steps)
