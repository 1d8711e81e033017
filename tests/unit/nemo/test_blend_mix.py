"""Mixing: exact counts, the same bytes for the same seed, and what is refused."""

import os
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from blend_rows import ids, read, row, write

from safegym.errors import BlendError
from safegym.nemo.blend.mix import mix
from safegym.nemo.blend.recipe import Recipe

RECIPE = Recipe.of({"a": "0.5", "b": "0.3", "c": "0.2"})


@pytest.fixture
def parts(tmp_path: Path) -> dict[str, Path]:
    return {
        name: write(tmp_path / f"{name}.jsonl", (row(first + i, name) for i in range(100)))
        for name, first in (("a", 0), ("b", 1000), ("c", 2000))
    }


def counted(path: Path) -> dict[str, int]:
    return dict(Counter(each["agent_ref"]["name"] for each in read(path)))


def test_each_part_has_exactly_its_share(tmp_path: Path, parts: dict[str, Path]) -> None:
    report = mix(RECIPE, parts, tmp_path / "out.jsonl", rows=101)
    assert counted(tmp_path / "out.jsonl") == {"a": 51, "b": 30, "c": 20}
    assert [each.rows for each in report.parts] == [51, 30, 20]


def test_without_a_number_it_takes_as_many_rows_as_the_parts_allow(
    tmp_path: Path, parts: dict[str, Path]
) -> None:
    assert mix(RECIPE, parts, tmp_path / "out.jsonl").rows == 200
    with pytest.raises(BlendError, match=r"part a has 100 rows, .* is 101\. At most --rows 200"):
        mix(RECIPE, parts, tmp_path / "more.jsonl", rows=202)
    assert not (tmp_path / "more.jsonl").exists()


def test_rows_are_the_bytes_that_they_were(tmp_path: Path, parts: dict[str, Path]) -> None:
    mix(RECIPE, parts, tmp_path / "out.jsonl", rows=50)
    before = {line for path in parts.values() for line in path.read_bytes().splitlines()}
    lines = (tmp_path / "out.jsonl").read_bytes().splitlines()
    assert len(set(lines)) == 50
    assert set(lines) <= before


@pytest.mark.parametrize("order", ["interleaved", "concatenated", "shuffled"])
def test_the_same_seed_gives_the_same_bytes_and_another_gives_others(
    tmp_path: Path, parts: dict[str, Path], order: Any
) -> None:
    outs = []
    for name, seed in (("1", 5), ("2", 5), ("3", 6)):
        report = mix(RECIPE, parts, tmp_path / f"{name}.jsonl", rows=60, order=order, seed=seed)
        outs.append(((tmp_path / f"{name}.jsonl").read_bytes(), report.digest))
    assert outs[0] == outs[1] != outs[2]


def test_interleaved_every_stretch_has_the_shares(tmp_path: Path, parts: dict[str, Path]) -> None:
    mix(RECIPE, parts, tmp_path / "out.jsonl", rows=200)
    names = [each["agent_ref"]["name"] for each in read(tmp_path / "out.jsonl")]
    for end in range(1, 201):
        for part in RECIPE.parts:
            assert abs(names[:end].count(part.name) - end * part.ratio) <= 1.5


def test_concatenated_and_sampled_rows_keep_the_order_of_their_part(
    tmp_path: Path, parts: dict[str, Path]
) -> None:
    mix(RECIPE, parts, tmp_path / "out.jsonl", rows=90, order="concatenated")
    found = ids(tmp_path / "out.jsonl")
    assert found == sorted(found)
    assert found[:45] != list(range(45))
    mix(RECIPE, parts, tmp_path / "first.jsonl", rows=90, order="concatenated", take="first")
    assert ids(tmp_path / "first.jsonl") == [*range(45), *range(1000, 1027), *range(2000, 2018)]


def test_rows_come_again_only_when_asked_and_that_is_counted(
    tmp_path: Path, parts: dict[str, Path]
) -> None:
    report = mix(RECIPE, parts, tmp_path / "out.jsonl", rows=500, repeat=True)
    assert [each.repeated for each in report.parts] == [150, 50, 0]
    times = Counter(ids(tmp_path / "out.jsonl"))
    assert sorted(Counter(times[i] for i in range(100)).items()) == [(2, 50), (3, 50)]


def test_a_report_holds_all_that_makes_the_same_bytes_again(
    tmp_path: Path, parts: dict[str, Path]
) -> None:
    told = mix(RECIPE, parts, tmp_path / "out.jsonl", rows=10, seed=3).to_json()
    assert (told["seed"], told["order"], told["take"]) == (3, "interleaved", "sample")
    assert [part["rows"] for part in told["parts"]] == [5, 3, 2]
    assert all(part["file_digest"].startswith("sha256:") for part in told["parts"])
    assert told["recipe"]["parts"][0] == {"name": "a", "ratio": "0.5"}


def test_a_blend_can_be_written_in_another_form(tmp_path: Path, parts: dict[str, Path]) -> None:
    mix(RECIPE, parts, tmp_path / "out.jsonl", rows=10, form="task_source")
    assert {each["task_source"] for each in read(tmp_path / "out.jsonl")} == {"a", "b", "c"}


def test_an_output_that_exists_or_is_an_input_is_refused(
    tmp_path: Path, parts: dict[str, Path]
) -> None:
    (tmp_path / "there.jsonl").write_text("kept")
    with pytest.raises(BlendError, match="exists and is not overwritten"):
        mix(RECIPE, parts, tmp_path / "there.jsonl")
    assert (tmp_path / "there.jsonl").read_text() == "kept"
    before = parts["a"].read_bytes()
    os.symlink(parts["a"], tmp_path / "link.jsonl")
    for same in (parts["a"], tmp_path / "link.jsonl", tmp_path / "." / "a.jsonl"):
        with pytest.raises(BlendError, match="is also an input"):
            mix(RECIPE, parts, same)
    assert parts["a"].read_bytes() == before


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (b'{"a": 1\n', r"b\.jsonl line 3: broken JSON"),
        (b'{"a": "\xff"}\n', r"b\.jsonl line 3: byte 8 is not UTF-8"),
        (b'{"id": 3}\n', r"b\.jsonl: 1 rows lack required keys \(line 3: agent_ref, responses"),
    ],
)
def test_a_broken_row_is_told_with_its_line_and_nothing_is_written(
    tmp_path: Path, parts: dict[str, Path], broken: bytes, said: str
) -> None:
    lines = parts["b"].read_bytes().splitlines(keepends=True)
    parts["b"].write_bytes(b"".join([*lines[:2], broken, *lines[2:]]))
    with pytest.raises(BlendError, match=said):
        mix(RECIPE, parts, tmp_path / "out.jsonl", rows=3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "b.jsonl", "c.jsonl"]


def test_a_part_that_changes_between_the_readings_is_told(
    tmp_path: Path, parts: dict[str, Path]
) -> None:
    seen: list[str] = []

    def grow(stage: str, rows: int) -> None:
        seen.append(stage)

    many = write(tmp_path / "many.jsonl", (row(i) for i in range(3000)))
    one = Recipe.of({"x": 1})

    def cut(stage: str, rows: int) -> None:
        grow(stage, rows)
        if stage.startswith("checking") and len(seen) == 1:
            with many.open("a") as stream:
                stream.write("")
            write(tmp_path / "short.jsonl", (row(i) for i in range(2500))).replace(many)

    with pytest.raises(BlendError, match="changed while it was read"):
        mix(one, {"x": many}, tmp_path / "out.jsonl", tell=cut)


def test_files_and_parts_must_match(tmp_path: Path, parts: dict[str, Path]) -> None:
    with pytest.raises(BlendError, match=r'No file for part c .*add --part "c=FILE"'):
        mix(RECIPE, {"a": parts["a"], "b": parts["b"]}, tmp_path / "out.jsonl")
    with pytest.raises(BlendError, match="has no part 'd'; its parts are a, b, c"):
        mix(RECIPE, {**parts, "d": parts["a"]}, tmp_path / "out.jsonl")
    with pytest.raises(BlendError, match="found nothing"):
        mix(RECIPE, {**parts, "a": tmp_path / "no.jsonl"}, tmp_path / "out.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n\n")
    with pytest.raises(BlendError, match="has no rows"):
        mix(RECIPE, {**parts, "a": tmp_path / "empty.jsonl"}, tmp_path / "out.jsonl")
    with pytest.raises(BlendError, match=r"rows are kept in files named \.jsonl"):
        mix(RECIPE, parts, tmp_path / "out.csv")


def test_the_published_recipes_hold_the_published_ratios() -> None:
    nano, lightning = Recipe.load("nano"), Recipe.load("lightning")
    assert (nano.total, len(nano.parts)) == (Fraction(99, 100), 7)
    assert {part.name: part.ratio for part in nano.parts}["competitive_coding"] == Fraction(1, 4)
    assert (lightning.total, len(lightning.parts)) == (100, 16)
    assert lightning.parts[0].ratio == Fraction(1751, 100)
    assert sum(nano.shares) == sum(lightning.shares) == 1


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("r.toml", 'parts = [{name = "a", ratio = 0.3}, {name = "b", ratio = 0.6}]', "sum to 0.9"),
        ("r.toml", 'parts = [{name = "a", ratio = 0}]', "ratios are above 0"),
        ("r.toml", 'parts = [{name = "a", ratio = "x"}]', "write a number such as 0.25"),
        ("r.toml", 'parts = [{name = "a", ratio = true}]', "write a number such as 0.25"),
        ("r.toml", 'parts = [{name = "a"}]', "each part has name and ratio"),
        ("r.toml", "parts = [", "no readable recipe"),
        ("r.json", '{"parts": 3}', "a recipe has parts"),
        ("r.json", '{"parts": [], "path": "x"}', "found 'path'"),
        ("r.json", '{"parts": []}', "1..10000 parts, found 0"),
        (
            "r.json",
            '{"parts": [{"name": "a", "ratio": 0.5}, {"name": "a", "ratio": 0.5}]}',
            "found 'a' twice",
        ),
    ],
)
def test_a_recipe_that_does_not_add_up_is_refused(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BlendError, match=said):
        Recipe.load(path)


def test_decimals_of_a_recipe_are_exact(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text(
        'sum = 0.6\nparts = [{name = "a", ratio = 0.1}, {name = "b", ratio = 0.2}, '
        '{name = "c", ratio = "3/10"}]'
    )
    assert Recipe.load(path).shares == (Fraction(1, 6), Fraction(1, 3), Fraction(1, 2))
    with pytest.raises(BlendError, match="one of nano, lightning"):
        Recipe.load("super")
