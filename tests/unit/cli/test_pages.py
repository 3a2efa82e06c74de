"""Help, manual pages and completions: of every verb, and never behind the code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer

from barry_cli.cli.make_pages import made, main
from barry_cli.cli.pages.tree import Verb, tree
from tests.toy import ROOT, Barry, says


@pytest.fixture(scope="module")
def top() -> Verb:
    from barry_cli.cli.app import whole

    return tree(typer.main.get_command(whole()))


def test_what_is_in_the_tree_is_what_is_made() -> None:
    """Stale pages: run `python -m barry_cli.cli.make_pages .`"""
    kept = {
        f"{path.parent.name}/{path.name}": path.read_text()
        for folder in ("man", "completions")
        for path in (ROOT / folder).iterdir()
    }
    assert kept == made()


def test_they_are_written_where_one_says(tmp_path: Path) -> None:
    main(tmp_path)
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*")}
    assert files == set(made())


def test_every_verb_has_a_help(barry: Barry, top: Verb) -> None:
    verbs = list(top.walk())
    assert len(verbs) > 15
    for verb in verbs:
        done = barry.run(*verb.words[1:], "--help")
        assert (done.code, done.err) == (0, "")
        assert verb.help.split(".")[0][:40] in " ".join(done.out.split())
        assert f"Usage: {' '.join(verb.words)}" in done.out
        for flag in verb.flags:
            assert flag.help, (verb.words, flag)
            assert all(name in done.out for name in flag.names)
        for operand in verb.operands:
            assert operand.name in done.out
        for inner in verb.verbs:
            assert f"  {inner.words[-1]} " in done.out


@pytest.mark.parametrize("words", [(), ("adapter",), ("session",)])
def test_a_group_alone_shows_its_help(barry: Barry, words: tuple[str, ...]) -> None:
    done = barry.run(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: barry")
    assert done.err == barry.run(*words, "--help").out


def test_the_version(barry: Barry) -> None:
    from barry_cli import __version__

    for words in (("--version",), ("-V",), ("--version", "adapter"), ("-V", "nonsense")):
        done = barry.run(*words)
        assert (done.code, done.out) == (0, f"barry {__version__}\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_file(barry: Barry, shell: str) -> None:
    name = {"bash": "barry.bash", "zsh": "_barry", "fish": "barry.fish"}[shell]
    assert barry.run("completion", shell).out == (ROOT / "completions" / name).read_text()


def test_a_shell_that_is_not_known(barry: Barry) -> None:
    says(barry.run("completion", "csh"), 2, "no completion for csh", "bash, zsh, fish")


def test_man_prints_the_page(barry: Barry) -> None:
    for words, name in (((), "barry"), (("barry-session",), "barry-session"),
                        (("session",), "barry-session"), (("barry.1",), "barry")):  # fmt: skip
        assert barry.run("man", *words).out == (ROOT / "man" / f"{name}.1").read_text()
    says(barry.run("man", "nope"), 2, "no page nope", "barry-adapter")


@pytest.mark.parametrize("page", sorted((ROOT / "man").glob("*.1")), ids=lambda path: path.name)
def test_man_pages_are_well_formed(page: Path) -> None:
    done = subprocess.run(
        ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(page)],
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "100"},
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def complete(line: str, folder: Path) -> list[str]:
    """What bash would offer at the end of a line."""
    words = line.split(" ")
    script = (
        f"source {ROOT}/completions/barry.bash; COMP_WORDS=({' '.join(map(repr, words))}); "
        f"COMP_CWORD={len(words) - 1}; _barry; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert done.stderr == ""
    return sorted(done.stdout.split())


def test_bash_completes(tmp_path: Path, top: Verb) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    names = {verb.words[-1] for verb in top.verbs}
    assert set(complete("barry ", tmp_path)) == {*names, "--version", "--help"}
    assert complete("barry ses", tmp_path) == ["session"]
    assert "launch" in complete("barry session ", tmp_path)
    assert complete("barry session la", tmp_path) == ["launch"]
    assert complete("barry session launch toy --dr", tmp_path) == ["--dry-run"]
    assert complete("barry session launch --cwd ", tmp_path) == ["folder"]
    assert complete("barry session launch toy -- --x", tmp_path) == []
    assert complete("barry adapter add f", tmp_path) == ["file", "folder"]


def test_only_the_group_that_is_named_is_imported() -> None:
    """A verb pays for its own group alone; help and pages still know all."""
    code = (
        "import sys; from barry_cli.cli.app import run; run(sys.argv[1:]);"
        "print(*sorted(m for m in sys.modules if m.startswith('barry_cli.cli.')), file=sys.stderr)"
    )

    def imported(*words: str) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        return set(done.stderr.splitlines()[-1].split())

    assert "barry_cli.cli.session" not in imported("adapter", "list")
    assert "barry_cli.cli.adapter" not in imported("session", "list")
    assert {"barry_cli.cli.session", "barry_cli.cli.adapter"} <= imported("--help")
    for verb in ("list", "--help"):
        assert not {"rich", "pydantic", "asyncio"} & imported("adapter", verb)
