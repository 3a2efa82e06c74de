"""A bundle runs without Barry's files, and refuses in a sentence what it can't start."""

from __future__ import annotations

import importlib
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
        from barry_cli.attic import second, unused
        from barry_cli.attic.deep.third import NAME, named
        from barry_cli.attic.unused import never, neither

        TABLE = {"never": never, "neither": unused.neither, "named": named}

        def main(arguments):
            import sys
            from barry_cli.attic.late import said
            print(NAME, second.Kind().name(), said(), TABLE["named"](1, more=2), arguments)
            print(*sorted(name for name in globals() if name[-1].isdigit()))
            print(*(name for name in sys.modules if name.startswith("barry_cli")))
        """,
    "second": """
        '''Words.'''
        from __future__ import annotations
        NAMES: tuple[str, ...] = ("second",)

        class Kind:
            '''More words.'''
            __slots__ = ("slot",)
            part: int
            def never(self, x: Unknown) -> Unknown:
                '''And more.'''
                from barry_cli.attic.never_named import NAME
            def name(self):
                return NAMES[0]
        """,
    "never_named": "NAME = 1 / 0",
    "deep/__init__": "",
    "deep/third": "NAME = 'third'\ndef named(a, /, *, more: int = 0): return a + more",
    "late": "from barry_cli.attic import later_still\ndef said(): return later_still.NAME",
    "later_still": "NAME = 'later still'",
    "annotated": """
        from barry_cli.attic.never_named import NAME
        def main(arguments: NAME) -> NAME:
            here: NAME = 1
            print(here, [name for name in globals() if name.startswith("NAME")])
        """,
    "unused": "BROKEN = 1 / 0\ndef never(): return BROKEN\ndef neither(): return BROKEN",
    "circle": "from barry_cli.attic import ring\nNAME = 1\ndef main(arguments): print(ring.NAME)",
    "ring": "from barry_cli.attic.circle import NAME\n__all__ = ('NAME',)",
    "whole": "import barry_cli.attic.second\ndef main(arguments): pass",
    "passed": "from barry_cli.attic import second\ndef main(arguments): print(second)",
    "twice": "NAME = 1\nNAME = 2\ndef main(arguments): print(NAME)",
    "does": "print('more')\ndef main(arguments): pass",
    "changes": "NAME = 1\ndef main(arguments):\n    global NAME\n    NAME = 2",
    "slots": "class A:\n    __slots__ = ()\ndef main(arguments): print(A.__slots__)",
    "extension": "def main(arguments):\n    import _json\n    print(_json.__name__)",
    "wrong": "def main(:",
    "dies": "NAME = int('gone')\ndef main(arguments): print(NAME)",
    "bare": "",
    "unlike": """
        from barry_cli.attic import second as other
        from barry_cli.attic.deep import third
        from barry_cli.attic.deep.third import NAME as name, named

        SMALL = frozenset("abc")
        LIST = [1]
        x = "outer"
        TABLE = {f"name {number}": f"value {number}" for number in range(40)}
        WORDS = frozenset(f"word {number}" for number in range(60))
        GIVEN = {f"name {number}": number for number in range(40)}
        CALLED = {"value": lambda text=name: text, "named": named}
        ONE, TWO = "one", ["two"]

        class Above:
            __slots__ = ("held",)
            kind = "above"
            def __init__(self, held): self.held = held
            def one(self): return "one", self.kind, self.held
            def two(self, *given, more=3, **named): return "two", given, more, named
            def long(self, text="t"):
                found = [self.one() for _ in range(3)] + ["a long one", "so that it is apart"]
                for each in self.some():
                    found.append(each)
                return found, text, self.two(1, 2, more=4, much=5), sorted(SMALL)
            def some(self):
                for each in ("a", "generator", "that is longer than what stays with its class"):
                    yield each, self.kind, len(GIVEN), "and some words more", x, ONE, TWO
            @property
            def shown(self): return f"<{self.held}>"
            @staticmethod
            def still(x): return x * 2

        class Between(Above):
            kind = "between"
            def one(self): return ("between", *Above.one(self))

        class Below(Between):
            x = "of the class"
            y = x + " " + name
            def two(self, *given, more=6, **named): return "below", given, more, x, self.x

        class Low:
            def give(self): return "low", self.more(), self.kept()
            def more(self): raise NotImplementedError
            def kept(self): return "low"

        class Middle(Low):
            def kept(self): return "middle"

        class High(Middle):
            def more(self): return "high"

        class Gone(LookupError):
            pass

        def scopes(given, *, x=x, NAME=name):
            found = [x for x in "ab"] + [each for each in [x] for _ in each[:1]]
            pairs = {name: x for name, x in [(1, 2)]}
            if (named := len(found)) > 1:
                found += [named]
            def inner(other=x):
                nonlocal found
                found = [*found, other, x]
                return found
            try:
                raise Gone("lost")
            except Gone as third:
                found.append(repr(third))
            match given:
                case [other, *name]:
                    found += [other, name]
                case {"a": TABLE, **ONE}:
                    found += [TABLE, ONE]
                case _ as TWO:
                    found.append(TWO)
            return inner(), pairs, NAME, [name for name in "x"], (lambda x: x)(1)

        def looked_up(key):
            from barry_cli.attic.deep import third as here
            return [
                TABLE.get(key), TABLE.get(key, "none"), TABLE.get(key, key), key in TABLE,
                key not in TABLE, TABLE["name 7"], key in WORDS, here.NAME, GIVEN.get(key),
            ]

        def main(arguments):
            print(scopes([1, 2]), scopes({"a": 1, "b": 2}), scopes(None), name, third.NAME)
            keys = "name 3", "name", "value 3", "word 5", "", "a\\nb", None, 7, ("a",), "name 3\\t"
            for key in keys:
                print(key, looked_up(key))
            below = Below("held")
            print(below.one(), below.two(1), below.long(), below.long("t"), list(below.some()))
            print(below.shown, Below.still(2), below.y, isinstance(below, Above), Gone("x"))
            print(CALLED["value"](), CALLED["named"](1, more=1), other.Kind().name(), ONE, TWO)
            print(High().give())
            LIST.append(2)
            print(LIST, "\u00e9\\ud800".encode("utf-8", "backslashreplace"))
        """,
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


def names(text: str) -> list[str]:
    """Names of a program's, as they are in their modules."""
    return [name.rpartition(".")[0] for name in text.split()]


def test_a_program_runs_and_only_what_it_needs_of_it(attic: str, tmp_path: Path) -> None:
    done = run(entry(bundle(f"{attic}.first:main")), tmp_path, "one", "two")
    assert (done.returncode, done.stderr) == (0, "")
    said, made, imported = done.stdout.splitlines()
    assert imported == ""  # nothing that an import statement would find
    assert said == "third second later still 3 ['one', 'two']"
    # Of the others no line ran: some would have failed.
    assert names(made) == ["Kind", "TABLE", "main", "named", "said"]


def test_a_program_does_what_its_modules_do(
    attic: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Scopes of all kinds, classes, tables: run as it is written, and taken apart."""
    importlib.import_module(f"{attic}.unlike").main([])
    right = capsys.readouterr().out
    made = bundle(f"{attic}.unlike:main")
    done = run(entry(made), tmp_path)
    assert done.stderr == ""
    assert done.stdout == right
    # None of this would be tested otherwise: a class in three parts, a method by itself, a text.
    alone = names(made.head[3])
    assert "long.Above" in alone
    assert "High" in alone
    assert {"Low", "Middle"}.isdisjoint(alone)
    assert b"name 3\tvalue 3\n" in made.body
    assert b"__slots__" not in made.body


def test_what_is_needed_is_in_it(attic: str) -> None:
    made = bundle(f"{attic}.first:main")
    assert b"later still" in made.body
    assert b"never_named" not in made.body
    assert made.head[-1][-1] == len(made.body)


def test_what_only_people_read_is_not_in_it(attic: str) -> None:
    body = bundle(f"{attic}.first:main").body
    for absent in (b"Words", b"More words", b"And more", b"Unknown", b"part", str(ROOT).encode()):
        assert absent not in body


def test_what_only_annotations_name_is_not_made(attic: str, tmp_path: Path) -> None:
    done = run(entry(bundle(f"{attic}.annotated:main")), tmp_path)
    assert (done.stdout, done.stderr) == ("1 []\n", "")


def test_a_circle_ends(attic: str, tmp_path: Path) -> None:
    done = run(entry(bundle(f"{attic}.circle:main")), tmp_path)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_machine_code_is_found_where_it_was(attic: str, tmp_path: Path) -> None:
    made = bundle(f"{attic}.extension:main")
    builtin = "_json" in sys.builtin_module_names
    assert list(made.head[1]) == ([] if builtin else ["_json"])
    assert run(entry(made), tmp_path).stdout == "_json\n"


def test_what_cannot_start_refuses_in_a_sentence(attic: str, tmp_path: Path) -> None:
    refused(run(entry(bundle(f"{attic}.dies:main")), tmp_path), "ValueError: invalid literal")


def test_what_was_cut_short_refuses_in_a_sentence(attic: str, tmp_path: Path) -> None:
    data = entry(bundle(f"{attic}.first:main"))
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
        ("passed", "a whole module"),
        ("bare", "has no main"),
        ("twice", "binds NAME twice"),
        ("does", "line 1 does more"),
        ("changes", "NAME changes"),
        ("slots", "no slots"),
    ],
)
def test_what_cannot_be_taken_apart_is_told(attic: str, name: str, why: str) -> None:
    with pytest.raises(StoreProblem, match=why):
        bundle(f"{attic}.{name}:main")


def test_a_file_gives_back_what_was_put_in(attic: str) -> None:
    made = bundle(f"{attic}.extension:main")
    data = dump(made)
    assert parse(data) == made
    for spoilt in (b"", data[:-1], data + b"x", b"\xff" * 8 + data[8:], marshal.dumps(None)):
        with pytest.raises((ValueError, EOFError, TypeError)):
            parse(spoilt)


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
    done = run(entry(bundle(f"{attic}.reads:main")), tmp_path, line)
    assert done.stderr == ""
    assert done.stdout.strip() == str(
        [[word.text for word in each.words] for each in read(line).commands]
    )
