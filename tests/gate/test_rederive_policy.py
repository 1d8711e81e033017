"""The files of a frozen policy must give the digest that the evidence names."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.envs.classic_control.cartpole import CartPoleEnv
from stable_baselines3 import PPO

from safegym.audit.log import AuditLog
from safegym.audit.record import AuditRecord
from safegym.gate.freezing import record_frozen
from safegym.gate.rederive import rederive
from safegym.policy.sb3 import freeze


@pytest.fixture(scope="module")
def trail(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[AuditRecord, ...]]:
    folder = tmp_path_factory.mktemp("frozen") / "run"
    model = PPO("MlpPolicy", CartPoleEnv(), n_steps=8, batch_size=8, seed=1, device="cpu")
    with AuditLog.create(folder) as log:
        record_frozen(log, freeze(model), 1)
        records = log.records()
    return folder, records


def test_an_honest_policy_derives_again_without_building_a_network(
    trail: tuple[Path, tuple[AuditRecord, ...]],
) -> None:
    assert rederive(*trail) == []


def test_a_record_that_names_another_policy_is_found(
    trail: tuple[Path, tuple[AuditRecord, ...]],
) -> None:
    folder, (record, *_) = trail
    other: dict[str, Any] = {**record.payload, "policy": "sha256:" + "0" * 64}
    (found,) = rederive(folder, [dataclasses.replace(record, payload=other)])
    assert "the policy's files give sha256:" in found.detail


def test_another_width_is_another_policy(trail: tuple[Path, tuple[AuditRecord, ...]]) -> None:
    folder, (record, *_) = trail
    narrow = {**record.payload, "width": 1}
    assert rederive(folder, [dataclasses.replace(record, payload=narrow)])


def test_changed_weights_are_found(trail: tuple[Path, tuple[AuditRecord, ...]]) -> None:
    folder, records = trail
    path = next(folder.rglob("policy.safetensors"))
    whole = path.read_bytes()
    try:
        data = np.frombuffer(whole, np.uint8).copy()
        data[-5] ^= 1
        path.write_bytes(data.tobytes())
        assert rederive(folder, records)
        path.write_bytes(whole[:100])
        (found,) = rederive(folder, records)
        assert "malformed" in found.detail
    finally:
        path.write_bytes(whole)


def test_missing_files_are_incomplete(trail: tuple[Path, tuple[AuditRecord, ...]]) -> None:
    folder, (record, *_) = trail
    gone = {**record.payload, "files": []}
    (found,) = rederive(folder, [dataclasses.replace(record, payload=gone)])
    assert found.missing


def test_a_policy_called_scripted_hides_no_files_behind_its_name(
    trail: tuple[Path, tuple[AuditRecord, ...]],
) -> None:
    """No digest is checked of a scripted policy, whose code is no file."""
    folder, (record, *_) = trail
    other = {**record.payload, "kind": "scripted", "policy": "sha256:" + "0" * 64}
    (found,) = rederive(folder, [dataclasses.replace(record, payload=other)])
    assert not found.missing
    assert "scripted policy has no files" in found.detail


def test_a_promotion_of_a_policy_that_nothing_froze_is_found(
    trail: tuple[Path, tuple[AuditRecord, ...]],
) -> None:
    folder, (record, *_) = trail
    told = {"action": "promote", "policy": record.payload["policy"], "reasons": [], "rests_on": []}
    decision = dataclasses.replace(record, kind="gate_decision", payload=told)
    words = "nothing in this log freezes that policy"
    assert any(words in found.detail for found in rederive(folder, [decision]))
    assert not any(words in found.detail for found in rederive(folder, [record, decision]))
