"""find: which files its tests let through, and what it does to them."""

from barry_cli.policy.ruling.file_use import CHANGE, LIST, WRITE, FileUse, Only
from barry_cli.policy.ruling.operands import spelled
from barry_cli.policy.ruling.paths import exists, holds_file
from barry_cli.policy.ruling.patterns import segment_matches
from barry_cli.policy.ruling.shell.reading import Word

FRONT = frozenset(("-H", "-L", "-P"))
OPENS = frozenset(("(", ")", "!", ","))
MADE = frozenset(("-fprint", "-fprintf", "-fls", "-fprint0"))
RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
ACTS = frozenset(("-print", "-print0", "-ls", "-delete", "-printf", *MADE, *RUNS))
NAMES = frozenset(("-name", "-iname"))
PATHS = frozenset(("-path", "-ipath", "-wholename", "-iwholename"))
ALONE = frozenset(
    """-empty -readable -writable -executable -nouser -nogroup -depth -d -mount -xdev -follow
    -daystart -noleaf -warn -nowarn -ignore_readdir_race -noignore_readdir_race -print -print0 -ls
    -delete -prune -quit -true -false -not -a -and -o -or -help -version""".split()
)


def find(name: str, words: list[Word]) -> list[FileUse]:
    """What find removes and writes, and the names that it hands on."""
    at = 0
    while at < len(words) and (words[at].text in FRONT or words[at].prefix[:2] in {"-O", "-D"}):
        at += 2 if words[at].text == "-D" else 1
    starts: list[Word] = []
    while at < len(words):
        text = words[at].prefix
        if text[:1] == "-" or text in OPENS:
            break
        starts.append(words[at])
        at += 1
    if not starts and words:
        starts = [Word(".", words[0].start, words[0].end, True)]
    tests = Expression(words[at:], [start.prefix for start in starts])
    found = [FileUse(WRITE, made, "find -fprint") for made in tests.made]
    for start in starts:
        for kind in (CHANGE, LIST) if tests.deletes else (LIST,):
            use = FileUse(kind, start, "find -delete" if kind == CHANGE else "find").whole()
            use.only = tests
            found.append(use)
    return found


class Part:
    """One test, or a sign with those on its sides. `text`: what a name or path must be like."""

    __slots__ = ("left", "right", "sign", "text")

    def __init__(
        self, sign: str, left: "Part | None" = None, right: "Part | None" = None, text: str = ""
    ) -> None:
        self.sign = sign
        self.left = left
        self.right = right
        self.text = text


class Expression(Only):
    """find's expression: each test holds for an entry, doesn't, or may (None).

    `made`: files that it writes. `deletes`: it removes what it finds.
    """

    __slots__ = (
        "_acts",
        "_base",
        "_folders_alone",
        "_hit",
        "_pruned",
        "_reading",
        "_starts",
        "_sure",
        "_tree",
        "deletes",
        "made",
    )

    def __init__(self, words: list[Word], starts: list[str]) -> None:
        self._reading = reading = _Reading(words)
        self._tree = reading.expression(True)
        self._starts = [start.rstrip("/") for start in starts]
        self._acts = reading.acts
        self._base = ""
        self._folders_alone = _asks_for_folders(self._tree)
        self._hit = self._pruned = False
        self._sure = True
        self.made = reading.made
        self.deletes = reading.deletes

    def start(self, base: str, home: str) -> None:
        self._base = base

    def reaches(self, path: tuple[str, ...], folder: bool) -> bool:
        """Some action may be carried out on the entry."""
        if not self._reading.least <= len(path) <= self._reading.most:
            return False
        if self.deletes and folder and self._folders_alone and self._stays(path):
            return False
        held = self._ask(path, folder)
        return self._hit if self._acts else held is not False

    def enters(self, path: tuple[str, ...]) -> bool:
        """It isn't pruned."""
        if len(path) < self._reading.least:
            return True
        self._ask(path, True)
        return not self._pruned and len(path) < self._reading.most

    def names(self) -> list[Word]:
        """The names and paths that are asked for."""
        return self._reading.names

    def _stays(self, path: tuple[str, ...]) -> bool:
        """Wherever the folder is, a file is in it, so that it can't be removed by itself."""
        tops = [each if each[:1] == "/" else f"{self._base}/{each}" for each in self._starts]
        found = [each for each in (f"{top}/{'/'.join(path)}" for top in tops) if exists(each)]
        return bool(found) and "" not in self._starts and all(map(holds_file, found))

    def _ask(self, path: tuple[str, ...], folder: bool) -> bool | None:
        self._hit = self._pruned = False
        self._sure = True
        return self._holds(self._tree, path, folder)

    def _holds(self, test: Part, path: tuple[str, ...], folder: bool) -> bool | None:
        sign = test.sign
        if test.left is not None and test.right is not None:
            return self._two(sign, test.left, test.right, path, folder)
        if test.left is not None:
            held = self._holds(test.left, path, folder)
            return None if held is None else not held
        if sign == "act":
            self._hit = True
        elif sign == "-prune":
            self._pruned = self._pruned or self._sure
        elif sign == "-type":
            return folder == (test.text == "d") if test.text in {"d", "f"} else None
        elif sign in NAMES:
            return _fits(test.text, path[-1], sign[:2] == "-i")
        elif sign in PATHS:
            whole = [f"{start}/{'/'.join(path)}" for start in self._starts]
            return any(_fits(test.text, each, sign[:2] == "-i") for each in whole)
        return None if sign == "maybe" else sign != "-false"

    def _two(
        self, sign: str, left: Part, right: Part, path: tuple[str, ...], folder: bool
    ) -> bool | None:
        sure = self._sure
        first = self._holds(left, path, folder)
        if sign == ",":
            # find may well look at the second one first.
            self._sure = False
            second = self._holds(right, path, folder)
            self._sure = sure
            return second if first is second else None
        ends = sign == "-o"
        if first is ends:
            return ends
        self._sure = sure and first is not None
        second = self._holds(right, path, folder)
        self._sure = sure
        return None if first is None and second is not ends else second


def _asks_for_folders(test: Part) -> bool:
    """Nothing but a folder can pass."""
    if test.sign == "-a" and test.left is not None and test.right is not None:
        return _asks_for_folders(test.left) or _asks_for_folders(test.right)
    return test.sign == "-type" and test.text == "d"


class _Reading:
    """Reads an expression. `names`: those that it asks for; `least`, `most`: its depths."""

    __slots__ = ("acts", "at", "deletes", "least", "made", "most", "names", "words")

    def __init__(self, words: list[Word]) -> None:
        self.words = words
        self.at = 0
        self.acts = self.deletes = False
        self.made: list[Word] = []
        self.names: list[Word] = []
        self.least, self.most = 0, 1 << 30

    def expression(self, plain: bool) -> Part:
        found = self._either(plain)
        while self._next() == ",":
            self.at += 1
            found = Part(",", found, self._either(plain))
        return found

    def _either(self, plain: bool) -> Part:
        found = self._both(plain)
        while self._next() in {"-o", "-or"}:
            self.at += 1
            found = Part("-o", found, self._both(plain))
        return found

    def _both(self, plain: bool) -> Part:
        found = Part("-true")
        while self._next() not in {"", ")", ",", "-o", "-or"}:
            found = Part("-a", found, self._one(plain))
        return found

    def _one(self, plain: bool) -> Part:
        text = self._next()
        self.at += 1
        if text in {"!", "-not"} and self._next():
            return Part("!", self._one(not plain))
        if text == "(":
            inside = self.expression(plain)
            self.at += 1
            return inside
        if text in {"-a", "-and"}:
            return Part("-true")
        if text in RUNS:
            while self._next() not in {"", ";"} and not self._ends_batch():
                self.at += 1
            self.at += 1
        elif text not in ALONE:
            return self._valued(text, plain)
        self.deletes = self.deletes or text == "-delete"
        if text in ACTS:
            self.acts = True
            return Part("act")
        return Part(text if text in {"-prune", "-true", "-false"} else "maybe")

    def _valued(self, text: str, plain: bool) -> Part:
        if self.at >= len(self.words):
            return Part("maybe")
        word = self.words[self.at]
        self.at += 1
        if text in ACTS:
            self.acts = True
            if text in MADE:
                self.made.append(word)
            self.at += text == "-fprintf"
            return Part("act")
        value = spelled(word)
        if text in NAMES or text in PATHS:
            if plain:
                asked = word if value is None else Word(value, word.start, word.end, True)
                self.names.append(asked if text[:2] != "-i" else _lower(asked))
            return Part("maybe" if value is None else text, text=value or "")
        if value is not None and text in {"-maxdepth", "-mindepth"} and value[:6].isdecimal():
            if text == "-maxdepth":
                self.most = int(value[:6])
            else:
                self.least = int(value[:6])
            return Part("-true")
        return Part("-type", text=value) if value and text == "-type" else Part("maybe")

    def _next(self) -> str:
        """The next word, "?" where it isn't known, "" at the end."""
        return (self.words[self.at].text or "?") if self.at < len(self.words) else ""

    def _ends_batch(self) -> bool:
        return self.words[self.at].text == "+" and self.words[self.at - 1].text == "{}"


def _fits(pattern: str, text: str, folds: bool) -> bool:
    if folds:
        pattern, text = pattern.lower(), text.lower()
    return segment_matches(pattern, text)


def _lower(word: Word) -> Word:
    return word if word.text is None else Word(word.text.lower(), word.start, word.end, True)
