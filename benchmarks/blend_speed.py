"""What blends cost: rows a second, and that memory stays the same from 100,000 rows to a million.

Each command runs in a process of its own, on the smaller and on the larger file, and tells its peak
resident memory; their ratio must stay near 1. The rival reads all rows into a list and shuffles or
sorts that, as a script would; its memory grows with the rows.

Run: python benchmarks/blend_speed.py [--quick] [--json]
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

GROWTH = 1.1
"""Most that the peak of the larger file may be above that of the smaller."""
WORK = ("mix", "shuffle", "passrate", "sort", "sample", "cut", "split", "check", "fill")
RIVALS = ("rival_mix", "rival_sort")
TEXT = "Keep the drone within its corridor. " * 12


def main() -> int:
    """Prints the figures; returns 0 if the bars are kept, 1 if not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="30,000 and 60,000 rows, end in 45 s")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--work", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        print(json.dumps(measured(options.work[0], Path(options.work[1]))))
        return 0
    sizes = (30_000, 60_000) if options.quick else (100_000, 1_000_000)
    names = ("mix", "sort", "check", "rival_sort") if options.quick else (*WORK, *RIVALS)
    found = compare(sizes, names)
    if options.json:
        print(json.dumps(found))
    else:
        show(found, sizes)
    return 0 if found["ok"] else 1


def compare(sizes: tuple[int, int], names: tuple[str, ...]) -> dict[str, Any]:
    """Figures of each command at both sizes, growth of memory, and whether the bars are kept."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            place = Path(folder, str(size))
            place.mkdir()
            make(place, size)
            for name in names:
                figures.setdefault(name, {})[str(size)] = child(name, place, size)
    small, large = map(str, sizes)
    growth = {n: f[large]["peak_mib"] / f[small]["peak_mib"] for n, f in figures.items()}
    ratios = {n: round(ratio, 3) for n, ratio in growth.items() if n not in RIVALS}
    rivals = {n: {**figures.pop(n), "growth": round(growth[n], 3)} for n in RIVALS if n in growth}
    return {
        "figures": figures,
        "rivals": rivals,
        "ratios": ratios,
        "bars": {"growth": GROWTH},
        "ok": all(ratio <= GROWTH for ratio in ratios.values()),
    }


def child(name: str, place: Path, size: int) -> dict[str, float]:
    """One command in a process of its own."""
    words = [sys.executable, __file__, "--work", name, str(place)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return {**found, "rows_a_second": round(size / found["seconds"])}


def make(place: Path, size: int) -> None:
    """Rows with pass rates of 16 rollouts, in two parts; rollouts; and placeholders."""
    chance = random.Random(7)
    with (
        open(place / "a.jsonl", "w") as a,
        open(place / "b.jsonl", "w") as b,
        open(place / "all.jsonl", "w") as every,
        open(place / "rollouts.jsonl", "w") as rollouts,
        open(place / "holes.jsonl", "w") as holes,
    ):
        for number in range(size):
            name = "drone" if number % 2 else "cart"
            row = json.dumps(
                {
                    "task_id": f"{name}#{number}",
                    "dataset": name,
                    "responses_create_params": {"input": [{"role": "user", "content": TEXT}]},
                    "agent_ref": {"type": "responses_api_agents", "name": f"safegym_{name}"},
                    "pass_rate": chance.randrange(17) / 16,
                }
            )
            print(row, file=b if number % 2 else a)
            print(row, file=every)
            record = {"_ng_task_index": number, "_ng_rollout_index": 0, "reward": number % 3}
            print(json.dumps(record), file=rollouts)
            print(hole(number), file=holes)
    source = [{"prompt": [{"content": TEXT}], "reward_model": {"ground_truth": "1"}}] * 1000
    (place / "source.jsonl").write_text("".join(json.dumps(each) + "\n" for each in source))


def hole(number: int) -> str:
    """A placeholder."""
    holder = {"row": number % 1000, "question_template": {"prefix": "Solve: "}}
    return json.dumps(
        {"dataset": "q", "_hf_placeholder": holder, "agent_ref": {"name": "math"}, "id": number}
    )


def measured(name: str, place: Path) -> dict[str, float]:
    """Seconds and peak resident memory of one command."""
    work = works(place)[name]
    begin = time.perf_counter()
    work()
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": round(seconds, 2), "peak_mib": round(peak, 1)}


def works(place: Path) -> dict[str, Callable[[], Any]]:
    """What is measured, by name; each imports what it needs, as the command line does."""
    every, out = place / "all.jsonl", place / "out.jsonl"

    def mix(order: Any) -> None:
        from safegym.nemo.blend.mix import mix
        from safegym.nemo.blend.recipe import Recipe

        parts = {"a": place / "a.jsonl", "b": place / "b.jsonl"}
        target = place / f"{order}.jsonl"
        mix(Recipe.of({"a": "0.55", "b": "0.45"}), parts, target, order=order)

    def passrate() -> None:
        from safegym.nemo.blend.passrate import pass_rates

        pass_rates([place / "rollouts.jsonl"], place / "rated.jsonl", rows=every)

    def sort() -> None:
        from safegym.nemo.blend.curriculum import sort_by_pass_rate

        sort_by_pass_rate(every, place / "sorted.jsonl")

    def cut() -> None:
        from safegym.nemo.blend.curriculum import cut_tails

        cut_tails(every, place / "cut.jsonl", low=0.05, high=0.95)

    def sample() -> None:
        from safegym.nemo.blend.gaussian import Schedule, sample_gaussian

        sample_gaussian(every, place / "sampled.jsonl", Schedule(40, 1000))

    def split() -> None:
        from safegym.nemo.blend.split import split

        split(every, place / "train.jsonl", place / "validation.jsonl", share=0.02)

    def check() -> None:
        from safegym.nemo.blend.check import check_blend

        check_blend(every)

    def fill() -> None:
        from safegym.digest import digest_bytes
        from safegym.nemo.blend.origins import Pinned
        from safegym.nemo.blend.placeholders import fill

        source = place / "source.jsonl"
        pinned = Pinned(source, digest_bytes(source.read_bytes()))
        fill(place / "holes.jsonl", place / "filled.jsonl", {"q": [pinned]})

    def rival(order: Callable[[list[Any]], None]) -> None:
        with open(every) as lines:
            rows = [json.loads(line) for line in lines]
        order(rows)
        with open(out, "w") as target:
            target.writelines(json.dumps(row) + "\n" for row in rows)

    return {
        "mix": lambda: mix("interleaved"),
        "shuffle": lambda: mix("shuffled"),
        "passrate": passrate,
        "sort": sort,
        "sample": sample,
        "cut": cut,
        "split": split,
        "check": check,
        "fill": fill,
        "rival_mix": lambda: rival(random.Random(0).shuffle),
        "rival_sort": lambda: rival(lambda rows: rows.sort(key=lambda row: -row["pass_rate"])),
    }


def show(found: dict[str, Any], sizes: tuple[int, int]) -> None:
    """A line a command."""
    for name, figure in {**found["figures"], **found["rivals"]}.items():
        small, large = (figure[str(size)] for size in sizes)
        growth = found["ratios"].get(name, figure.get("growth"))
        print(
            f"{name:12} {large['rows_a_second']:9,} rows/s, peak {small['peak_mib']:7.1f} MiB at "
            f"{sizes[0]:,} rows, {large['peak_mib']:7.1f} at {sizes[1]:,}: x{growth}"
        )
    print(f"bars {found['bars']}, ok: {found['ok']}")


if __name__ == "__main__":
    raise SystemExit(main())
