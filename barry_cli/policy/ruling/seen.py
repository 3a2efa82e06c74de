"""Where a use of a file stands, and in which folders it takes place."""

from barry_cli.policy.ruling.file_use import FileUse
from barry_cli.policy.ruling.paths import Disk, expand
from barry_cli.policy.ruling.shell.reading import Word
from barry_cli.policy.ruling.situation import Situation, plain_paths


class Seen:
    """A use of a file, where it stands in the line, and where the command runs."""

    __slots__ = ("end", "situation", "start", "use")

    def __init__(self, use: FileUse, start: int, end: int, situation: Situation) -> None:
        self.use = use
        self.start = start
        self.end = end
        self.situation = situation

    @property
    def key(self) -> object:
        """Two with the same key come under the same rules."""
        use = self.use
        only = id(use.only) if use.only is not None else 0
        kind = use.kind, use.tree, only, use.sure, use.inside
        return _shown(use.word), _shown(use.folder), kind, id(self.situation)


FEW = 16  # of them are looked at one by one


def each_once(found: list[Seen]) -> list[Seen]:
    """Those that differ: a line may name one file a thousand times."""
    if len(found) <= FEW:
        return found
    return list({seen.key: seen for seen in reversed(found)}.values())[::-1]


def bases(use: FileUse, folders: list[str], home: str, disk: Disk) -> list[str]:
    """The folders from which the path of a use may be meant."""
    if use.folder is None:
        return folders
    return [
        expand(path, folder, home)
        for folder in folders
        for path in plain_paths(use.folder, folder, home, disk)
    ]


def _shown(word: Word | None) -> object:
    """What two words that lead to the same file have in common."""
    if word is None or word.text is not None:
        return word.text if word is not None else None
    return tuple([(part.kind, part.text) for part in word.parts])
