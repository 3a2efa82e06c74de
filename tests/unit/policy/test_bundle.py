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
from barry_cli.policy.bundle import bundle, entry

ATTIC = {
    "__init__": "",
    "first": "from barry_cli.attic import second\n"
    "from barry_cli.attic.deep.third import NAME\n"
    "import sys\n"
    "def main(arguments):\n"
    "    from barry_cli.attic.late import said\n"
    "    print(NAME, second.NAME, said(), arguments)\n"
    "    print(sorted(name for name in sys.modules if name.startswith('barry_cli')))\n",
    "second": '"""Words."""\nNAME = "second"\ndef never():\n    import barry_cli.attic.unused\n',
    "deep/__init__": "",
    "deep/third": "NAME = 'third'\n",
    "late": "from barry_cli.attic import later_still\ndef said(): return later_still.NAME\n",
    "later_still": "NAME = 'later still'\n",
    "unused": "1 / 0\n",
    "circle": "import barry_cli.attic.ring\n",
    "ring": "import barry_cli.attic.circle\n",
    "wrong": "def main(:\n",
    "dies": "raise KeyError('gone')\n",
    "bare": "",
}


@pytest.fixture
def attic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A room of our own; gives its name."""
    for name, text in ATTIC.items():
        path = tmp_path / "attic" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
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


def test_a_program_runs_with_what_it_imports_at_once_and_later(attic: str, tmp_path: Path) -> None:
    done = run(entry(f"{attic}.first", bundle(f"{attic}.first")), tmp_path, "one", "two")
    assert (done.returncode, done.stderr) == (0, "")
    said, modules = done.stdout.splitlines()
    assert said == "third second later still ['one', 'two']"
    # What no call came to was not run.
    assert modules == str(
        sorted(
            f"barry_cli{name}"
            for name in (
                "", ".attic", ".attic.deep", ".attic.deep.third", ".attic.first", ".attic.late",
                ".attic.later_still", ".attic.second",
            )
        )
    )  # fmt: skip


def test_what_is_imported_later_is_kept_apart(attic: str) -> None:
    always, perhaps = bundle(f"{attic}.first")
    names = [name for name, _, _ in marshal.loads(always)]
    assert names == [
        "barry_cli", f"{attic}", f"{attic}.second", f"{attic}.deep", f"{attic}.deep.third",
        f"{attic}.first",
    ]  # fmt: skip
    assert set(perhaps) == {f"{attic}.late", f"{attic}.later_still", f"{attic}.unused"}


def test_a_circle_ends(attic: str) -> None:
    always, _ = bundle(f"{attic}.circle")
    assert [name for name, _, _ in marshal.loads(always)][2:] == [
        f"{attic}.ring",
        f"{attic}.circle",
    ]


@pytest.mark.parametrize(("name", "why"), [("dies", "KeyError: 'gone'"), ("bare", "main")])
def test_what_cannot_start_refuses_in_a_sentence(
    attic: str, tmp_path: Path, name: str, why: str
) -> None:
    done = run(entry(f"{attic}.{name}", bundle(f"{attic}.{name}")), tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "refused: its program can't be started" in done.stderr
    assert why in done.stderr


@pytest.mark.parametrize(("name", "why"), [("wrong", "invalid syntax"), ("absent", "isn't there")])
def test_what_cannot_be_read_is_told(attic: str, name: str, why: str) -> None:
    with pytest.raises(StoreProblem, match=why):
        bundle(f"{attic}.{name}")


READ = """
from barry_cli.policy.ruling.shell.reading import read
def main(arguments):
    print([[word.text for word in each.words] for each in read(arguments[0]).commands])
"""


def test_the_reader_reads_alike(attic: str, tmp_path: Path) -> None:
    from barry_cli.policy.ruling.shell.reading import read

    (tmp_path / "attic" / "reads.py").write_text(READ, encoding="utf-8")
    line = 'for x in a b; do git push "$(date +%s)" <<E; done\nbody `id`\nE\n'
    done = run(entry(f"{attic}.reads", bundle(f"{attic}.reads")), tmp_path, line)
    assert done.stderr == ""
    assert done.stdout.strip() == str(
        [[word.text for word in each.words] for each in read(line).commands]
    )
