"""What is reached of a folder that is copied into another one, or handed out."""

from barry_cli.policy.ruling.file_use import Only
from barry_cli.policy.ruling.paths import exists, expand, lexical
from barry_cli.policy.ruling.shell.reading import Word


class Within(Only):
    """The entries of a target for which there is one in the source, which is read when it is there.

    A source that isn't there yet may come to hold anything.
    """

    __slots__ = ("_source", "_top")

    def __init__(self, source: Word) -> None:
        self._source = source
        self._top = ""

    def start(self, base: str, home: str) -> None:
        path = self._source.path
        self._top = expand(path, base, home) if path is not None else ""

    def reaches(self, path: tuple[str, ...], folder: bool) -> bool:
        if not self._top or not exists(self._top):
            return True
        return exists("/".join((self._top, *path)))

    def enters(self, path: tuple[str, ...]) -> bool:
        return self.reaches(path, True)


class HandedOut(Only):
    """A folder that another system is given: as a whole, unless it is where the program runs.

    A container that builds or tests a project is given the project.
    """

    __slots__ = ("_folder", "_inside")

    def __init__(self, folder: Word) -> None:
        self._folder = folder
        self._inside = False

    def start(self, base: str, home: str) -> None:
        path = self._folder.path
        top = lexical(expand(path, base, home)) if path is not None else None
        here = lexical(base)
        self._inside = top is None or top[: len(here)] == here

    def reaches(self, path: tuple[str, ...], folder: bool) -> bool:
        return not self._inside

    def enters(self, path: tuple[str, ...]) -> bool:
        return not self._inside
