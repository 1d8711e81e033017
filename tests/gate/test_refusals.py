"""What a gate refuses, each with the reason and the line that works."""

import dataclasses
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from chain import Chain, acted_spec, chain_spec, read, still

from safegym.audit.log import AuditLog
from safegym.check.statistics.ledger import AttemptLedger
from safegym.errors import EvidenceError, GateError, PolicyError
from safegym.formula.build import always, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.gate.attempt import Certifier
from safegym.gate.certify import certify, log_decision
from safegym.gate.offered import refuse_unfit
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.registration import register
from safegym.gate.setting import Setting, make_setting
from safegym.verdict import Evidence, Validity


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))


def chained(**plan: Any) -> tuple[Setting, AttemptLedger]:
    setting = make_setting(chain_spec(0.0), Gate(plan=GatePlan(**plan)))
    return setting, AttemptLedger(setting.spec.digest, setting.claims_digest)


@pytest.mark.parametrize("level", [0, 0.0, 1.0, -0.1, float("nan"), True, "0.05", None])
def test_a_level_that_is_no_probability_is_refused(level: Any) -> None:
    with pytest.raises(GateError, match=r"level=0\.05"):
        GatePlan(level=level)


@pytest.mark.parametrize("lift", [0, 1, 1.5, float("nan"), "0.9"])
def test_a_lift_that_is_no_probability_is_refused(lift: Any) -> None:
    with pytest.raises(GateError, match=r"lift=0\.99"):
        GatePlan(lift=lift)


@pytest.mark.parametrize("threshold", [1e-13, 1.0 - 2.0**-53])
def test_a_threshold_that_no_number_of_episodes_settles_is_refused(threshold: float) -> None:
    claim = Claim("t.sure", prob(always(Signal("hazard") < 2)) >= threshold)
    setting = partial(make_setting, chain_spec(0.0), Gate(claims=(claim,)))
    with pytest.raises(GateError, match=r"within 1e-12 of 0 or 1"):
        setting()


def test_a_scenario_without_a_horizon_is_refused() -> None:
    spec = dataclasses.replace(chain_spec(0.0), horizon=0)
    with pytest.raises(GateError, match=r"ScenarioSpec\(horizon=500\)"):
        make_setting(spec, Gate())


def evidence(validity: Validity) -> Evidence:
    return Evidence(
        claim_id="t.rare",
        claim_digest="sha256:" + "0" * 64,
        kind="estimated",
        status="satisfied",
        threshold=0.01,
        bound=0.001,
        confidence=0.95,
        level=0.05,
        episodes=1000,
        violations=0,
        undecided=0,
        surplus=0,
        attempt=1,
        validity=validity,
        method="importance sampling",
    )


@pytest.mark.parametrize(
    ("validity", "words"),
    [
        ("asymptotic", "it holds in the limit of many episodes"),
        ("fixed_n", "it holds only at a number of episodes that was fixed before"),
    ],
)
def test_an_estimate_that_does_not_hold_at_a_chosen_number_of_episodes_is_refused(
    validity: Validity, words: str, tmp_path: Path
) -> None:
    with pytest.raises(GateError, match=words):
        refuse_unfit([evidence("anytime"), evidence(validity)])
    refuse_unfit([evidence("anytime"), evidence("exact")])
    setting, ledger = chained()
    attempt = Certifier(setting, ledger).attempt(still("p"))
    offered = dataclasses.replace(attempt, evidence=(evidence(validity),))
    with AuditLog.create(tmp_path / "run") as log:
        register(log, setting)
        with pytest.raises(GateError, match=r"For a release run safegym\.certify"):
            log_decision(log, offered)


def test_burnt_seeds_are_refused_with_the_seed_and_the_attempt_counts() -> None:
    setting, ledger = chained()
    seed = setting.seeds(still("p").card.digest, "certify", 1)(200)
    ledger.burn([seed])
    with pytest.raises(EvidenceError, match=f"Seed {seed} was replayed in training"):
        Certifier(setting, ledger).attempt(still("p"))
    (entry,) = ledger.attempts()
    assert entry.outcome == "abandoned"


def test_a_seed_that_training_drew_is_refused_even_without_a_replay() -> None:
    setting, ledger = chained()
    seed = setting.seeds(still("p").card.digest, "certify", 1)(17)
    with pytest.raises(EvidenceError, match=r"of episode 17 was drawn in this run's training"):
        Certifier(setting, ledger, trained={seed}).attempt(still("p"))


def test_the_gate_of_a_training_knows_the_seeds_that_training_drew(tmp_path: Path) -> None:
    from safegym.gate.keeping import TrainingGate
    from safegym.scenario.seeds import episode_seed

    setting, ledger = chained()
    gate = TrainingGate(setting, ledger, tmp_path / "run", root=5)
    gate._remember((3, 0, 1))
    gate._remember((4, 1, 1))
    where = (setting.spec.digest, setting.claims_digest, "train")
    drawn = {
        episode_seed(5, "", *where, slot, number)
        for slot, count in enumerate((4, 1, 1))
        for number in range(count)
    }
    assert gate.trained == drawn


class Edited(Chain):
    """A scenario whose sources are edited while it is loaded."""


def test_a_scenario_whose_files_changed_since_it_was_loaded_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "mesh.xml"
    source.write_text("<mesh/>")
    spec = dataclasses.replace(
        chain_spec(0.0),
        name="test/edited-v0",
        make_env=partial(Edited, 0.0, (1, 1)),
        read_signals=read,
        sources=(source,),
    )
    setting = make_setting(spec, Gate())
    ledger = AttemptLedger(spec.digest, setting.claims_digest)
    source.write_text("<mesh scale='2'/>")
    with pytest.raises(GateError, match="its code, assets or physics changed meanwhile"):
        Certifier(setting, ledger).attempt(still("p"))
    assert ledger.attempts() == ()
    source.unlink()
    with pytest.raises(GateError, match="Start again"):
        Certifier(setting, ledger).attempt(still("p"))


class Model:
    """An object with predict, as stable-baselines3 has it."""

    def __init__(self, normaliser: object) -> None:
        self._normaliser = normaliser

    def get_vec_normalize_env(self) -> object:
        return self._normaliser

    def predict(self, observations: Any, state: Any = None, **_: Any) -> Any:
        return observations, state


class Moving:
    """Stands for a VecNormalize that still takes in what it sees."""

    training = True
    norm_obs = True


def test_a_policy_whose_normaliser_still_moves_is_refused_with_that_reason() -> None:
    with pytest.raises(
        PolicyError, match=r"normaliser \(Moving\) that still moves.*safegym\.freeze"
    ):
        certify(acted_spec(), Model(Moving()), budget=400)


def test_a_policy_without_a_digest_is_refused_before_anything_is_spent() -> None:
    with pytest.raises(PolicyError, match=r"safegym\.freeze\(model\)"):
        certify(acted_spec(), Model(None), budget=400)
    setting = make_setting(acted_spec(), Gate())
    assert AttemptLedger(setting.spec.digest, setting.claims_digest).attempts() == ()


def test_a_real_vec_normalize_that_still_moves_is_refused_and_its_frozen_policy_is_certified() -> (
    None
):
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    from safegym.policy.sb3 import freeze

    spec = acted_spec()
    behind = VecNormalize(DummyVecEnv([spec.make_env]))
    model = PPO("MlpPolicy", behind, n_steps=8, batch_size=8, device="cpu")
    with pytest.raises(PolicyError, match=r"normaliser \(VecNormalize\) that still moves"):
        certify(spec, model, budget=400)
    assert [item.status for item in certify(spec, freeze(model), budget=400)] == ["satisfied"]
