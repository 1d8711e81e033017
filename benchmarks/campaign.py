"""Episodes per second of a campaign against a bare loop of the same environment and policy.

The bare loop steps up to 64 unwrapped copies with one call of the policy a round, on the same
seeds: no recorder, no traces, no order, no checks. Both build their environments within the time.
Four things take turns in every round, so that all meet the same machine: the bare loop, a campaign
in this process, two bare loops in two processes, a campaign with two workers. Wall clock; the
median over rounds of each round's ratio counts. "2 loops" is what the machine itself allows two
processes, "of these" what the campaign with two workers has of it. "cpu 1" and "cpu 2" are the bare
loop's processor time over the campaign's, all its processes together: what the ratios come to on a
machine that nobody else uses, "cpu 2" doubled. Worker processes are started before
(`start_seconds`), as between campaigns.

The bars stand on the scenarios with a simulator. Where a step costs a few microseconds, reading
and keeping the signals in Python is a sizeable part of it, and the ratio says how sizeable.

"bytes_a_step" and "kept_bytes_a_step" are the weight of a trace in memory and in the store,
"unpack_seconds_an_episode" what the main process needs to take one from a worker.

    python benchmarks/campaign.py [--quick] [--json] [--scenario NAME ...]
"""

import argparse
import json
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

import numpy as np

from safegym.policy.base import WIDTH, Policy
from safegym.scenario.campaign import Campaign
from safegym.scenario.process import end_idle_workers
from safegym.scenario.registry import find, names
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Trace
from safegym.trace.store.write import ShardWriter
from safegym.trace.transport import pack, unpack

BARRED = ("drone/corridor-v0", "drone/corridor-direct-v0", "arm/human-stop-v0")
BARS = {"one_worker": 0.9, "two_workers": 1.8}
QUICK = ("drone/corridor-v0", "classic/pendulum-v0", "classic/cartpole-v0")


def bare(spec: ScenarioSpec, policy: Policy, seeds: range, copies: int) -> int:
    """Runs the episodes and keeps nothing; returns the steps."""
    envs = [spec.make_env() for _ in range(copies)]
    shape = envs[0].observation_space.shape or ()
    observations = np.zeros((WIDTH, *shape), envs[0].observation_space.dtype)
    starts, state = np.zeros(WIDTH, np.bool_), None
    waiting, steps, ages = iter(seeds), 0, [0] * copies
    running: dict[int, Any] = {}
    for slot, seed in zip(range(copies), waiting, strict=False):
        observations[slot] = envs[slot].reset(seed=seed)[0]
        running[slot] = envs[slot]
    while running:
        actions, state = policy.act(observations, state, starts)
        for slot, env in list(running.items()):
            observation, _, terminated, truncated, _ = env.step(actions[slot])
            ages[slot] += 1
            if terminated or truncated or ages[slot] >= spec.horizon:
                steps += ages[slot]
                ages[slot] = 0
                seed = next(waiting, None)
                if seed is None:
                    del running[slot]
                    continue
                observation = env.reset(seed=seed)[0]
            observations[slot] = observation
    for env in envs:
        env.close()
    return steps


def campaign(spec: ScenarioSpec, policy: Policy, seeds: range, copies: int, workers: int) -> int:
    """The same episodes by a campaign; returns the steps."""
    with Campaign(
        spec,
        policy,
        seed_of=lambda index: index,
        tail=0,
        copies=copies,
        workers=workers,
        first_index=seeds.start,
        episodes=len(seeds),
    ) as running:
        return sum(trace.steps for _, trace in running)


def loop_elsewhere(line: Any) -> None:
    """Another process that runs bare loops when it is told to."""
    while True:
        order = line.recv()
        if order is None:
            return
        name, seeds, copies = order
        spec = find(name)
        assert spec.good is not None
        line.send(bare(spec, spec.good(), seeds, copies))


@dataclass
class Elsewhere:
    """Two processes for bare loops."""

    lines: list[Any] = field(default_factory=list)
    processes: list[Any] = field(default_factory=list)

    def __enter__(self) -> "Elsewhere":
        context = get_context("spawn")
        for _ in range(2):
            ours, theirs = context.Pipe()
            process = context.Process(target=loop_elsewhere, args=(theirs,), daemon=True)
            process.start()
            self.lines.append(ours)
            self.processes.append(process)
        return self

    def __exit__(self, *_: object) -> None:
        for line, process in zip(self.lines, self.processes, strict=True):
            line.send(None)
            process.join()

    def bare(self, name: str, seeds: range, copies: int) -> int:
        """The episodes, half in each process."""
        middle = (seeds.start + seeds.stop) // 2
        for line, half in zip(
            self.lines, (range(seeds.start, middle), range(middle, seeds.stop)), strict=True
        ):
            line.send((name, half, copies))
        return sum(line.recv() for line in self.lines)


def median(values: Iterable[float]) -> float:
    """As a number that JSON takes."""
    return float(np.median(list(values)))


def worked() -> float:
    """CPU seconds of this process and of those it started."""
    spent = time.process_time()
    for process in active_children():
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        spent += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return spent


def timed(run: Any, *arguments: Any) -> tuple[float, float, int]:
    """Seconds on the wall, CPU seconds of all processes, and steps."""
    begun, before = time.perf_counter(), worked()
    steps = run(*arguments)
    return time.perf_counter() - begun, worked() - before, steps


def size(spec: ScenarioSpec, policy: Policy, seconds: float) -> tuple[int, int]:
    """How many episodes take about `seconds`, and how many copies share them: 4 rounds of each."""
    spent, *_ = timed(bare, spec, policy, range(8), 8)
    episodes = max(16, round(8 * seconds / spent))
    copies = min(WIDTH, 2 ** max(2, (episodes // 4).bit_length() - 1))
    return max(1, round(episodes / (2 * copies))) * 2 * copies, copies


def measure(name: str, elsewhere: Elsewhere, seconds: float, rounds: int) -> dict[str, float]:
    """Medians for one scenario."""
    spec = find(name)
    assert spec.good is not None
    policy = spec.good()
    episodes, copies = size(spec, policy, seconds)
    seeds = range(episodes)
    begun = time.perf_counter()
    campaign(spec, policy, range(2), copies, 2)
    start = time.perf_counter() - begun
    elsewhere.bare(name, range(2), copies)
    found, spent = list[tuple[float, ...]](), list[tuple[float, ...]]()
    for _ in range(rounds):
        turns = (
            timed(bare, spec, policy, seeds, copies),
            timed(campaign, spec, policy, seeds, copies, 1),
            timed(elsewhere.bare, name, seeds, copies),
            timed(campaign, spec, policy, seeds, copies, 2),
        )
        assert len({turn[2] for turn in turns}) == 1, f"{name}: not the same episodes"
        steps = turns[0][2]
        found.append(tuple(turn[0] for turn in turns))
        spent.append(tuple(turn[1] for turn in turns))
    loop, one, loops, two = (median(column) for column in zip(*found, strict=True))
    return {
        "bare": episodes / loop,
        "one": episodes / one,
        "loops": episodes / loops,
        "two": episodes / two,
        "one_worker": median(row[0] / row[1] for row in found),
        "two_workers": median(row[0] / row[3] for row in found),
        "two_loops": median(row[0] / row[2] for row in found),
        "of_two_loops": median(row[2] / row[3] for row in found),
        "work_of_one": median(row[0] / row[1] for row in spent),
        "work_of_two": median(row[0] / row[3] for row in spent),
        "cpu_seconds_an_episode": median(row[3] for row in spent) / episodes,
        "steps_an_episode": steps / episodes,
        "start_seconds": start,
        **weight(spec, policy),
    }


def weight(spec: ScenarioSpec, policy: Policy, episodes: int = 8) -> dict[str, float]:
    """Bytes of a trace, as arrays and in the store, for each step."""
    kept: list[Trace] = []
    with Campaign(spec, policy, seed_of=lambda index: index, tail=0, episodes=episodes) as running:
        kept = [trace for _, trace in running]
    steps = sum(trace.steps for trace in kept)
    arrays = sum(
        values.nbytes
        for trace in kept
        for values in (*trace.signals.values(), trace.actions, trace.rewards)
    )
    with tempfile.TemporaryDirectory() as folder:
        with ShardWriter(Path(folder) / "kept.arrow") as writer:
            writer.extend(kept)
        stored = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    crossing = [pickle.dumps(pack(trace)) for trace in kept]
    taken = min(unpacking(crossing) for _ in range(20))
    return {
        "bytes_a_step": arrays / steps,
        "kept_bytes_a_step": stored / steps,
        "unpack_seconds_an_episode": taken / episodes,
    }


def unpacking(crossing: list[bytes]) -> float:
    """CPU seconds in which the main process takes these traces from a worker's bytes."""
    begun = time.process_time()
    for content in crossing:
        unpack(pickle.loads(content))
    return time.process_time() - begun


def main() -> int:
    """Print the figures; 0 if every bar holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="end in 45 s")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--scenario", action="append", help="scenario to run, repeatable")
    options = parser.parse_args()
    shown = options.scenario or (QUICK if options.quick else names())
    seconds, rounds = (0.35, 3) if options.quick else (4.0, 5)
    table: dict[str, dict[str, float]] = {}
    with Elsewhere() as elsewhere:
        for name in shown:
            if find(name).good is not None:
                table[name] = measure(name, elsewhere, seconds, rounds)
    end_idle_workers()
    result = report(table)
    print(json.dumps(result) if options.json else text(table, result))
    return 0 if result["ok"] else 1


def report(table: dict[str, dict[str, float]]) -> dict[str, Any]:
    """The house form: figures, rivals, ratios, bars, ok."""
    figures = {
        f"{name} {what}": row[what]
        for name, row in table.items()
        for what in (
            "one",
            "two",
            "cpu_seconds_an_episode",
            "steps_an_episode",
            "start_seconds",
            "bytes_a_step",
            "kept_bytes_a_step",
            "unpack_seconds_an_episode",
        )
    }
    figures["load"] = os.getloadavg()[0]
    rivals = {
        f"{name} {what}": row[what] for name, row in table.items() for what in ("bare", "loops")
    }
    ratios = {
        f"{name} {what}": row[what]
        for name, row in table.items()
        for what in (
            "one_worker",
            "two_workers",
            "two_loops",
            "of_two_loops",
            "work_of_one",
            "work_of_two",
        )
    }
    bars = {f"{name} {what}": bar for name in BARRED if name in table for what, bar in BARS.items()}
    ok = all(ratios[name] >= bar for name, bar in bars.items())
    return {"figures": figures, "rivals": rivals, "ratios": ratios, "bars": bars, "ok": ok}


def text(table: dict[str, dict[str, float]], result: dict[str, Any]) -> str:
    """The table for a reader."""
    lines = [
        f"Episodes per second on the wall; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}.",
        f"{'scenario':26}{'bare':>9}{'1 worker':>10}{'2 workers':>10}{'ratio 1':>9}{'ratio 2':>9}"
        f"{'2 loops':>9}{'of these':>9}{'cpu 1':>7}{'cpu 2':>7}",
    ]
    for name, row in table.items():
        bar = "  bars 0.9, 1.8" if name in BARRED else ""
        lines.append(
            f"{name:26}{row['bare']:9.1f}{row['one']:10.1f}{row['two']:10.1f}"
            f"{row['one_worker']:9.2f}{row['two_workers']:9.2f}{row['two_loops']:9.2f}"
            f"{row['of_two_loops']:9.2f}{row['work_of_one']:7.2f}{row['work_of_two']:7.2f}{bar}"
        )
    lines.append(f"{'':26}{'steps':>9}{'bytes':>10}{'stored':>10}   an episode, a step, a step")
    for name, row in table.items():
        lines.append(
            f"{name:26}{row['steps_an_episode']:9.0f}{row['bytes_a_step']:10.1f}"
            f"{row['kept_bytes_a_step']:10.1f}   workers up in {row['start_seconds']:.1f} s"
        )
    return "\n".join([*lines, "ok" if result["ok"] else "a bar is missed"])


if __name__ == "__main__":
    sys.exit(main())
