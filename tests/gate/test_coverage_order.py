"""Finishing order against index order: the same episodes, and opposite conclusions."""

import pytest
from safegym_scenarios.chain_fork import fork

from safegym.check.monitor import judge
from safegym.check.statistics import EProcess
from safegym.policy.base import Policy
from safegym.scenario.campaign import Campaign
from safegym.scenario.registry import find
from safegym.scenario.runner import Runner, Task
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.staging import Staging

LONG, SHORT = (1, 30), (30, 1)
"""Steps of (safe, failing) episodes."""


def chain(failure: str, lengths: tuple[int, int]) -> tuple[ScenarioSpec, Policy]:
    spec = fork("test/fork-v0", (failure,), lengths)
    assert spec.good is not None
    return spec, spec.good()


def as_they_finish(
    failure: str, lengths: tuple[int, int], copies: int, seed: int, episodes: int
) -> list[bool]:
    """Whether the first episodes to finish failed, in the order in which they finished."""
    spec, policy = chain(failure, lengths)
    runner = Runner(Staging(spec).stage, policy, copies=copies)
    found: list[bool] = []
    started = 0
    while len(found) < episodes:
        tasks = [Task(started + k, (seed << 32) + started + k) for k in range(runner.room)]
        runner.submit(tasks)
        started += len(tasks)
        found += [judge(spec.claims[0], t).status == "violated" for _, t in runner.collect()]
    runner.close()
    return found[:episodes]


def as_admitted(
    failure: str, lengths: tuple[int, int], copies: int, seed: int, episodes: int
) -> list[bool]:
    """The same in index order, as a campaign yields them."""
    spec, policy = chain(failure, lengths)
    with Campaign(
        spec,
        policy,
        seed_of=lambda i: (seed << 32) + i,
        tail=0,
        copies=copies,
        episodes=episodes,
    ) as campaign:
        return [judge(spec.claims[0], trace).status == "violated" for _, trace in campaign]


def claimed(failed: list[bool]) -> bool:
    """Whether p < .01 is claimed at .05, looking after each episode."""
    process = EProcess(0.01, 0.05)
    process.update_each("violated" if each else "safe" for each in failed)
    return process.decision == "below"


def test_finishing_order_claims_one_percent_of_two_percent_chains_every_time() -> None:
    """What the rule is for: 64 copies, failing episodes 30 times longer, p = .02."""
    runs = 6
    wrong = sum(claimed(as_they_finish("0.02", LONG, 64, seed, 400)) for seed in range(runs))
    right = sum(claimed(as_admitted("0.02", LONG, 64, seed, 400)) for seed in range(runs))
    assert wrong == runs
    assert right == 0


def test_the_first_to_finish_show_no_failure_of_a_chain_that_fails_in_ten_percent() -> None:
    assert sum(as_they_finish("0.1", LONG, 64, 0, 300)) == 0
    assert 10 <= sum(as_admitted("0.1", LONG, 64, 0, 300)) <= 55


def test_the_first_to_finish_are_all_failures_of_a_chain_that_fails_in_one_of_five() -> None:
    """The reverse: failing episodes are short, and overtake the safe ones."""
    assert sum(as_they_finish("0.2", SHORT, 64, 0, 8)) == 8
    assert sum(as_admitted("0.2", SHORT, 64, 0, 8)) <= 5


@pytest.mark.parametrize("lengths", [LONG, SHORT], ids=["failing-long", "failing-short"])
def test_index_order_gives_the_same_outcomes_for_any_number_of_copies(
    lengths: tuple[int, int],
) -> None:
    one, eight, many = (as_admitted("0.1", lengths, copies, 5, 200) for copies in (1, 8, 64))
    assert one == eight == many


@pytest.mark.slow
@pytest.mark.parametrize("name", ["chain/slow-failures-v0", "chain/quick-failures-v0"])
def test_two_workers_admit_the_same_episodes_in_the_same_order(name: str) -> None:
    """Across processes too, whoever finishes first: index by index, digest by digest."""
    spec = find(name)
    found = []
    for workers, copies in ((1, 64), (2, 8)):
        with Campaign(
            spec,
            spec.bad["fork.hazard"](),
            seed_of=lambda i: i,
            tail=0,
            copies=copies,
            workers=workers,
            episodes=120,
        ) as campaign:
            found.append([(index, trace.digest) for index, trace in campaign])
    assert found[0] == found[1]
    assert [index for index, _ in found[0]] == list(range(120))
