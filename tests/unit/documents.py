"""The documents taken apart: fenced blocks, tables, shapes, and a shell to try them in."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pexpect

ROOT = Path(__file__).resolve().parents[2]
PROMPT = re.compile(r"<<(\d+)>>")
DOTS = "..."


@dataclass(frozen=True)
class Block:
    """A fenced block, the heading that it stands under, and the file that it is, if any."""

    language: str
    file: str | None
    heading: str
    text: str


Row = Mapping[str, str]


@dataclass(frozen=True)
class Document:
    """One Markdown file."""

    path: Path

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def blocks(self, *, below: str = "") -> list[Block]:
        """The fenced blocks, of the part below one level-2 heading if that is given."""
        found, heading, part = [], "", ""
        lines = iter(self.text.splitlines())
        for line in lines:
            if opened := re.fullmatch(r"(`{3,})(\w*)(?: file=(\S+))?", line):
                fence, language, file = opened.groups()
                inside = iter(lambda stop=fence: _until(lines, stop), None)
                block = Block(language, file, heading, "".join(f"{each}\n" for each in inside))
                if below in ("", part):
                    found.append(block)
            elif named := re.match(r"(#+) (.*)", line):
                heading = named[2]
                part = heading if named[1] == "##" else part
        return found

    def prose(self) -> str:
        """The text without its fenced blocks."""
        return re.sub(r"^(```+).*?^\1$", "", self.text, flags=re.MULTILINE | re.DOTALL)

    def tables(self) -> dict[str, list[Row]]:
        """The rows of every table, by the heading that it stands under."""
        found: dict[str, list[Row]] = {}
        heading, head = "", []
        for line in self.prose().splitlines():
            if named := re.match(r"#+ (.*)", line):
                heading, head = named[1], []
            elif not line.startswith("|"):
                head = []
            elif not head:
                head = _cells(line)
            elif not re.fullmatch(r"[|: -]+", line):
                found.setdefault(heading, []).append(dict(zip(head, _cells(line), strict=True)))
        return found

    def links(self) -> list[str]:
        """Where its links lead."""
        return re.findall(r"\]\(([^)\s]+)\)", self.prose())

    def anchors(self) -> set[str]:
        """What a link into it can name."""
        heads = re.findall(r"^#+ (.*)$", self.prose(), re.MULTILINE)
        return {_anchor(head) for head in heads}


README, CONTRIBUTING, CHANGELOG = (
    Document(ROOT / f"{name}.md") for name in ("README", "CONTRIBUTING", "CHANGELOG")
)
(
    JSON,
    ADAPTERS,
    AGENTS,
    FILES,
    GUARDED_TOOLS,
    GUEST_MODE,
    HOSTED_MODE,
    INSTRUMENTED_MODE,
    BOUNDS,
    BOUNDS_LIMITS,
    SCRIPTING,
    SESSIONS,
    MESSAGES,
) = (
    Document(ROOT / "docs" / f"{name}.md")
    for name in (
        "json",
        "adapters",
        "agents",
        "files",
        "guarded-tools",
        "guest-mode",
        "hosted-mode",
        "instrumented-mode",
        "bounds",
        "bounds-limits",
        "scripting",
        "sessions",
        "messages",
    )
)


def _until(lines: Iterator[str], fence: str) -> str | None:
    line = next(lines)
    return None if line == fence else line


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def write_recipe(folder: Path) -> None:
    """The files of the recipe for a new adapter, as a reader would write them."""
    for block in CONTRIBUTING.blocks(below="Add a harness"):
        if block.file is not None:
            write_block(folder, block)


def write_block(folder: Path, block: Block) -> None:
    """One file of a document."""
    assert block.file is not None
    path = folder / block.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text, encoding="utf-8")


def plain(cell: str) -> str:
    """A cell without its Markdown."""
    return cell.replace("`", "").strip()


class Shapes:
    """The shapes that tables document: ``key``, ``type`` and, in some, ``needed``.

    A key with a question mark may be absent, and so may one that is not needed.
    """

    def __init__(self, *documents: Document) -> None:
        self._tables = {
            f"{document.path.name}#{_anchor(heading)}": rows
            for document in documents
            for heading, rows in document.tables().items()
        }
        self._home = documents[0].path.name

    def keys(self, shape: str) -> dict[str, bool]:
        """Key -> whether it is always there."""
        return {plain(row["key"]).removesuffix("?"): _always(row) for row in self._rows(shape)[1]}

    def rows(self, shape: str) -> dict[str, Row]:
        """Key -> its row."""
        return {plain(row["key"]).removesuffix("?"): row for row in self._rows(shape)[1]}

    def _rows(self, shape: str) -> tuple[str, list[Row]]:
        file, _, anchor = shape.rpartition("#")
        file = file or self._home
        return file, self._tables[f"{file}#{anchor}"]

    def problems(self, shape: str, value: object, at: str = "") -> Iterator[str]:
        """How a value differs from what is documented."""
        file, rows = self._rows(shape)
        if not isinstance(value, dict):
            yield f"{at or 'it'} is no object"
            return
        known = {plain(row["key"]).removesuffix("?"): row for row in rows}
        cut = DOTS in value  # in an example
        strange = [key for key in value if key not in known and key != DOTS]
        yield from (f"{at}{key} is not documented" for key in strange)
        for key, row in known.items():
            if key in value:
                yield from self._fits(file, row["type"], value[key], f"{at}{key}")
            elif _always(row) and not cut:
                yield f"{at}{key} is documented and absent"

    def _fits(self, file: str, kind: str, value: Any, at: str) -> Iterator[str]:
        kind = kind.strip()
        for several, holder in (("list of ", list), ("map of ", dict)):
            if kind.startswith(several):
                if not isinstance(value, holder):
                    yield f"{at} is no {holder.__name__}"
                    return
                inner = value.items() if isinstance(value, dict) else enumerate(value)
                for place, each in inner:
                    yield from self._fits(file, kind.removeprefix(several), each, f"{at}.{place}")
                return
        choices = kind.split(" or ")
        if link := re.fullmatch(r"\[[^]]+\]\((.*?)#(.*?)\)", choices[0]):
            if value is not None or "null" not in choices:
                yield from self.problems(f"{link[1] or file}#{link[2]}", value, f"{at}.")
        elif not any(_is(choice, value) for choice in choices):
            yield f"{at} is {value!r}, and documented as {kind}"


def _always(row: Row) -> bool:
    return row["needed"] == "yes" if "needed" in row else not plain(row["key"]).endswith("?")


def _is(kind: str, value: object) -> bool:
    if literal := re.fullmatch(r"`(.+)`", kind):
        return str(value) == literal[1]
    kinds: dict[str, object] = {"text": str, "integer": int, "boolean": bool, "null": type(None)}
    wanted = {**kinds, "any": object, "JSON Schema": dict, "object": dict}[kind]
    assert isinstance(wanted, type)
    return isinstance(value, wanted) and not (kind == "integer" and isinstance(value, bool))


class Bash:
    """A shell in a terminal, for a reader who types what a document says."""

    def __init__(self, folder: Path) -> None:
        self._bash = pexpect.spawn(
            "bash",
            ["--norc", "--noprofile", "--noediting", "-i"],
            env={
                "HOME": os.environ["HOME"],
                "BARRY_HOME": os.environ["BARRY_HOME"],
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "LANG": "C.UTF-8",
                "TERM": "xterm-256color",
                "NO_COLOR": "1",
                "PS1": "<<$?>>",
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            cwd=str(folder),
            dimensions=(50, 1000),
            echo=False,
            timeout=60,
            encoding="utf-8",
        )
        self._bash.expect(PROMPT)

    def close(self) -> None:
        self._bash.close(force=True)

    def follow(self, console: str) -> None:
        """Do what a console block shows, and see what it says one sees."""
        for command, *shown in _steps(console):
            self._bash.sendline(command)
            pattern, seen = "", ""
            for line in shown:
                if typed := re.match(r"(\w+> )(.*)", line):
                    self._bash.expect_exact(typed[1])
                    seen += self._bash.before + typed[1]
                    self._bash.sendline(typed[2])
                    pattern += re.escape(typed[1])
                else:
                    pattern += _line(line)
            self._bash.expect(PROMPT)
            seen = re.sub(r" *\r*\n", "\n", seen + self._bash.before)
            assert self._bash.match[1] == "0", f"$ {command}\n{seen}"
            shows = "\n".join(shown)
            assert re.fullmatch(pattern, seen), f"$ {command}\n{seen}\n--- and not ---\n{shows}"


def _steps(console: str) -> Iterator[list[str]]:
    step: list[str] = []
    for line in console.splitlines():
        if line.startswith("$ "):
            if step:
                yield step
            step = [line[2:]]
        else:
            step.append(line)
    yield step


def _line(line: str) -> str:
    if line == DOTS:
        return r"(?:.*\n)*?"
    return ".*?".join(re.escape(part) for part in line.split(DOTS)) + r"\n"
