"""One use of a file."""

from barry_cli.policy.ruling.operands import HOLE, known
from barry_cli.policy.ruling.scripts import code_files
from barry_cli.policy.ruling.shell.reading import TEXT, Part, Word

READ = "read"
WRITE = "write"
"""Made, or its content replaced."""
CHANGE = "change"
"""Removed, moved away, made a folder, given other permissions."""


class FileUse:
    """One file that is read, written or changed.

    `word`: its path; None when the command doesn't show it. `reason`: by what, in few words.
    `folder`: where a relative path starts, when not at the working directory. `tree`: with all
    that is below. `sure`: it is a file for certain; else it may as well be another kind of word.
    `inside`: the word is code, which may name files.
    """

    __slots__ = ("folder", "inside", "kind", "reason", "sure", "tree", "word")

    def __init__(self, kind: str, word: Word | None, reason: str) -> None:
        self.kind = kind
        self.word = word
        self.reason = reason
        self.folder: Word | None = None
        self.tree = False
        self.sure = True
        self.inside = False

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
    use = FileUse(WRITE if writes else READ, word, f"{name} code")
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
