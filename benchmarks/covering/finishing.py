"""What would come of counting episodes as they finish, which the campaign never does."""

from safegym_scenarios.chain_fork import fork

from safegym.check.monitor import judge
from safegym.check.statistics import EProcess
from safegym.scenario.campaign import Campaign
from safegym.scenario.runner import Runner, Task
from safegym.scenario.staging import Staging

LEVEL = 0.05


def claims_below(failure: str, lengths: tuple[int, int], copies: int, seed: int, cap: int) -> bool:
    """Whether counting in finishing order claims p < .01 within `cap` episodes."""
    spec = fork("benchmark/fork-v0", (failure,), lengths)
    policy = spec.good()  # type: ignore[misc]  # a fork has one
    runner, process = Runner(Staging(spec).stage, policy, copies=copies), EProcess(0.01, LEVEL)
    started = 0
    try:
        while process.decision is None and process.episodes < cap:
            tasks = [Task(started + k, (seed << 32) + started + k) for k in range(runner.room)]
            started += len(tasks)
            runner.submit(tasks)
            for _, trace in runner.collect():
                process.update_each([judge(spec.claims[0], trace).status])
    finally:
        runner.close()
    return process.decision == "below"


def claims_below_in_order(
    failure: str, lengths: tuple[int, int], copies: int, seed: int, cap: int
) -> bool:
    """The same episodes in index order, as a campaign admits them."""
    spec, process = fork("benchmark/fork-v0", (failure,), lengths), EProcess(0.01, LEVEL)
    policy = spec.good()  # type: ignore[misc]  # a fork has one
    with Campaign(
        spec, policy, seed_of=lambda i: (seed << 32) + i, tail=0, copies=copies, episodes=cap
    ) as campaign:
        for _, trace in campaign:
            if process.update_each([judge(spec.claims[0], trace).status]) is not None:
                break
    return process.decision == "below"
