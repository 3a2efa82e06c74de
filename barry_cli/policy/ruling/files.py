"""Which files a command line reads and writes, and the rules that they come under."""

from barry_cli.policy.ruling.file_use import READ, WRITE, FileUse, code_use
from barry_cli.policy.ruling.matching import (
    every_match,
    first_match,
    inner,
    likely,
    may_become,
)
from barry_cli.policy.ruling.operands import HOLE, known
from barry_cli.policy.ruling.patches import BEGIN, patched
from barry_cli.policy.ruling.paths import Disk, exists, expand, fold, spots
from barry_cli.policy.ruling.patterns import Pattern
from barry_cli.policy.ruling.programs.call import Call, Found, Scope
from barry_cli.policy.ruling.programs.code import language
from barry_cli.policy.ruling.programs.feeds import SHOWN, fed
from barry_cli.policy.ruling.programs.positional import resolved
from barry_cli.policy.ruling.scripts import code_files
from barry_cli.policy.ruling.shell.reading import (
    PROCESS_IN,
    PROCESS_OUT,
    Command,
    Redirect,
    Word,
)
from barry_cli.policy.ruling.situation import Situation, Situations, partly_known, plain_paths
from barry_cli.policy.ruling.uses import is_stream, uses

BREAKS = dict.fromkeys(map(ord, "\t\n;&|()<>='\"`{},:@$*"), " ")


class Seen:
    """A use of a file, where it stands in the line, and where the command runs."""

    __slots__ = ("end", "key", "situation", "start", "use")

    def __init__(self, use: FileUse, start: int, end: int, situation: Situation) -> None:
        self.use = use
        shown = _shown(use.word), _shown(use.folder)
        self.key = (*shown, use.kind, use.tree, use.sure, use.inside, id(situation))
        self.start = start
        self.end = end
        self.situation = situation


class Files:
    """Every use of a file that a line shows, in the order in which they stand there."""

    __slots__ = ("_cwd", "_disk", "_found", "_home", "_situations", "_text", "seen")

    def __init__(self, found: Found, cwd: str, home: str) -> None:
        self._cwd = cwd
        self._home = home
        self._text = found.text
        self._disk = Disk()
        self._found: dict[str, tuple[tuple[str, ...], ...]] = {}
        self._situations = Situations(found, cwd, home, self._disk)
        self.seen: list[Seen] = []
        for reading, scope in found.readings:
            commands = {id(redirect): at for at in reading.commands for redirect in at.redirects}
            for redirect in reading.redirects:
                self._redirect(redirect, commands.get(id(redirect)), scope)
        for call in found.calls:
            self._call(call)
        self.seen.sort(key=_start)

    def _add(self, use: FileUse, command: Command, scope: Scope, near: Word) -> None:
        word = use.word if use.word is not None and use.word.end else near
        start, end = scope.place.span(word.start, word.end)
        self.seen.append(Seen(use, start, end, self._situations.at(command, scope, start)))

    def _redirect(self, redirect: Redirect, command: Command | None, scope: Scope) -> None:
        target = redirect.file
        if target is None or is_stream(target):
            return
        kind = WRITE if redirect.writes else READ
        for word in resolved([target], scope):
            use = FileUse(kind, word, f"{redirect.op} {_shape(word)}")
            at = command if command is not None else _nowhere(redirect)
            self._add(use, at, scope, target)

    def _call(self, call: Call) -> None:
        found = uses(call.name, call.words[1:])
        program = call.words[0]
        if "/" in known(program):
            found.append(FileUse(READ, program, call.name).unsure())
        if language(call.name) or call.name in {"patch", "git"} or BEGIN in self._text:
            found.extend(_from_input(call))
        for use in found:
            self._add(use, call.command, call.scope, program)

    def denied_by(self, patterns: tuple[Pattern, ...], kinds: frozenset[str]) -> "Hit | None":
        """The first use of one of these kinds that a pattern matches, or may match."""
        unknown: Seen | None = None
        known_free: set[object] = set()
        for seen in self.seen:
            if seen.use.kind not in kinds or seen.key in known_free:
                continue
            known_free.add(seen.key)
            hit = self._denied(seen, patterns)
            if hit is not None:
                return hit
            if unknown is None and seen.use.sure and _is_unknown(seen.use):
                unknown = seen
        if unknown is not None:
            # What a variable holds stands somewhere in the line, if it stands there at all.
            written = self._named_anywhere(patterns, unknown)
            if written is not None:
                return Hit(written, unknown, True)
        return None

    def written(self, rule: str) -> "Hit | None":
        """The first file that is made, changed or removed, as what comes under the rule."""
        for seen in self.seen:
            if seen.use.sure and seen.use.kind != READ:
                return Hit(rule, seen, False)
        return None

    def not_allowed(self, patterns: tuple[Pattern, ...]) -> "Hit | None":
        """The first use that the patterns don't allow; `unsure` when that can't be known."""
        known_free: set[object] = set()
        for seen in self.seen:
            use = seen.use
            if not use.sure or seen.key in known_free:
                continue
            known_free.add(seen.key)
            if use.inside:
                if use.kind == WRITE and not self._code_allowed(seen, patterns):
                    return Hit("", seen, True)
                continue
            allowed = self._allowed(seen, patterns)
            if not allowed:
                return Hit("", seen, allowed is None)
        return None

    def _denied(self, seen: Seen, patterns: tuple[Pattern, ...]) -> "Hit | None":
        use = seen.use
        word = use.word
        if word is None:
            return None
        if use.inside:
            written = self._names_denied(code_files(known(word))[0], seen.situation, patterns)
            return Hit(written, seen, False) if written is not None else None
        for base in self._bases(use, seen.situation.folders):
            paths = plain_paths(word, base, self._home, self._disk)
            for path in paths:
                if not use.sure and not _looks_like_path(path, base):
                    continue
                places = self._spots(path, base)
                written = first_match(patterns, places)
                if written is None and use.tree:
                    written = _within(patterns, places)
                if written is not None:
                    return Hit(written, seen, False)
            if not paths and word.parts:
                if self._disk.exhausted:
                    return Hit(patterns[0][0], seen, True)
                written = may_become(patterns, partly_known(word, base, self._home))
                if written is not None:
                    return Hit(written, seen, True)
        if seen.situation.lost and use.sure and use.folder is None:
            written = _lost(word, patterns)
            return Hit(written, seen, True) if written is not None else None
        return None

    def _spots(self, path: str, base: str) -> tuple[tuple[str, ...], ...]:
        key = path if path[:1] == "/" else f"{base}\0{path}"
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = spots(path, base, self._home, self._disk)
        return found

    def _bases(self, use: FileUse, folders: list[str]) -> list[str]:
        if use.folder is None:
            return folders
        home = self._home
        return [
            expand(path, folder, home)
            for folder in folders
            for path in plain_paths(use.folder, folder, home, self._disk)
        ]

    def _named_anywhere(self, patterns: tuple[Pattern, ...], seen: Seen) -> str | None:
        needles = likely(patterns).needles_in(fold(self._text))
        if not needles:
            return None
        word = seen.use.word
        folder = word.prefix.rpartition("/")[0] if word is not None else ""
        for token in dict.fromkeys(self._text.translate(BREAKS).split()):
            named = fold(token)
            if token[:1] == "-" or not any(each in named for each in needles):
                continue
            names = [f"{folder}/{token}"] if folder else []
            if _looks_like_path(token, self._cwd):
                names.append(token)
            for name in names:
                written = first_match(patterns, self._spots(name, self._cwd))
                if written is not None:
                    return written
        return None

    def _names_denied(
        self, names: list[str], situation: Situation, patterns: tuple[Pattern, ...]
    ) -> str | None:
        for folder in situation.folders:
            for name in names:
                if _looks_like_path(name, folder):
                    written = first_match(patterns, self._spots(name, folder))
                    if written is not None:
                        return written
        return None

    def _allowed(self, seen: Seen, patterns: tuple[Pattern, ...]) -> bool | None:
        """None when it can't be known."""
        use = seen.use
        word = use.word
        bases = self._bases(use, seen.situation.sure)
        if not bases:
            return None
        for base in bases:
            if word is None:
                # Whatever is written there: all that the folder can hold must be allowed.
                if every_match(patterns, self._spots(f"{base}/\1/\1", base)) is None:
                    return None
                continue
            paths = plain_paths(word, base, self._home, self._disk)
            if not paths:
                # `src/$name` may lead out again.
                return None
            for path in paths:
                if path[:1] == "~" and self._situations.home_moved:
                    return None
                if path[:1] not in {"/", "~"} and seen.situation.lost:
                    return None
                if every_match(patterns, self._spots(path, base)) is None:
                    return False
        return True

    def _code_allowed(self, seen: Seen, patterns: tuple[Pattern, ...]) -> bool:
        word = seen.use.word
        names = code_files(known(word))[0] if word is not None else []
        folder = seen.situation.sure[0]
        paths = [name for name in names if "/" in name or exists(f"{folder}/{name}")]
        return bool(paths) and all(
            every_match(patterns, self._spots(path, folder)) is not None for path in paths
        )


class Hit:
    """A use that comes under `rule`. `unsure`: it may, as far as can be known."""

    __slots__ = ("rule", "seen", "unsure")

    def __init__(self, rule: str, seen: Seen, unsure: bool) -> None:
        self.rule = rule
        self.seen = seen
        self.unsure = unsure


def _shown(word: Word | None) -> object:
    """What two words that lead to the same file have in common."""
    if word is None or word.text is not None:
        return word.text if word is not None else None
    return tuple([(part.kind, part.text) for part in word.parts])


def _lost(word: Word, patterns: tuple[Pattern, ...]) -> str | None:
    """The command runs in a folder that can't be known."""
    text = known(word)
    if text[:1] in {"/", "~"}:
        return None
    return may_become(patterns, (HOLE, *(each for each in text.split("/") if each)))


def _is_unknown(use: FileUse) -> bool:
    """Only bash learns which file it is."""
    word = use.word
    if word is None or use.inside or word.text is not None:
        return False
    kinds = {part.kind for part in word.parts}
    return not kinds <= {PROCESS_IN, PROCESS_OUT} and HOLE in known(word)


def _start(seen: Seen) -> int:
    return seen.start


def _shape(word: Word) -> str:
    return "a file" if word.text is not None else "a file that only the shell knows"


def _nowhere(redirect: Redirect) -> Command:
    """A command in whose place a group's redirect is opened."""
    return Command(redirect.start, None)


def _looks_like_path(text: str, folder: str) -> bool:
    """A word that may be anything counts as a path when it is written like one, or is there."""
    if not text or len(text) > 4096:
        return False
    if ("/" in text or "." in text) and not any(char in text for char in " \t\n"):
        return True
    return exists(text if text[:1] == "/" else f"{folder}/{text}")


def _within(patterns: tuple[Pattern, ...], places: tuple[tuple[str, ...], ...]) -> str | None:
    """A pattern for something inside a folder that is gone through as a whole."""
    known_inside = inner(patterns)
    best = min([known_inside.starts.get(place, len(patterns)) for place in places])
    for name, index in known_inside.anywhere:
        if index >= best:
            break
        if any(exists("/".join(("", *place, name))) for place in places):
            best = index
    return patterns[best][0] if best < len(patterns) else None


def _from_input(call: Call) -> list[FileUse]:
    """What code or a patch in a program's input, or in its words, says."""
    shown = fed(call)
    found: list[FileUse] = []
    for word in shown.words if shown.kind == SHOWN else ():
        if language(call.name):
            found.append(code_use(word, call.name))
        elif call.name in {"patch", "git"} or BEGIN in known(word):
            found.extend(FileUse(WRITE, each, call.name) for each in patched(word))
    for word in call.words[1:]:
        if BEGIN in known(word):
            found.extend(FileUse(WRITE, each, call.name) for each in patched(word))
    return found
