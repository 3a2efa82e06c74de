"""The bag manifest: an adapter's tool table, hook formats, traits, bounds, vendors, credentials.

It is one file, ``bag.toml``, with keys in camelCase. Policy is ruled from it alone, without
running any code of the adapter's.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationError

from barry_cli.base.problems import Refused
from barry_cli.contract.data import Data
from barry_cli.contract.models import Vendor
from barry_cli.policy.schema import AgentTrait, Bound, NativeCategory
from barry_cli.policy.sentences import sentences

FILE_NAME = "bag.toml"
LIMIT_BYTES = 1 << 20

Name = Annotated[str, StringConstraints(min_length=1)]

ToolKind = Literal["shell", "read", "write", "patch", "url", "agent", "other"]
"""What a native tool's call means to the ruling."""


class ToolRow(Data):
    """How the ruling reads a call of one native tool."""

    kind: ToolKind
    field: str | tuple[str, ...] | None = None
    """The input's field, or fields, that hold what is ruled on: the command line, path, patch or
    URL. Absent: the call is ruled by the tool's name alone."""


class HookAnswer(Data):
    """What a hook gives back. ``{reason}`` in any text becomes the ruling's reason."""

    stdout: str | dict[str, Any] | None = None
    """Text as it is, or a JSON document."""
    stderr: str | None = None
    exit: Annotated[int, Field(ge=0, le=125)] = 0


class HookFormat(Data):
    """One hook event of the harness's: where its parts are, and how each answer is written.

    A path is written with dots (``tool_input.command``), from the top of the event's document.
    """

    event: Name
    """The harness's own name for the event."""
    kind: Literal["before-tool", "after-tool", "prompt", "start", "stop", "ask", "end"]
    """What the event means to Barry."""
    paths: dict[
        Literal["event", "tool", "input", "call", "session", "cwd", "transcript", "prompt"], Name
    ] = Field(default_factory=dict)
    names: dict[Name, Name] = Field(default_factory=dict)
    """What the event calls a tool -> the name that the harness has for it elsewhere."""
    answers: dict[Literal["allow", "deny", "ask", "message"], HookAnswer] = Field(
        default_factory=dict
    )


class Credential(Data):
    """Where the value of a variable is kept: a field of an item in the user's vault."""

    source: Literal["vault"]
    item: Name
    field: Name


class BagManifest(Data):
    """All that a bag declares."""

    name: Name
    tools: dict[Name, ToolRow] = Field(default_factory=dict)
    """The tool table: every native tool by the harness's own name."""
    categories: dict[NativeCategory, tuple[Name, ...]] = Field(default_factory=dict)
    """Which native tools a kind of restriction takes back."""
    settings: tuple[Name, ...] = ()
    """The harness's own hook and settings files, as file patterns of a bound: no session that is
    held to a policy may write them, whatever the bound says."""
    formats: dict[Name, HookFormat] = Field(default_factory=dict)
    traits: dict[Name, AgentTrait] = Field(default_factory=dict)
    bounds: dict[Name, Bound] = Field(default_factory=dict)
    vendors: tuple[Vendor, ...] = ()
    credentials: dict[Name, Credential] = Field(default_factory=dict)
    """Variable -> where its value is kept."""


class BagRefused(Refused):
    """A bag manifest that does not hold up, with every problem of it."""

    code = "bag-refused"

    def __init__(self, path: Path, problems: list[str]) -> None:
        self.path = path
        self.problems = list(problems)
        super().__init__(
            f"{path} does not hold up: {'; '.join(problems)}",
            hint="fix the file, then try again",
            details={"path": str(path), "problems": self.problems},
        )


def read_bag(folder: str | os.PathLike[str]) -> BagManifest:
    """The manifest in a folder. Raises BagRefused with every problem at once."""
    path = Path(folder) / FILE_NAME
    text, problems = _text(path)
    if not problems:
        manifest, problems = parse_bag(text)
        if manifest is not None:
            return manifest
    raise BagRefused(path, problems)


def parse_bag(text: str) -> tuple[BagManifest | None, list[str]]:
    """The manifest that a TOML text holds, or None with every problem."""
    import tomllib

    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return None, [f"it isn't TOML: {error}"]
    problems = _named(document)
    try:
        manifest = BagManifest.model_validate(document, by_alias=True, by_name=False)
    except ValidationError as error:
        return None, problems + sentences(error, BagManifest)
    return (None, problems) if problems else (manifest, [])


def _named(document: dict[str, Any]) -> list[str]:
    """Give traits and bounds the name they stand under; another name there is a problem."""
    problems = []
    for kind in ("traits", "bounds"):
        table = document.get(kind)
        for name, row in table.items() if isinstance(table, dict) else ():
            if isinstance(row, dict) and row.setdefault("name", name) != name:
                problems.append(
                    f"{kind}.{name}.name is {row['name']!r}: leave it out, its key is its name"
                )
    return problems


def _text(path: Path) -> tuple[str, list[str]]:
    try:
        facts = path.stat()
        # Opening a pipe or a device would wait for ever.
        if not stat.S_ISREG(facts.st_mode):
            return "", ["it isn't a regular file"]
        if facts.st_size > LIMIT_BYTES:
            return "", [f"it has more than {LIMIT_BYTES >> 20} MiB"]
        return path.read_text(encoding="utf-8"), []
    except OSError as error:
        return "", [f"it can't be read: {error.strerror or error}"]
    except UnicodeDecodeError as error:
        return "", [f"it isn't UTF-8: {error.reason} at byte {error.start}"]
