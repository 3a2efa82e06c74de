"""In which folders a command may run, and what its words may then be the path of."""

from barry_cli.policy.ruling.operands import HOLE
from barry_cli.policy.ruling.paths import Disk, exists, expand
from barry_cli.policy.ruling.patterns import segment_matches
from barry_cli.policy.ruling.placed import placed
from barry_cli.policy.ruling.programs.call import Call, Found, Scope
from barry_cli.policy.ruling.shell.nodes import PLACES
from barry_cli.policy.ruling.shell.reading import GLOB, TEXT, TILDE, VARIABLE, Command, Word

MOST = 8  # folders a command may be in
MOST_MOVES = 8  # of one line; behind more a command may be anywhere
MOST_NAMES = 4096  # that a glob is expanded to
MOVES = frozenset(("cd", "pushd", "popd", "chdir"))
ELSEWHERE = ("CDPATH", "cdable_vars")  # in a line: `cd` may go to other folders than it names
NEAR, FAR = 64, 4096  # characters that are looked through for operators
OWN_PROCESS = frozenset(("(", "$(", "`", "<(", ">(", "coproc"))
SAME_SHELL = frozenset(("eval", "source", ".", "trap"))


PLACERS = frozenset(
    """bwrap chroot docker env git just login machinectl make mise nerdctl npm nsenter parallel pdm
    pixi pnpm podman poetry runuser start-stop-daemon su sudo systemd-run tmux unshare uv watchexec
    yarn""".split()
)
"""Programs that may run another one in another folder."""

PRINTED: dict[str, str] = {
    **dict.fromkeys(("$(pwd)", "`pwd`", "$(pwd -P)", "$(pwd -L)", "`pwd -P`"), "here"),
    **dict.fromkeys(("${PWD%/*}", '$(dirname "$PWD")', '$(dirname "$(pwd)")'), "above"),
    **dict.fromkeys(("$(dirname $PWD)", "$(dirname $(pwd))", "`dirname $PWD`"), "above"),
    **dict.fromkeys(("$(git rev-parse --show-toplevel)",), "top"),
    **dict.fromkeys(("`git rev-parse --show-toplevel`",), "top"),
    **dict.fromkeys(("$(git rev-parse --show-toplevel 2>/dev/null)",), "top"),
}
"""Parts of words that stand for a folder which is known all the same."""

Steps = tuple[tuple[str | None, bool | None], ...]
"""Moves, each with whether it is certain; None for that of a program that runs another."""


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

    def placed(self, to: str | None, home: str) -> "Situation":
        """Where a program is run by another that moves there first."""
        there = self.moved(to, True, home)
        if to is not None:
            there.folders = there.sure
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

    __slots__ = (
        "_cwd",
        "_disk",
        "_home",
        "_made",
        "_moves",
        "_piped",
        "_placed",
        "_placers",
        "_text",
        "home_moved",
    )

    def __init__(self, found: Found, cwd: str, home: str, disk: Disk) -> None:
        self._home = home
        self._cwd = cwd
        self._disk = disk
        self._text = found.text
        self._placed: dict[tuple[int, int], list[str | None]] = {}
        names = {call.name for call in found.calls}
        moves = [] if MOVES.isdisjoint(names) else [c for c in found.calls if c.name in MOVES]
        self._placers = not PLACERS.isdisjoint(names)
        self._made: dict[Steps, Situation] = {(): Situation(cwd)}
        self._moves = [
            Move(call, _shell_of(call.command, call.scope), self._goal(call, cwd, disk))
            for call in moves[: MOST_MOVES + 1]
        ]
        self._piped: set[int] = set()
        if self._moves:
            for reading, _ in found.readings:
                for command in reading.commands:
                    self._piped.update(map(id, command.piped_from))
        # A tilde is then no longer the home that the policy knows.
        self.home_moved = "HOME=" in found.text or "PWD=" in found.text

    def at(self, command: Command, scope: Scope, start: int, call: Call | None = None) -> Situation:
        """Where a command runs that stands at `start` in the line, or one that others run there."""
        here = self._made[()]
        goes = self._goes(call or scope.host) if self._placers else []
        if not self._moves and not goes:
            return here
        around = _shells_around(command, scope)
        steps: Steps = ()
        for index, move in enumerate(self._moves):
            if move.call.start >= start or move.shell not in around:
                continue
            while goes and goes[0][0] <= move.call.start:
                here, steps = self._go(here, steps, goes.pop(0)[1])
            to = move.to if index < MOST_MOVES else None
            surely = self._must(move, start, here)
            steps = (*steps, (to, surely))
            found = self._made.get(steps)
            if found is None:
                found = self._made[steps] = here.moved(to, surely, self._home)
            here = found
        for _, to in goes:
            here, steps = self._go(here, steps, to)
        return here

    def _go(self, here: Situation, steps: "Steps", to: str | None) -> "tuple[Situation, Steps]":
        steps = (*steps, (to, None))
        found = self._made.get(steps)
        if found is None:
            found = self._made[steps] = here.placed(to, self._home)
        return found, steps

    def _goes(self, call: Call | None) -> list[tuple[int, str | None]]:
        """Where the programs around a call move to, the outermost first, and where they stand."""
        found: list[tuple[int, str | None]] = []
        while call is not None and call.outer is not None:
            outer = call.outer
            if outer.name in PLACERS:
                for to in reversed(self._places(outer, call)):
                    found.insert(0, (outer.start, to))
            call = outer
        return found

    def _places(self, outer: Call, call: Call) -> list[str | None]:
        found = self._placed.get((id(outer), id(call)))
        if found is None:
            found = []
            for word in placed(outer, call):
                texts = plain_paths(word, self._cwd, self._home, self._disk) if word else []
                found.append(texts[0] if len(texts) == 1 else None)
            self._placed[id(outer), id(call)] = found
        return found

    def _goal(self, call: Call, cwd: str, disk: Disk) -> str | None:
        if call.name == "popd" or any(sign in self._text for sign in ELSEWHERE):
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
    text = glob_of(word, cwd, home)
    if not text:
        return []
    if not any(part.kind == GLOB for part in word.parts):
        return [_plain(text)]
    return expanded(text, cwd, home, disk)


def glob_of(word: Word, cwd: str, home: str) -> str:
    """The word as a glob; "" when more of it is unknown than which names it stands for."""
    pieces: list[str] = []
    for part in word.parts:
        if part.kind == TEXT:
            pieces.append(_escaped(part.text))
        elif part.kind == TILDE:
            pieces.append(part.text)
        elif part.kind == GLOB and part.text[:1] == "(" and pieces:
            # An extended pattern, whose sign stands in front: anything, so as to miss nothing.
            pieces[-1] = pieces[-1][:-1] + "*"
        elif part.kind == GLOB:
            pieces.append(part.text)
        elif part.kind == VARIABLE and part.text in PLACES:
            pieces.append(_escaped(home if part.name == "HOME" else cwd))
        elif part.text in PRINTED:
            pieces.append(_escaped(_printed(part.text, cwd)))
        else:
            return ""
    return "".join(pieces)


def _printed(text: str, cwd: str) -> str:
    """The folder that such a substitution stands for."""
    kind = PRINTED[text]
    folder = cwd
    if kind == "top":
        while folder and not exists(f"{folder}/.git"):
            folder = folder.rpartition("/")[0]
        return folder or cwd
    return cwd.rpartition("/")[0] or "/" if kind == "above" else cwd


def partly_known(word: Word, cwd: str, home: str) -> tuple[str, ...]:
    """The segments of a path of which something is unknown, with HOLE for that."""
    pieces: list[str] = []
    for part in word.parts:
        if part.kind == TEXT:
            pieces.append(part.text)
        elif part.kind == TILDE:
            pieces.append(home if part.text == "~" else HOLE)
        elif part.kind == VARIABLE and part.text in PLACES:
            pieces.append(home if part.name == "HOME" else cwd)
        elif part.text in PRINTED:
            pieces.append(_printed(part.text, cwd))
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
            names = disk.names(folder or "/")
            # A long pattern takes as long as many names.
            disk.names_seen += len(names) * (len(segment) // 256)
            for name in names if not disk.exhausted else ():
                if name[0] == "." and segment[0] != "." and not disk.dotted:
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
