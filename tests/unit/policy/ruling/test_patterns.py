"""File patterns, paths with links, and what a word that is known in part may become."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.policy.ruling.matching import (
    Matcher,
    every_match,
    first_match,
    inner,
    likely,
    may_become,
)
from barry_cli.policy.ruling.operands import HOLE
from barry_cli.policy.ruling.paths import LINKS, lexical, real, spots
from barry_cli.policy.ruling.patterns import (
    Pattern,
    anchored,
    compile_allow,
    compile_deny,
    could_match,
    literal_start,
    matches,
    needle,
)
from tests.unit.policy.ruling.rows import names, rows

ROOT, HOME = "/work/proj", "/home/dev"

DENY = rows("files", kind="deny")
ALLOW = rows("files", kind="allow")


def denies(*patterns: str, root: str = ROOT, home: str = HOME) -> tuple[Pattern, ...]:
    return tuple(each for text in patterns for each in compile_deny(text, root, home))


def allows(*patterns: str, root: str = ROOT, home: str = HOME) -> tuple[Pattern, ...]:
    return tuple(each for text in patterns for each in compile_allow(text, root, home))


@pytest.mark.parametrize("row", DENY, ids=names(DENY))
def test_what_is_denied(row: dict[str, Any]) -> None:
    places = spots(row["path"], ROOT, HOME) if row["path"] else ()
    assert first_match(denies(*row["rule"]), places) == row["matched"], row["why"]


@pytest.mark.parametrize("row", ALLOW, ids=names(ALLOW))
def test_what_is_allowed(row: dict[str, Any]) -> None:
    places = spots(row["path"], ROOT, HOME) if row["path"] else ()
    assert every_match(allows(*row["rule"]), places) == row["matched"], row["why"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    top = tmp_path.resolve() / "proj"
    (top / "secrets").mkdir(parents=True)
    (top / "src").mkdir()
    (top / "secrets" / "key").write_text("x")
    (top / "link").symlink_to("secrets")
    (top / "src" / "out").symlink_to("/etc")
    (top / "dangling").symlink_to("secrets/none")
    return top


def denied(project: Path, path: str, *patterns: str) -> bool:
    root = str(project)
    return first_match(denies(*patterns, root=root), spots(path, root, HOME)) is not None


def allowed(project: Path, path: str, *patterns: str) -> bool:
    root = str(project)
    return every_match(allows(*patterns, root=root), spots(path, root, HOME)) is not None


def test_a_link_into_what_is_denied_is_denied(project: Path) -> None:
    assert denied(project, "link/key", "secrets/**")
    assert denied(project, "link", "secrets/**")
    assert denied(project, "dangling", "secrets/**")
    assert denied(project, "link/key", "link")
    assert not denied(project, "src/app.py", "secrets/**")


def test_a_denied_link_is_denied_by_its_target_too(project: Path) -> None:
    assert denied(project, "secrets/key", "link/**")


def test_a_link_out_of_what_is_allowed_is_not_allowed(project: Path) -> None:
    assert not allowed(project, "src/out/passwd", "src/**")
    assert allowed(project, "src/out/passwd", "src/**", "/etc/**")
    assert not allowed(project, "link/key", "link/**")
    assert allowed(project, "src/app.py", "src/**")


def test_a_project_behind_a_link_is_the_same_project(project: Path) -> None:
    there = project.parent / "there"
    there.symlink_to(project)
    assert first_match(
        denies("secrets/**", root=str(there)), spots("secrets/key", str(project), HOME)
    )
    assert every_match(allows("src/**", root=str(there)), spots("src/a", str(there), HOME))


def test_a_loop_of_links_ends(project: Path) -> None:
    (project / "round").symlink_to("round")
    assert real(str(project / "round" / "x"), "/")
    for number in range(LINKS + 5):
        (project / f"n{number}").symlink_to(f"n{number + 1}")
    assert real(str(project / "n0"), "/")


def test_parents_are_taken_behind_links(project: Path) -> None:
    assert real(str(project / "link" / ".." / "src"), "/") == lexical(str(project / "src"))
    assert real(str(project / "src" / "out" / ".." / "x"), "/") == ("x",)
    assert denied(project, "src/out/../etc/passwd", "/etc/**")


@pytest.mark.parametrize(
    ("pattern", "deny", "said"),
    [
        ("src/**", True, "/p//src/**"),
        ("src/**", False, "/p//src/**"),
        (".env", True, ".env"),
        ("*.md", False, "/p//**/*.md"),
        ("/etc/**", True, "/etc/**"),
        ("~/.ssh", False, "~/.ssh"),
        ("./a", True, "/p//./a"),
        (".", False, "/p//."),
        ("", True, ""),
    ],
)
def test_an_anchor_is_written_in_front(pattern: str, deny: bool, said: str) -> None:
    assert anchored(pattern, "/p", deny) == said
    assert anchored(said, "/q", deny) == said
    compiled = compile_deny if deny else compile_allow
    assert [each[1] for each in compiled(said, "/q", HOME)] == [
        each[1] for each in compiled(pattern, "/p", HOME)
    ]


def test_a_folder_is_no_pattern() -> None:
    pattern = anchored("src/**", "/p/[x]*", deny=True)
    assert first_match(denies(pattern), (("p", "[x]*", "src", "a"),))
    assert not first_match(denies(pattern), (("p", "xy", "src", "a"),))


@pytest.mark.parametrize(
    ("word", "pattern", "could"),
    [
        ((HOLE, ".ssh", "id"), "~/.ssh/**", True),
        ((HOLE, "README.md"), "~/.ssh/**", False),
        ((HOLE,), ".env", False),
        ((f".e{HOLE}",), ".env", True),
        ((f"{HOLE}.pem",), "*.pem", True),
        ((f"log-{HOLE}",), "*.pem", False),
        ((HOLE, "secret.txt"), "src/secret.txt", True),
        ((HOLE, "other.txt"), "src/secret.txt", False),
        ((HOLE, "x.py"), "src/*.py", True),
        ((HOLE, ".env", HOLE), ".env", True),
        ((HOLE, ".barry", "bound.toml"), ".barry", True),
    ],
)
def test_a_word_known_in_part(word: tuple[str, ...], pattern: str, could: bool) -> None:
    assert any(could_match(each[1], word, False) for each in denies(pattern)) is could


def test_a_word_whose_beginning_is_known() -> None:
    there = ("work", "proj", "secrets", HOLE)
    assert any(could_match(each[1], there, True) for each in denies("secrets/**"))
    assert not any(could_match(each[1], there, True) for each in denies("src/**"))
    assert not any(
        could_match(each[1], ("work", "proj", HOLE), True) for each in denies("secrets/**")
    )


SEGMENT = st.text("ab.*?[]{},!^-\\~ \0é", max_size=6)
PATTERN = st.builds("/".join, st.lists(SEGMENT | st.just("**"), max_size=5))
PATH = st.text("ab./~\0 é*[", max_size=24)


@given(PATTERN, PATH)
def test_no_text_breaks_the_matching(pattern: str, path: str) -> None:
    places = spots(path, ROOT, HOME)
    first_match(denies(pattern), places)
    every_match(allows(pattern), places)


@given(PATH)
def test_what_is_normal_stays_so(path: str) -> None:
    segments = lexical(f"/{path}")
    assert lexical("/" + "/".join(segments)) == segments
    assert not {"", ".", ".."} & set(segments)


NAME = st.text("abc.-_", min_size=1, max_size=4).filter(lambda name: name.strip("."))


@given(PATTERN, st.lists(NAME, min_size=1, max_size=4), st.lists(NAME, min_size=1, max_size=3))
def test_what_is_below_a_denied_folder_is_denied(
    pattern: str, folder: list[str], below: list[str]
) -> None:
    patterns = denies(pattern)
    if first_match(patterns, (tuple(folder),)):
        assert first_match(patterns, (tuple(folder + below),))


@given(st.lists(PATTERN, min_size=1, max_size=6), st.lists(NAME, min_size=1, max_size=5))
def test_looking_up_answers_what_trying_answers(patterns: list[str], path: list[str]) -> None:
    compiled = denies(*patterns)
    tried = [index for index, each in enumerate(compiled) if matches(each[1], tuple(path))]
    assert Matcher(compiled).first(tuple(path)) == (tried[0] if tried else -1)


PART = NAME | st.just(HOLE) | st.tuples(NAME, NAME).map(HOLE.join) | st.just("a")
PLACED = PATTERN | st.sampled_from(["~/a", "/a/b", "a/*.b", "*.a", "ab", "a/[b]c", "~/.a/b-?"])


@given(st.lists(PLACED, min_size=1, max_size=8), st.lists(PART, min_size=1, max_size=5))
def test_what_may_become_denied_is_what_trying_finds(patterns: list[str], parts: list[str]) -> None:
    compiled, word = denies(*patterns), tuple(parts)
    rooted = HOLE not in word[0]
    tried = [
        written
        for written, segments in compiled
        if could_match(segments, word, rooted)
        or (rooted and could_match(segments, (HOLE, *word[1:]), False))
    ]
    assert may_become(compiled, word) == (tried[0] if tried else None)


@given(st.lists(PLACED, min_size=1, max_size=8), st.lists(NAME | st.just("home"), max_size=4))
def test_what_lies_below_is_what_trying_finds(patterns: list[str], folder: list[str]) -> None:
    compiled = denies(*patterns)
    starts = [literal_start(segments) for _, segments in compiled]
    tried = [at for at, start in enumerate(starts) if start and start[: len(folder)] == (*folder,)]
    assert inner(compiled).starts.get(tuple(folder), -1) == (tried[0] if tried else -1)


@given(st.lists(PLACED, min_size=1, max_size=8), st.text("ab.*~/- ", max_size=30))
def test_the_needles_of_a_line_are_those_of_the_patterns(patterns: list[str], text: str) -> None:
    compiled = denies(*patterns)
    wanted = {needle(segments) for _, segments in compiled}
    assert set(likely(compiled).needles_in(text)) == {each for each in wanted if each in text}


@given(PATTERN, st.lists(NAME, min_size=1, max_size=5))
def test_the_needle_is_in_every_path_that_matches(pattern: str, path: list[str]) -> None:
    for each in denies(pattern):
        if matches(each[1], tuple(path)):
            assert needle(each[1]) in "/".join(path)


def test_the_disk_is_only_looked_at(project: Path) -> None:
    before = sorted(os.listdir(project))
    denied(project, "new/file", "new/**")
    assert sorted(os.listdir(project)) == before
