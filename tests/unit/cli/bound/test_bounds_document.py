"""What docs/bounds.md shows is what happens: every example is run."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from barry_cli.base.paths import folders
from barry_cli.policy.compile import compile_policy, floor_patterns
from barry_cli.policy.lookup import in_place
from barry_cli.policy.named import SHIPPED
from barry_cli.policy.ruling.rule import rule_command
from barry_cli.policy.schema import Bound, parse_bound
from tests.unit.documents import BOUNDS, Bash, plain, write_block


def test_the_console_shows_what_happens(tmp_path: Path) -> None:
    shell = Bash(tmp_path)
    try:
        for block in BOUNDS.blocks():
            if block.file is not None:
                write_block(tmp_path, block)
            elif block.language == "console":
                shell.follow(block.text)
    finally:
        shell.close()


def examples() -> Iterator[tuple[str, str, str]]:
    """Each bound of the page with a call that stands in the table below it, and the ruling."""
    for found in re.finditer(r"```toml\n((?:[^`].*\n|\n)+)```\n\n((?:\|.*\n)+)", BOUNDS.text):
        head, _, *rows = found[2].splitlines()
        if head.startswith("| call"):
            for row in rows:
                shown = re.fullmatch(r"\| `(.*)` \| (\w+) \|", row)
                assert shown, row
                yield found[1], shown[1].replace("\\|", "|"), shown[2]


EXAMPLES = list(examples())


@pytest.mark.parametrize(("bound", "call", "ruling"), EXAMPLES, ids=[each[1] for each in EXAMPLES])
def test_a_ruling_is_as_it_is_shown(tmp_path: Path, bound: str, call: str, ruling: str) -> None:
    held = in_place(parse_bound(tomllib.loads(bound)), str(tmp_path))
    policy = compile_policy(held, root=str(tmp_path), floor=floor_patterns(folders()))
    for name in ("docs/old", "deploy/keys", "a/b", "src/a"):
        (tmp_path / name).mkdir(parents=True)
    assert rule_command(policy, call, str(tmp_path)).outcome == ruling


def test_there_are_enough_of_them() -> None:
    assert len(EXAMPLES) >= 50
    assert {ruling for _, _, ruling in EXAMPLES} == {"allowed", "denied", "undecidable"}


def test_every_bound_on_the_page_is_one() -> None:
    shown = [block.text for block in BOUNDS.blocks() if block.language == "toml"]
    for text in shown:
        parse_bound(tomllib.loads(text))
    assert len(shown) >= 9


def leaves(model: type[Bound], under: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        key = field.alias or name
        inner = re.search(r"(\w+Bound)", str(field.annotation))
        if inner and inner[1] != "Bound":
            from barry_cli.policy import schema

            yield from leaves(getattr(schema, inner[1]), f"{key}.")
        else:
            yield f"{under}{key}"


def test_every_field_is_on_the_page() -> None:
    said = {
        name
        for row in BOUNDS.tables()["The fields"]
        for name in re.findall(r"`([^`]+)`", row["key"])
    }
    assert said == set(leaves(Bound))


def test_every_shipped_bound_is_on_the_page() -> None:
    said = {plain(row["name"]) for row in BOUNDS.tables()["Named bounds"]}
    assert said == {path.stem for path in Path(SHIPPED).glob("*.toml")}


def test_every_verb_is_on_the_page() -> None:
    from barry_cli.cli import bound

    said = {plain(row["verb"]).split()[-1] for row in BOUNDS.tables()["The verbs"]}
    assert said == {
        command.name or getattr(command.callback, "__name__", "")
        for command in bound.app.registered_commands
    }
