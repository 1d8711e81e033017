"""The report of a proof's log: what verifies is not called broken, and nothing is certified."""

import pytest
from safegym_scenarios.models import find_model

import safegym as sg
from safegym.audit.report import render_report
from safegym.audit.sign import CryptoSigner, public_key
from safegym.check.neural.proof import never_saturates, prove
from safegym.formula.claim import Claim
from safegym.gate.proof_log import CERTIFICATE, log_proof, proof_folder
from safegym.gate.rederive import rederive

SIGNER = CryptoSigner.generate_ed25519()
BRAKES = Claim(id="brakes", statement=sg.parse("obs[0] <= 20 implies action[0] <= -4"))


@pytest.mark.parametrize("asked", [BRAKES, None], ids=["claim", "ready-property"])
def test_an_intact_proof_has_a_report_that_certifies_nothing(asked, monkeypatch, tmp_path):
    monkeypatch.setattr("safegym.audit.log.default_signer", lambda: SIGNER)
    place, policy = proof_folder(tmp_path / "proof"), find_model("cruise").policy()
    region = {0: (10, 20), 1: (28, 32), 2: (16, 20)}
    stated = never_saturates() if asked is None else asked
    proof = prove(policy, stated, region=region, certificate=place / CERTIFICATE)
    log_proof(place, proof, policy, asked)

    page = render_report(place, keys=[public_key(SIGNER)], rederive=rederive).decode()

    headline = "REFUTED of the network" if asked is None else "PROVED of the network"
    assert headline in page
    assert "no policy was released" in page
    assert "BROKEN" not in page
