"""In which folders a command may run, and what its words may then be the path of."""

from barry_cli.policy.ruling.operands import HOLE
from barry_cli.policy.ruling.paths import Disk, exists, expand
from barry_cli.policy.ruling.patterns import segment_matches
from barry_cli.policy.ruling.programs.call import Call, Found, Scope
from barry_cli.policy.ruling.shell.reading import GLOB, TEXT, TILDE, VARIABLE, Command, Word

MOST = 8  # folders a command may be in
MOST_MOVES = 8  # of one line; behind more a command may be anywhere
MOST_NAMES = 4096  # that a glob is expanded to
MOVES = frozenset(("cd", "pushd", "popd", "chdir"))
NEAR, FAR = 64, 4096  # characters that are looked through for operators
OWN_PROCESS = frozenset(("(", "$(", "`", "<(", ">(", "coproc"))
SAME_SHELL = frozenset(("eval", "source", ".", "trap"))


class Situation:
    """Where one command runs.

    `folders`: one of these, the first being where the line begins. `sure`: those it must be in,
    when what went before is taken at its word. `lost`: it may be anywhere.
    """

    __slots__ = ("folders", "lost", "sure")

    def __init__(self, folder: str) -> None:
        self.folders = [folder]
        self.sure = [folder]
        self.lost = False

    def moved(self, to: str | None, surely: bool, home: str) -> "Situation":
        """Where it is after a move: to a place that isn't known, or that may not be reached."""
        there = Situation("")
        there.folders, there.sure, there.lost = self.folders, self.sure, self.lost
        if to is None:
            there.lost = True
            return there
        arrived = [expand(to, folder, home) for folder in self.folders]
        there.folders = list(dict.fromkeys(self.folders + arrived))[:MOST]
        reached = [expand(to, folder, home) for folder in self.sure]
        there.sure = reached if surely else list(dict.fromkeys(self.sure + reached))[:MOST]
        return there


class Move:
    """A `cd`: `to` None when it can't be known."""

    __slots__ = ("call", "shell", "to")

    def __init__(self, call: Call, shell: object, to: str | None) -> None:
        self.call = call
        self.shell = shell
        self.to = to


class Situations:
    """The folders of every command of a line."""

    __slots__ = ("_home", "_made", "_moves", "_piped", "_text", "home_moved")

    def __init__(self, found: Found, cwd: str, home: str, disk: Disk) -> None:
        self._home = home
        self._text = found.text
        self._made: dict[tuple[tuple[str | None, bool], ...], Situation] = {(): Situation(cwd)}
        self._moves = [
            Move(call, _shell_of(call.command, call.scope), self._goal(call, cwd, disk))
            for call in [each for each in found.calls if each.name in MOVES][: MOST_MOVES + 1]
        ]
        self._piped: set[int] = set()
        if self._moves:
            for reading, _ in found.readings:
                for command in reading.commands:
                    self._piped.update(map(id, command.piped_from))
        # A tilde is then no longer the home that the policy knows.
        self.home_moved = "HOME=" in found.text

    def at(self, command: Command, scope: Scope, start: int) -> Situation:
        """Where a command runs that stands at `start` in the line."""
        if not self._moves:
            return self._made[()]
        around = _shells_around(command, scope)
        here = self._made[()]
        steps: tuple[tuple[str | None, bool], ...] = ()
        for index, move in enumerate(self._moves):
            if move.call.start >= start or move.shell not in around:
                continue
            to = move.to if index < MOST_MOVES else None
            steps = (*steps, (to, self._must(move, start, here)))
            found = self._made.get(steps)
            if found is None:
                found = self._made[steps] = here.moved(to, steps[-1][1], self._home)
            here = found
        return here

    def _goal(self, call: Call, cwd: str, disk: Disk) -> str | None:
        if call.name == "popd":
            return None
        words = [word for word in call.words[1:] if word.text is None or word.text[:1] != "-"]
        if any(word.text in {"-", "+"} for word in call.words[1:]):
            return None
        if not words:
            return self._home if call.name != "pushd" else None
        texts = plain_paths(words[0], cwd, self._home, disk)
        return texts[0] if len(words) == 1 and len(texts) == 1 else None

    def _must(self, move: Move, start: int, here: Situation) -> bool:
        """Whoever comes to `start` has come through the move, and it has worked."""
        call = move.call
        if id(call.command) in self._piped or call.command.piped_from:
            return False
        before = self._text[max(0, call.start - NEAR) : call.start].rstrip(" \t")
        if before[-1:] == "!" or before[-2:] == "||":
            return False
        between = self._text[call.end : start].replace("&&", "") if start - call.end < FAR else ";"
        if not any(sign in between for sign in ";|&\n()"):
            return True
        behind = self._text[call.end : call.end + NEAR].lstrip(" \t")
        goes_on = behind[:1] in {";", "\n"} or behind[:2] == "&&"
        plain = move.call.command.group is None or move.call.command.group.kind == "("
        if not plain or not goes_on or before[-2:] == "&&" or move.to is None:
            return False
        return all(exists(expand(move.to, folder, self._home)) for folder in here.sure)


def _shell_of(command: Command, scope: Scope) -> object:
    """The process that a command runs in: what encloses it, or the shell of the line."""
    group = command.group
    while group is not None:
        if group.kind in OWN_PROCESS:
            return group
        group = group.outer
    host = scope.host
    if host is None:
        return None
    if host.name in SAME_SHELL or host.scope.place is scope.place:
        return _shell_of(host.command, host.scope)
    return host


def _shells_around(command: Command, scope: Scope) -> list[object]:
    """The process that a command runs in, and those it was started from."""
    found: list[object] = [None]
    at, within = command, scope
    while True:
        group = at.group
        while group is not None:
            if group.kind in OWN_PROCESS:
                found.append(group)
            group = group.outer
        host = within.host
        if host is None:
            return found
        found.append(host)
        at, within = host.command, host.scope


def plain_paths(word: Word, cwd: str, home: str, disk: Disk) -> list[str]:
    """The paths that a word stands for; none when that can't be known.

    `$HOME` and `$PWD` are taken for what they are when the line begins.
    """
    path = word.path
    if path is not None:
        return [path]
    pieces: list[str] = []
    globs = False
    for part in word.parts:
        if part.kind in {TEXT, TILDE}:
            pieces.append(_escaped(part.text) if part.kind == TEXT else part.text)
        elif part.kind == GLOB:
            pieces.append(part.text)
            globs = True
        elif part.kind == VARIABLE and part.text in VALUES:
            pieces.append(home if part.name == "HOME" else cwd)
        else:
            return []
    text = "".join(pieces)
    if not globs:
        return [_plain(text)]
    return expanded(text, cwd, home, disk)


VALUES = frozenset(("$HOME", "${HOME}", "$PWD", "${PWD}"))


def partly_known(word: Word, cwd: str, home: str) -> tuple[str, ...]:
    """The segments of a path of which something is unknown, with HOLE for that."""
    pieces: list[str] = []
    for part in word.parts:
        if part.kind == TEXT:
            pieces.append(part.text)
        elif part.kind == TILDE:
            pieces.append(home if part.text == "~" else HOLE)
        elif part.kind == VARIABLE and part.text in VALUES:
            pieces.append(home if part.name == "HOME" else cwd)
        else:
            pieces.append(HOLE)
    text = "".join(pieces)
    while HOLE + HOLE in text:
        text = text.replace(HOLE + HOLE, HOLE)
    if text[:1] not in {"/", HOLE}:
        text = f"{cwd}/{text}"
    found: list[str] = []
    for segment in text.split("/"):
        if segment == ".." and found and HOLE not in found[-1]:
            found.pop()
        elif segment and segment != ".":
            found.append(segment)
    return tuple(found)


def expanded(pattern: str, cwd: str, home: str, disk: Disk) -> list[str]:
    """The paths that match a glob now, as bash finds them; none also when there are too many."""
    absolute = expand(pattern, cwd, home)
    found = [""]
    for segment in absolute.split("/"):
        if not segment:
            continue
        wild = not frozenset("*?[").isdisjoint(segment)
        following: list[str] = []
        for folder in found:
            if not wild:
                following.append(f"{folder}/{_plain(segment)}")
                continue
            for name in disk.names(folder or "/"):
                if name[0] == "." and segment[0] != ".":
                    continue
                if segment_matches(segment, name):
                    following.append(f"{folder}/{name}")
            if len(following) > MOST_NAMES or disk.exhausted:
                return []
        found = following
    return [path for path in found if exists(path)]


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if char in "*?[\\" else char for char in text)


def _plain(text: str) -> str:
    if "\\" not in text:
        return text
    return text.replace("\\\\", "\0").replace("\\", "").replace("\0", "\\")
