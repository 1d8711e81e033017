"""Formal policy verification for safety-critical control reinforcement learning.

Declare claims, train under a gate, certify, and export an audit trail:

    import safegym as sg
    f = sg.parse("always[0,2](x > 0)")
    run = sg.train("drone/corridor-v0", steps=200_000, gate=sg.Gate(), out="runs/a")

Names load on first use, so that importing safegym stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from safegym.check.dispatch import check as check
    from safegym.check.falsify import Falsification as Falsification
    from safegym.check.falsify import Find as Find
    from safegym.check.falsify import read_finds as read_finds
    from safegym.check.live import make as make
    from safegym.check.loop.barrier import prove_barrier as prove_barrier
    from safegym.check.loop.conformance import conformance as conformance
    from safegym.check.loop.inductive import prove_inductive as prove_inductive
    from safegym.check.loop.lyapunov import prove_lyapunov as prove_lyapunov
    from safegym.check.loop.reach import prove_reach as prove_reach
    from safegym.check.loop.shield import Shield as Shield
    from safegym.check.loop.template import find_inductive as find_inductive
    from safegym.check.monitor import Monitor as Monitor
    from safegym.check.monitor import measure as measure
    from safegym.check.monitor import robustness as robustness
    from safegym.check.monitor import satisfaction as satisfaction
    from safegym.check.neural.importing import write_onnx as write_onnx
    from safegym.check.neural.proof import Proof as Proof
    from safegym.check.neural.proof import monotone as monotone
    from safegym.check.neural.proof import never_chooses as never_chooses
    from safegym.check.neural.proof import never_saturates as never_saturates
    from safegym.check.neural.proof import prove as prove
    from safegym.check.neural.proof import robust as robust
    from safegym.check.rare import RareEstimate as RareEstimate
    from safegym.check.rare import estimate_rare as estimate_rare
    from safegym.check.shield import shielded as shielded
    from safegym.check.statistics.eprocess import EProcess as EProcess
    from safegym.check.statistics.intervals import interval as interval
    from safegym.check.symbolic.model import check_model as check_model
    from safegym.check.symbolic.model_policy import LinearPolicy as LinearPolicy
    from safegym.check.symbolic.specification import check_specification as check_specification
    from safegym.errors import AuditError as AuditError
    from safegym.errors import EvidenceError as EvidenceError
    from safegym.errors import FormulaError as FormulaError
    from safegym.errors import GateError as GateError
    from safegym.errors import PolicyError as PolicyError
    from safegym.errors import RunFolderError as RunFolderError
    from safegym.errors import SafegymError as SafegymError
    from safegym.errors import ScenarioError as ScenarioError
    from safegym.errors import TraceError as TraceError
    from safegym.errors import UnitError as UnitError
    from safegym.errors import UnsupportedError as UnsupportedError
    from safegym.formula.build import all_of as all_of
    from safegym.formula.build import always as always
    from safegym.formula.build import any_of as any_of
    from safegym.formula.build import between as between
    from safegym.formula.build import eventually as eventually
    from safegym.formula.build import falling as falling
    from safegym.formula.build import fraction as fraction
    from safegym.formula.build import historically as historically
    from safegym.formula.build import mean as mean
    from safegym.formula.build import near as near
    from safegym.formula.build import never as never
    from safegym.formula.build import next_ as next_
    from safegym.formula.build import once as once
    from safegym.formula.build import previous as previous
    from safegym.formula.build import prob as prob
    from safegym.formula.build import quantile as quantile
    from safegym.formula.build import rising as rising
    from safegym.formula.build import weak_next as weak_next
    from safegym.formula.build import weak_previous as weak_previous
    from safegym.formula.choice import if_ as if_
    from safegym.formula.claim import Claim as Claim
    from safegym.formula.dynamics import Dynamics as Dynamics
    from safegym.formula.flow import Flow as Flow
    from safegym.formula.rtamt import read_rtamt as read_rtamt
    from safegym.formula.sentence import sentence as sentence
    from safegym.formula.terms import Signal as Signal
    from safegym.formula.text import parse as parse
    from safegym.gate.burst_settings import BurstSettings as BurstSettings
    from safegym.gate.certify import certify as certify
    from safegym.gate.distill import Distilled as Distilled
    from safegym.gate.distill import Teacher as Teacher
    from safegym.gate.distill import certify_jointly as certify_jointly
    from safegym.gate.distill import distil as distil
    from safegym.gate.distill import distil_teachers as distil_teachers
    from safegym.gate.falsifying import falsify as falsify
    from safegym.gate.plan import Gate as Gate
    from safegym.gate.plan import GatePlan as GatePlan
    from safegym.gate.proving import bank_counterexample as bank_counterexample
    from safegym.gate.replay_settings import ReplaySettings as ReplaySettings
    from safegym.gate.reward import Curriculum as Curriculum
    from safegym.gate.reward import Potential as Potential
    from safegym.gate.reward import Reward as Reward
    from safegym.gate.reward import Stage as Stage
    from safegym.gate.reward import claim_reward as claim_reward
    from safegym.gate.step_penalty import penalised as penalised
    from safegym.gate.strata import Strata as Strata
    from safegym.gate.strata import Stratum as Stratum
    from safegym.gate.trainer.settings import TrainSettings as TrainSettings
    from safegym.gate.training import resume as resume
    from safegym.gate.training import train as train
    from safegym.gate.weighting import PID as PID
    from safegym.gate.weighting import CostCritic as CostCritic
    from safegym.gate.weighting import PenaltySettings as PenaltySettings
    from safegym.gate.weighting import Ramp as Ramp
    from safegym.policy.base import Policy as Policy
    from safegym.policy.base import ScriptedPolicy as ScriptedPolicy
    from safegym.policy.loading import load_policy as load_policy
    from safegym.policy.network import Layer as Layer
    from safegym.policy.network import NetworkPolicy as NetworkPolicy
    from safegym.policy.network import Normalisation as Normalisation
    from safegym.policy.sb3 import SB3Policy as SB3Policy
    from safegym.policy.sb3 import freeze as freeze
    from safegym.policy.tree import TreePolicy as TreePolicy
    from safegym.scenario.record import record as record
    from safegym.scenario.spec import ScenarioSpec as ScenarioSpec
    from safegym.trace.batch import TraceBatch as TraceBatch
    from safegym.trace.model import Trace as Trace
    from safegym.verdict import Evidence as Evidence
    from safegym.verdict import Measured as Measured
    from safegym.verdict import Verdict as Verdict
    from safegym.version import __version__ as __version__

_FACE = {
    "safegym.check.dispatch": ("check",),
    "safegym.check.falsify": ("Falsification", "Find", "read_finds"),
    "safegym.check.live": ("make",),
    "safegym.check.loop.shield": ("Shield",),
    "safegym.check.loop.barrier": ("prove_barrier",),
    "safegym.check.loop.conformance": ("conformance",),
    "safegym.check.loop.inductive": ("prove_inductive",),
    "safegym.check.loop.lyapunov": ("prove_lyapunov",),
    "safegym.check.loop.reach": ("prove_reach",),
    "safegym.check.loop.template": ("find_inductive",),
    "safegym.formula.choice": ("if_",),
    "safegym.formula.dynamics": ("Dynamics",),
    "safegym.formula.flow": ("Flow",),
    "safegym.check.symbolic.model": ("check_model",),
    "safegym.check.symbolic.model_policy": ("LinearPolicy",),
    "safegym.check.symbolic.specification": ("check_specification",),
    "safegym.check.monitor": ("Monitor", "measure", "robustness", "satisfaction"),
    "safegym.check.neural.importing": ("write_onnx",),
    "safegym.check.neural.proof": (
        "Proof",
        "monotone",
        "never_chooses",
        "never_saturates",
        "prove",
        "robust",
    ),
    "safegym.check.rare": ("RareEstimate", "estimate_rare"),
    "safegym.check.shield": ("shielded",),
    "safegym.check.statistics.eprocess": ("EProcess",),
    "safegym.check.statistics.intervals": ("interval",),
    "safegym.errors": (
        "AuditError",
        "EvidenceError",
        "FormulaError",
        "GateError",
        "PolicyError",
        "RunFolderError",
        "SafegymError",
        "ScenarioError",
        "TraceError",
        "UnitError",
        "UnsupportedError",
    ),
    "safegym.formula.build": (
        "all_of",
        "always",
        "any_of",
        "between",
        "eventually",
        "falling",
        "fraction",
        "historically",
        "mean",
        "near",
        "never",
        "next_",
        "once",
        "previous",
        "prob",
        "quantile",
        "rising",
        "weak_next",
        "weak_previous",
    ),
    "safegym.formula.claim": ("Claim",),
    "safegym.formula.rtamt": ("read_rtamt",),
    "safegym.formula.sentence": ("sentence",),
    "safegym.formula.terms": ("Signal",),
    "safegym.formula.text": ("parse",),
    "safegym.gate.burst_settings": ("BurstSettings",),
    "safegym.gate.certify": ("certify",),
    "safegym.gate.distill": (
        "Distilled",
        "Teacher",
        "certify_jointly",
        "distil",
        "distil_teachers",
    ),
    "safegym.gate.falsifying": ("falsify",),
    "safegym.gate.plan": ("Gate", "GatePlan"),
    "safegym.gate.proving": ("bank_counterexample",),
    "safegym.gate.replay_settings": ("ReplaySettings",),
    "safegym.gate.reward": ("Curriculum", "Potential", "Reward", "Stage", "claim_reward"),
    "safegym.gate.step_penalty": ("penalised",),
    "safegym.gate.strata": ("Strata", "Stratum"),
    "safegym.gate.trainer.settings": ("TrainSettings",),
    "safegym.gate.training": ("resume", "train"),
    "safegym.gate.weighting": ("CostCritic", "PID", "PenaltySettings", "Ramp"),
    "safegym.policy.base": ("Policy", "ScriptedPolicy"),
    "safegym.policy.loading": ("load_policy",),
    "safegym.policy.network": ("Layer", "NetworkPolicy", "Normalisation"),
    "safegym.policy.sb3": ("SB3Policy", "freeze"),
    "safegym.policy.tree": ("TreePolicy",),
    "safegym.scenario.record": ("record",),
    "safegym.scenario.spec": ("ScenarioSpec",),
    "safegym.trace.batch": ("TraceBatch",),
    "safegym.trace.model": ("Trace",),
    "safegym.verdict": ("Evidence", "Measured", "Verdict"),
    "safegym.version": ("__version__",),
}
_HOME = {name: module for module, names in _FACE.items() for name in names}
__all__ = sorted(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]  # one table says it all


def __getattr__(name: str) -> Any:
    module = _HOME.get(name)
    if module is None:
        raise AttributeError(f"module 'safegym' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
