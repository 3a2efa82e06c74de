"""Reading bounds from files: TOML or JSON with camelCase keys, refused whole when not right."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from typing import Any

from barry_cli.base.problems import Refused
from barry_cli.policy.places import is_there
from barry_cli.policy.schema import Bound, bound_problems, parse_bound

LIMIT_BYTES = 1 << 20
SUFFIXES = (".toml", ".json")


class BoundRefused(Refused):
    """A bound that can't be read or is none, with every problem of it."""

    code = "bound-refused"

    def __init__(self, place: str, problems: Sequence[str], *, hint: str = "") -> None:
        self.place = place
        self.problems = list(problems)
        super().__init__(
            f"the bound {place} is refused: {'; '.join(self.problems)}",
            hint=hint or "mend it: `barry bound schema` has every key, docs/bounds.md says more",
            details={"place": place, "problems": self.problems},
        )


class BoundNotFound(Refused):
    """No bound has this name, there is no such file, or the name is that of several."""

    code = "bound-not-found"


def read_bound_file(path: str) -> Bound:
    """The bound in a file. Raises BoundRefused, and BoundNotFound where there is no such file."""
    return bound_of(path, read_document(path))


def bound_of(place: str, document: object) -> Bound:
    """The bound that a parsed document is. Raises BoundRefused with every problem."""
    if problems := bound_problems(document):
        raise BoundRefused(place, problems)
    return parse_bound(document)


def read_document(path: str) -> Any:
    """What a TOML or JSON file holds; by its ending it is one or the other."""
    text = _text(path)
    if path.lower().endswith(".json"):
        from barry_cli.base.canonical import NotCanonical, read_json

        try:
            return read_json(text)
        except NotCanonical as error:
            raise BoundRefused(path, [str(error)]) from error
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BoundRefused(path, [f"it isn't TOML: {error}"]) from error


def _text(path: str) -> str:
    try:
        data = _data(path)
    except (OSError, ValueError) as error:
        gone = isinstance(error, FileNotFoundError | NotADirectoryError)
        if gone and not is_there(path):
            raise BoundNotFound(
                f"there is no bound file {path}",
                hint="give the path of a .toml or .json file, or a name of `barry bound list`",
                details={"path": path},
            ) from error
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        problem = "it is a link that leads nowhere" if gone else f"it can't be read: {reason}"
        raise BoundRefused(path, [problem], hint=_UNREADABLE) from error
    if len(data) > LIMIT_BYTES:
        raise BoundRefused(path, [f"it has more than {LIMIT_BYTES >> 20} MiB"])
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        problem = f"it isn't UTF-8: {error.reason} at byte {error.start}"
        raise BoundRefused(path, [problem]) from error


def _data(path: str) -> bytes:
    # Not to wait for a pipe's other end.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise BoundRefused(path, ["it isn't a regular file"], hint=_UNREADABLE)
        data = b""
        while len(data) <= LIMIT_BYTES and (piece := os.read(descriptor, LIMIT_BYTES + 1)):
            data += piece
        return data
    finally:
        os.close(descriptor)


_UNREADABLE = "mend it or move it away: a bound that can't be read can't be held"
