"""Running a run's regression suite on any policy, outside of its training."""

from pathlib import Path

from safegym.audit.layout import LOG
from safegym.audit.read import read_log
from safegym.check.statistics.ledger import AttemptLedger
from safegym.errors import GateError, RunFolderError
from safegym.gate.attempt import Certifier
from safegym.gate.checks import Checked
from safegym.gate.counterexample import Counterexample
from safegym.gate.events import Listener, ignore
from safegym.gate.freezing import refuse_unfrozen
from safegym.gate.registered import check_scenario, gate_of, scenario_of
from safegym.gate.setting import make_setting
from safegym.gate.stored_bank import read_bank
from safegym.gate.suite import RegressionSuite
from safegym.gate.suite_check import SuiteCheck
from safegym.policy.base import Policy
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec


def check_suite(
    run: str | Path,
    policy: Policy,
    *,
    scenario: ScenarioSpec | None = None,
    workers: int = 1,
    listener: Listener = ignore,
) -> Checked:
    """Whether `policy` passes what the policies of a run learned to pass. It is no evidence.

    run: a training's folder, which is left as it is. scenario: that of the run, None to find it by
    name. The claims are the run's. Raises RunFolderError for a folder without a training, GateError
    where its suite is empty or its scenario has changed, PolicyError where the policy does not fit.
    """
    folder = Path(run)
    if not (folder / LOG).is_file():
        raise RunFolderError(f"{folder} holds no run; start one: safegym train NAME --out {folder}")
    records = read_log(folder)
    spec = scenario if scenario is not None else find(scenario_of(records))
    check_scenario(records, spec)
    refuse_unfrozen(policy)
    starts = [each.start for each in read_bank(folder).kept if each.place == "suite"]
    if not starts:
        raise GateError(
            f"The regression suite of {folder} is empty: no start has been passed often enough "
            "yet. See what is trained on with: safegym bank list RUN"
        )
    setting = make_setting(spec, gate_of(records), workers=workers)
    ledger = AttemptLedger(spec.digest, setting.claims_digest)
    check = SuiteCheck(Certifier(setting, ledger, listener=listener), lambda: _suite(starts))
    return check.check(policy, 0)


def _suite(starts: list[Counterexample]) -> RegressionSuite:
    suite = RegressionSuite(len(starts))
    for start in starts:
        suite.add(start)
    return suite
