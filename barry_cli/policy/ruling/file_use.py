"""One use of a file."""

from barry_cli.policy.ruling.operands import HOLE, known
from barry_cli.policy.ruling.scripts import code_files
from barry_cli.policy.ruling.shell.reading import TEXT, Part, Word

READ = "read"
WRITE = "write"
"""Made, or its content replaced."""
CHANGE = "change"
"""Removed, moved away, made a folder, given other permissions."""
LIST = "list"
"""Its name is printed, or handed to other programs."""
TOUCH = "touch"
"""Read or written: what the program does with it isn't known."""


class Only:
    """Which entries of a tree a program reaches. Without more it is every one."""

    __slots__ = ()

    def reaches(self, path: tuple[str, ...], folder: bool) -> bool:
        """May the entry be reached? `path`: its names below the top; `folder`: it is one."""
        return True

    def start(self, base: str, home: str) -> None:
        """From here on the program is taken to run in `base`."""

    def enters(self, path: tuple[str, ...]) -> bool:
        """May what is in this folder be reached?"""
        return True

    def can_be_named(self, glob: str) -> bool:
        """May an entry be reached whose name the glob stands for?"""
        return True

    def names(self) -> list[Word]:
        """The words that say by their names what is reached, whether it is there or not."""
        return []


class FileUse:
    """One file that is read, written or changed.

    `word`: its path; None when the command doesn't show it. `reason`: by what, in few words.
    `folder`: where a relative path starts, when not at the working directory. `tree`: with all
    that is below. `sure`: it is a file for certain; else it may as well be another kind of word.
    `inside`: the word is code, which may name files. `only`: what of a tree may be reached, all of
    it when None. `made`: an option says that it is made, so that it need not be there.
    """

    __slots__ = ("folder", "inside", "kind", "made", "only", "reason", "sure", "tree", "word")

    def __init__(self, kind: str, word: Word | None, reason: str) -> None:
        self.kind = kind
        self.word = word
        self.reason = reason
        self.folder: Word | None = None
        self.tree = False
        self.sure = True
        self.inside = False
        self.only: Only | None = None
        self.made = False

    def within(self, folder: Word | None) -> "FileUse":
        self.folder = folder
        return self

    def unsure(self) -> "FileUse":
        self.sure = False
        return self

    def whole(self) -> "FileUse":
        self.tree = True
        return self


def code_use(word: Word, name: str) -> FileUse:
    """Code of another language, which may name files."""
    _, writes = code_files(known(word))
    use = FileUse(WRITE if writes else TOUCH, word, f"{name} code")
    use.inside = True
    return use


def named(path: str, near: Word) -> Word:
    """A path that stands within a word. What is no known text in it stays unknown."""
    if HOLE not in path:
        return Word(path, near.start, near.end, True)
    parts = []
    for index, piece in enumerate(path.split(HOLE)):
        if index:
            parts.append(Part("variable", "?", near.start, near.end, True))
        if piece:
            parts.append(Part(TEXT, piece, near.start, near.end, True))
    return Word(None, near.start, near.end, True, tuple(parts))
