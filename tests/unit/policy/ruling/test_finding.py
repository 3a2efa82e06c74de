"""find's expressions held against find itself, and recursive searches against grep."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barry_cli.policy.ruling.file_use import Only
from barry_cli.policy.ruling.finding import Expression, find
from barry_cli.policy.ruling.searches import search
from barry_cli.policy.ruling.shell.nodes import Word

TREE = ("a.py", "b.md", ".env", "src/a.py", "src/k.pem", "src/.env", "src/deep/b.md", ".git/config")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("tree")
    for name in TREE:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("x\n")
    return top


def words(texts: list[str]) -> list[Word]:
    return [Word(text, 0, 0, True) for text in texts]


def reached(only: Only, top: Path) -> set[str]:
    """The entries below a folder that are gone through and reached."""
    found: set[str] = set()
    waiting: list[tuple[str, ...]] = [()]
    for path in waiting:
        for entry in os.scandir(top.joinpath(*path)):
            here = (*path, entry.name)
            if only.reaches(here, entry.is_dir()):
                found.add("/".join(here))
            if entry.is_dir() and only.enters(here):
                waiting.append(here)
    return found


NAME = st.sampled_from(["*.py", "*.md", ".env", "*", ".*", "src", "k.*", "[ab].*", "deep", "K.PEM"])
PATH = st.sampled_from(["./src/*", "./src", "*/.env", "./.git/*", "*deep*", "./.git"])
TEST = st.one_of(
    st.tuples(st.sampled_from(["-name", "-iname"]), NAME).map(list),
    st.tuples(st.just("-path"), PATH).map(list),
    st.sampled_from([["-type", "f"], ["-type", "d"], ["-true"], ["-false"], ["-prune"]]),
)


def joined(parts: tuple[list[str], str, list[str]]) -> list[str]:
    left, sign, right = parts
    return ["(", *left, sign, *right, ")"]


EXPRESSIONS = st.recursive(
    TEST,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["-o", "-a", ","]), inner).map(joined),
        inner.map(lambda each: ["!", "(", *each, ")"]),
        st.tuples(inner, inner).map(lambda pair: ["(", *pair[0], *pair[1], ")"]),
    ),
    max_leaves=5,
)


@settings(max_examples=120, deadline=None)
@given(st.sampled_from([[], ["-maxdepth", "1"], ["-mindepth", "2"]]), EXPRESSIONS, st.booleans())
def test_what_find_prints_is_reached(
    tree: Path, depth: list[str], expression: list[str], prints: bool
) -> None:
    given_words = [*depth, *expression, *(["-print"] if prints else [])]
    shown = subprocess.run(
        ["find", ".", *given_words], cwd=tree, capture_output=True, text=True, check=False
    )
    printed = {line[2:] for line in shown.stdout.splitlines() if line != "."}
    found = reached(Expression(words(given_words), ["."]), tree)
    assert printed <= found
    # Behind a comma find may look at the second one first; and "." itself may be pruned.
    if "," not in expression and "-prune" not in expression:
        assert found == printed


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["-newer", "x", "-name", "*.py"], {"a.py", "src/a.py"}),
        (["-size", "+1k", "-o", "-name", "*.py"], set(TREE) | {"src", "src/deep", ".git"}),
        (["!", "-empty", "-name", ".env"], {".env", "src/.env"}),
        (["-name", "*.md", "-exec", "rm", "{}", ";"], {"b.md", "src/deep/b.md"}),
        (["-name", "*.md", "-exec", "rm", "{}", "+", "-o", "-delete"], None),
    ],
)
def test_what_can_t_be_known_may_hold(
    texts: list[str], expected: set[str] | None, tree: Path
) -> None:
    found = reached(Expression(words(texts), ["."]), tree)
    assert found == (expected if expected is not None else set(TREE) | {"src", "src/deep", ".git"})


def test_find_removes_only_where_it_says_so() -> None:
    assert {use.kind for use in find("find", words([".", "-name", "x"]))} == {"list"}
    assert {use.kind for use in find("find", words(["-name", "x", "-delete"]))} == {
        "change",
        "list",
    }
    # A name that isn't an action is only a word.
    assert {use.kind for use in find("find", words([".", "-name", "-delete"]))} == {"list"}


GLOB = st.sampled_from(["*.py", "*.md", ".env", "*", "k.*", "src", ".*"])
OPTIONS = st.lists(
    st.tuples(st.sampled_from(["--include=", "--exclude=", "--exclude-dir="]), GLOB).map("".join),
    max_size=3,
)


@settings(max_examples=80, deadline=None)
@given(OPTIONS, st.sampled_from([".", "src"]))
def test_what_grep_opens_is_reached(tree: Path, options: list[str], top: str) -> None:
    given_words = ["-r", "-l", *options, "x", top]
    shown = subprocess.run(
        ["grep", *given_words], cwd=tree, capture_output=True, text=True, check=False
    )
    opened = {line.removeprefix(f"{top}/") for line in shown.stdout.splitlines()}
    uses = search("grep", words(given_words))
    assert [use.word.text for use in uses if use.word] == [top]
    only = uses[0].only
    assert only is not None
    assert opened <= reached(only, tree / top)
