"""What each guarded tool is called with: the schema that a client sees, and what is taken."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from barry_cli.contract.data import Data

Path = Annotated[
    str,
    Field(max_length=4_096, description="Absolute, or relative to the session's folder."),
]
Text = Annotated[str, Field(max_length=16 << 20)]


class Shell(Data):
    """Run a command line with bash and give what it prints, at most 30,000 characters. It has no
    input, and all that it started ends with it.
    """

    command: Annotated[str, Field(max_length=131_071)]  # more is no argument of a program
    cwd: Path = "."
    timeout: Annotated[int, Field(ge=1, le=600, description="In seconds.")] = 120


class ReadFile(Data):
    """Read lines of a text file."""

    path: Path
    start: Annotated[int, Field(ge=1, description="The first line; 1 is the top.")] = 1
    count: Annotated[int, Field(ge=1, le=10_000, description="How many lines.")] = 2_000


class WriteFile(Data):
    """Write a file whole. One that is there is replaced; missing folders are made."""

    path: Path
    content: Text


class EditFile(Data):
    """Replace a text in a file by another. It must be there exactly once."""

    path: Path
    old: Annotated[Text, Field(min_length=1)]
    new: Text


class Fetch(Data):
    """Read a text from an http or https URL, at most 30,000 characters."""

    url: Annotated[str, Field(max_length=8_192)]


INPUTS: dict[str, type[Data]] = {
    "shell": Shell,
    "read_file": ReadFile,
    "write_file": WriteFile,
    "edit_file": EditFile,
    "fetch": Fetch,
}
