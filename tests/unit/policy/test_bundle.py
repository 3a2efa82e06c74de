"""A bundle runs without Barry's files, and refuses in a sentence what it can't start."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import barry_cli
from barry_cli.base.problems import StoreProblem
from barry_cli.policy.bundle import bundle, dump, entry, parse

ATTIC = {
    "__init__": "",
    "first": """
        import sys
        from barry_cli.attic import second, unused
        from barry_cli.attic.deep.third import NAME, named
        from barry_cli.attic.unused import never, neither

        TABLE = {"never": never, "neither": unused.neither, "named": named}

        def main(arguments):
            from barry_cli.attic.late import said
            print(NAME, second.NAME, said(), TABLE["named"](1, more=2), arguments)
            print(*sorted(__modules__))
            print(*(name for name in sys.modules if name.startswith("barry_cli")))
        """,
    "second": """
        '''Words.'''
        NAME: str = "second"

        class Kind:
            '''More words.'''
            part: int
            def never(self, x: Unknown) -> Unknown:
                '''And more.'''
                from barry_cli.attic.never_named import NAME
        """,
    "never_named": "1 / 0",
    "deep/__init__": "",
    "deep/third": "NAME = 'third'\ndef named(a, /, *, more: int = 0): return a + more",
    "late": "from barry_cli.attic import later_still\ndef said(): return later_still.NAME",
    "later_still": "NAME = 'later still'",
    "annotated": """
        from barry_cli.attic.never_named import NAME
        from barry_cli.attic.deep.third import NAME as PASSED_ON
        __all__ = ("PASSED_ON",)
        def main(arguments: NAME) -> NAME:
            print(sorted(__modules__), globals()["name".upper()], PASSED_ON)
        """,
    "unused": "1 / 0\ndef never(): pass\ndef neither(): pass",
    "circle": "from barry_cli.attic import ring\nNAME = 1\ndef main(arguments): print(ring.NAME)",
    "ring": "from barry_cli.attic.circle import NAME\n__all__ = ('NAME',)",
    "whole": "import barry_cli.attic.second",
    "extension": "def main(arguments):\n    import _json\n    print(_json.__name__)",
    "wrong": "def main(:",
    "dies": "raise KeyError('gone')\ndef main(arguments): pass",
    "bare": "",
}


@pytest.fixture
def attic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A room of our own; gives its name."""
    from textwrap import dedent

    for name, text in ATTIC.items():
        path = tmp_path / "attic" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    monkeypatch.setattr(barry_cli, "__path__", [*barry_cli.__path__, str(tmp_path)])
    yield "barry_cli.attic"
    for name in [name for name in sys.modules if name.startswith("barry_cli.attic")]:
        del sys.modules[name]


def run(data: bytes, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = folder / "entry.pyc"
    path.write_bytes(data)
    return subprocess.run(
        [sys.executable, "-I", "-S", path, *words],
        env={"PATH": os.environ["PATH"]},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_a_program_runs_and_only_what_it_needs_of_it(attic: str, tmp_path: Path) -> None:
    done = run(entry(bundle(f"{attic}.first")), tmp_path, "one", "two")
    assert (done.returncode, done.stderr) == (0, "")
    said, alive, imported = done.stdout.splitlines()
    assert imported == ""  # nothing that an import statement would find
    assert said == "third second later still 3 ['one', 'two']"
    # Of the others no line ran: some would have failed.
    names = ("deep.third", "first", "late", "later_still", "second")
    assert alive.split() == [f"{attic}.{name}" for name in names]


def test_what_may_be_imported_is_in_it(attic: str) -> None:
    made = bundle(f"{attic}.first")
    names = [name.removeprefix(f"{attic}.") for name, _, _ in made.index]
    assert names == [
        "deep.third", "first", "late", "later_still", "never_named", "second", "unused",
    ]  # fmt: skip
    functions = {name: functions.split() for name, functions, _ in made.index}
    assert functions[f"{attic}.unused"] == ["never", "neither"]
    assert sum(size for *_, size in made.index) == len(made.codes)


def test_what_only_people_read_is_not_in_it(attic: str) -> None:
    codes = bundle(f"{attic}.second").codes
    for absent in (b"Words", b"More words", b"And more", b"Unknown", b"part", str(ROOT).encode()):
        assert absent not in codes


def test_what_only_annotations_name_is_not_made(attic: str, tmp_path: Path) -> None:
    done = run(entry(bundle(f"{attic}.annotated")), tmp_path)
    assert done.stderr == ""
    assert done.stdout == f"{[f'{attic}.annotated', f'{attic}.deep.third']} None third\n"


def test_a_circle_ends(attic: str, tmp_path: Path) -> None:
    done = run(entry(bundle(f"{attic}.circle")), tmp_path)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_machine_code_is_found_where_it_was(attic: str, tmp_path: Path) -> None:
    made = bundle(f"{attic}.extension")
    builtin = "_json" in sys.builtin_module_names
    assert [name for name, _ in made.machine_code] == ([] if builtin else ["_json"])
    assert run(entry(made), tmp_path).stdout == "_json\n"


@pytest.mark.parametrize(("name", "why"), [("dies", "KeyError: 'gone'"), ("bare", "main")])
def test_what_cannot_start_refuses_in_a_sentence(
    attic: str, tmp_path: Path, name: str, why: str
) -> None:
    done = run(entry(bundle(f"{attic}.{name}")), tmp_path)
    refused(done, why)


def test_what_was_cut_short_refuses_in_a_sentence(attic: str, tmp_path: Path) -> None:
    data = entry(bundle(f"{attic}.first"))
    refused(run(data[:-50], tmp_path), "")
    done = run(data[:100], tmp_path)
    assert done.returncode != 0


def refused(done: subprocess.CompletedProcess[str], why: str) -> None:
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "refused: its program can't be started" in done.stderr
    assert why in done.stderr


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("wrong", "invalid syntax"),
        ("absent", "isn't there"),
        ("whole", "write `from` to import"),
    ],
)
def test_what_cannot_be_read_is_told(attic: str, name: str, why: str) -> None:
    with pytest.raises(StoreProblem, match=why):
        bundle(f"{attic}.{name}")


def test_a_file_gives_back_what_was_put_in(attic: str) -> None:
    made = bundle(f"{attic}.extension")
    data = dump(made)
    assert parse(made.program, data) == made
    for spoilt in (b"", data[:-1], data + b"x", b"\xff" * 8 + data[8:], marshal.dumps(None)):
        with pytest.raises((ValueError, EOFError, TypeError)):
            parse(made.program, spoilt)


READ = """
from barry_cli.policy.ruling.shell.reading import read
def main(arguments):
    print([[word.text for word in each.words] for each in read(arguments[0]).commands])
"""
ROOT = Path(__file__).resolve().parents[3]


def test_the_reader_reads_alike(attic: str, tmp_path: Path) -> None:
    from barry_cli.policy.ruling.shell.reading import read

    (tmp_path / "attic" / "reads.py").write_text(READ, encoding="utf-8")
    line = 'for x in a b; do git push "$(date +%s)" <<E; done\nbody `id`\nE\n'
    done = run(entry(bundle(f"{attic}.reads")), tmp_path, line)
    assert done.stderr == ""
    assert done.stdout.strip() == str(
        [[word.text for word in each.words] for each in read(line).commands]
    )
