"""Which files a command line reads and writes, and the rules that they come under."""

from barry_cli.policy.ruling.file_use import CHANGE, LIST, READ, TOUCH, WRITE, FileUse
from barry_cli.policy.ruling.inputs import from_input, printed, reads_input
from barry_cli.policy.ruling.matching import every_match, first_match, may_become
from barry_cli.policy.ruling.operands import HOLE, known
from barry_cli.policy.ruling.patches import BEGIN
from barry_cli.policy.ruling.paths import Disk, exists, expand, spots
from barry_cli.policy.ruling.patterns import Pattern
from barry_cli.policy.ruling.programs.call import PLACEHOLDER, Call, Found, Scope
from barry_cli.policy.ruling.programs.positional import resolved
from barry_cli.policy.ruling.scripts import code_files
from barry_cli.policy.ruling.seen import Seen, bases, each_once
from barry_cli.policy.ruling.shell.nodes import PLACES
from barry_cli.policy.ruling.shell.reading import (
    PROCESS_IN,
    PROCESS_OUT,
    TILDE,
    Command,
    Redirect,
    Word,
)
from barry_cli.policy.ruling.situation import (
    Situation,
    Situations,
    glob_of,
    partly_known,
    plain_paths,
)
from barry_cli.policy.ruling.uses import is_lister, is_stream, uses

UNKNOWN = "which file it is can't be known"
MORE = "it holds more than is looked through"


class Files:
    """Every use of a file that a line shows, in the order in which they stand there."""

    __slots__ = (
        "_cwd",
        "_disk",
        "_found",
        "_home",
        "_line",
        "_listers",
        "_patches",
        "_situations",
        "_starred",
        "seen",
    )

    def __init__(self, found: Found, cwd: str, home: str) -> None:
        self._cwd = cwd
        self._home = home
        self._line = found
        self._disk = Disk()
        self._patches = BEGIN in found.text
        self._starred = "globstar" in found.text
        self._disk.dotted = "dotglob" in found.text or "GLOBIGNORE" in found.text
        self._found: dict[str, tuple[tuple[str, ...], ...]] = {}
        self._situations = Situations(found, cwd, home, self._disk)
        self.seen: list[Seen] = []
        # What they name matters where a word isn't known, and nowhere else.
        self._listers: list[Call] = []
        for reading, scope in found.readings:
            if not reading.redirects:
                continue
            commands = {id(redirect): at for at in reading.commands for redirect in at.redirects}
            for redirect in reading.redirects:
                self._redirect(redirect, commands.get(id(redirect)), scope)
        for call in found.calls:
            self._call(call)
        self.seen.sort(key=_start)

    def _seen(
        self, use: FileUse, command: Command, scope: Scope, near: Word, call: Call | None = None
    ) -> Seen:
        word = use.word if use.word is not None and use.word.end else near
        start, end = scope.place.span(word.start, word.end)
        where = self._situations.at(command, scope, start, call)
        return Seen(use, start, end, where)

    def _redirect(self, redirect: Redirect, command: Command | None, scope: Scope) -> None:
        target = redirect.file
        if target is None or is_stream(target):
            return
        kind = WRITE if redirect.writes else READ
        for word in resolved([target], scope):
            use = FileUse(kind, word, f"{redirect.op} {_shape(word)}")
            at = command if command is not None else _nowhere(redirect)
            self.seen.append(self._seen(use, at, scope, target))

    def _call(self, call: Call) -> None:
        if is_lister(call):
            self._listers.append(call)
            return
        self._used(call, self.seen)

    def _used(self, call: Call, seen: list[Seen]) -> None:
        found = uses(call.name, printed(call))
        program = call.words[0]
        if "/" in known(program):
            found.append(FileUse(READ, program, call.name).unsure())
        if call.command.assignments or call.name in _SETTERS:
            from barry_cli.policy.ruling.file_variables import variables

            found += variables(call)
        if self._patches or reads_input(call.name):
            found.extend(from_input(call))
        command, scope = call.command, call.scope
        seen += [self._seen(use, command, scope, program, call) for use in found]

    def denied_by(self, patterns: tuple[Pattern, ...], kinds: frozenset[str]) -> "Hit | None":
        """The first use of one of these kinds that a pattern matches, or may match."""
        unknown: Seen | None = None
        for seen in each_once(self.seen):
            if seen.use.kind not in kinds:
                continue
            hit = self._denied(seen, patterns, READ in kinds)
            if hit is not None:
                return hit
            word = seen.use.word
            if unknown is not None or word is None or not word.parts:
                continue
            if _is_unknown(seen.use) or self._is_moved(seen.use):
                unknown = seen
        if unknown is not None:
            from barry_cli.policy.ruling.held import Line, may_hold

            # What a variable holds stands somewhere in the line, if it stands there at all.
            seen_here = [*self.seen]
            for call in self._listers:
                self._used(call, seen_here)
            line = Line(self._line, self._cwd, self._home, self._disk, seen_here)
            written = may_hold(line, unknown.use.word, patterns, unknown.use.kind == READ)
            if written is not None:
                return Hit(written, unknown, True)
        return None

    def _is_moved(self, use: FileUse) -> bool:
        """It stands for a place that the line gives another value."""
        parts = use.word.parts if use.word is not None and self._situations.home_moved else ()
        return use.sure and any(part.kind == TILDE or part.text in PLACES for part in parts)

    def written(self, rule: str) -> "Hit | None":
        """The first file that is made, changed or removed, as what comes under the rule."""
        for seen in self.seen:
            use = seen.use
            plainly = use.sure and use.kind in {WRITE, CHANGE}
            if plainly or (use.kind == TOUCH and not use.inside and self._opens(seen)):
                return Hit(rule, seen, False)
        return None

    def not_allowed(self, patterns: tuple[Pattern, ...]) -> "Hit | None":
        """The first use that the patterns don't allow; `unsure` when that can't be known."""
        for seen in each_once(self.seen):
            use = seen.use
            if use.kind == LIST:
                continue
            if use.inside:
                if not self._code_allowed(seen, patterns):
                    return Hit("", seen, True)
                continue
            if not use.sure and not (use.kind == TOUCH and self._opens(seen)):
                continue
            allowed = self._allowed(seen, patterns)
            if not allowed:
                return Hit("", seen, allowed is None)
        return None

    def _opens(self, seen: Seen) -> bool:
        """A word of a program that isn't known could be opened, or made, as a file."""
        word = seen.use.word
        if word is None:
            return False
        home, disk = self._home, self._disk
        return any(
            seen.use.made or _may_open(path, base, home)
            for base in bases(seen.use, seen.situation.sure, home, disk)
            for path in plain_paths(word, base, home, disk)
        )

    def _denied(self, seen: Seen, patterns: tuple[Pattern, ...], reads: bool) -> "Hit | None":
        use = seen.use
        word = use.word
        if use.inside:
            names = code_files(known(word))[0] if word is not None else []
            written = self._names_denied(names, seen.situation, patterns)
            return Hit(written, seen, False) if written is not None else None
        if self._starred and word is not None and "**" in known(word):
            use = _starred(use, word)
        for base in bases(use, seen.situation.folders, self._home, self._disk):
            hit = self._denied_from(base, use, seen, patterns, reads)
            if hit is not None:
                return hit
        if word is not None and seen.situation.lost and use.sure and use.folder is None:
            written = self._lost(word, patterns)
            return Hit(written, seen, True) if written is not None else None
        return None

    def _denied_from(
        self, base: str, use: FileUse, seen: Seen, patterns: tuple[Pattern, ...], reads: bool
    ) -> "Hit | None":
        """The same when the command runs in `base`."""
        word, disk = use.word, self._disk
        # Whatever is made there: the folder itself must be free.
        paths = ["."] if word is None else plain_paths(word, base, self._home, disk)
        for path in paths:
            if not use.sure and not _looks_like_path(path, base):
                continue
            places = self._spots(path, base)
            written = first_match(patterns, places)
            if written is None and use.tree:
                written = self._within(use, places, base, patterns)
            if written is not None:
                return Hit(written, seen, False)
            if use.tree and reads and use.kind == READ and disk.cut_short:
                from barry_cli.policy.ruling.trees import may_hold_more

                if may_hold_more(patterns, use.only):
                    return Hit(patterns[0][0], seen, True, MORE)
        if word is None or paths or not word.parts:
            return None
        if disk.exhausted:
            return Hit(patterns[0][0], seen, True)
        written = self._becomes(word, base, patterns)
        return Hit(written, seen, True) if written is not None else None

    def _becomes(self, word: Word, base: str, patterns: tuple[Pattern, ...]) -> str | None:
        """A pattern for what the word may become, of which something is unknown."""
        glob = glob_of(word, base, self._home)
        if not glob:
            return may_become(patterns, partly_known(word, base, self._home))
        from barry_cli.policy.ruling.trees import meets

        return meets(patterns, expand(glob, base, self._home))

    def _within(
        self,
        use: FileUse,
        places: tuple[tuple[str, ...], ...],
        base: str,
        patterns: tuple[Pattern, ...],
    ) -> str | None:
        from barry_cli.policy.ruling.trees import told, within

        if use.only is not None:
            use.only.start(base, self._home)
        written = within(patterns, places, use.only, use.kind != READ, base, self._disk)
        if written is None and use.only is not None and use.kind != READ:
            return told(patterns, use.only, base, self._home)
        return written

    def _lost(self, word: Word, patterns: tuple[Pattern, ...]) -> str | None:
        """The command runs in a folder that can't be known."""
        text = known(word)
        if text[:1] in {"/", "~"}:
            return None
        from barry_cli.policy.ruling.held import somewhere

        written = may_become(patterns, (HOLE, *(each for each in text.split("/") if each)))
        if written is None and word.text:
            written = somewhere(word.text, patterns, self._cwd)
        return written

    def _spots(self, path: str, base: str) -> tuple[tuple[str, ...], ...]:
        key = path if path[:1] == "/" else f"{base}\0{path}"
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = spots(path, base, self._home, self._disk)
        return found

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
        starts = bases(use, seen.situation.sure, self._home, self._disk)
        if not starts:
            return None
        for base in starts:
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
        """Code that writes has to say where; what it names has to be allowed."""
        word = seen.use.word
        names = code_files(known(word))[0] if word is not None else []
        folder = seen.situation.sure[0]
        paths = [each for each in names if each.strip("/.") and _may_open(each, folder, self._home)]
        if seen.use.kind == WRITE and not paths:
            return False
        return all(every_match(patterns, self._spots(path, folder)) is not None for path in paths)


class Hit:
    """A use that comes under `rule`. `unsure`: it may, as far as can be known; `why` it can't."""

    __slots__ = ("rule", "seen", "unsure", "why")

    def __init__(self, rule: str, seen: Seen, unsure: bool, why: str = UNKNOWN) -> None:
        self.rule = rule
        self.seen = seen
        self.unsure = unsure
        self.why = why


_SETTERS = frozenset(("env", "export", "declare"))


def _is_unknown(use: FileUse) -> bool:
    """Only bash learns which file it is."""
    word = use.word
    if word is None or use.inside or word.text is not None:
        return False
    kinds = {part.kind for part in word.parts}
    if not use.sure and (use.kind != TOUCH or PLACEHOLDER not in kinds):
        return False
    return not kinds <= {PROCESS_IN, PROCESS_OUT} and HOLE in known(word)


def _start(seen: Seen) -> int:
    return seen.start


def _shape(word: Word) -> str:
    return "a file" if word.text is not None else "a file that only the shell knows"


def _nowhere(redirect: Redirect) -> Command:
    """A command in whose place a group's redirect is opened."""
    return Command(redirect.start, None)


def _starred(use: FileUse, word: Word) -> FileUse:
    """The use of a word in which `**` stands for folders at any depth: those in the tree below."""
    from barry_cli.policy.ruling.searches import Chosen

    before, _, after = known(word).partition("**")
    only = Chosen()
    only.files = only.hidden = False
    only.shown = [after.rpartition("/")[2] or "*"]
    top = before.rpartition("/")[0] + "/" if "/" in before else "."
    tree = FileUse(use.kind, Word(top, word.start, word.end, word.quoted), use.reason).whole()
    tree.only, tree.folder, tree.sure = only, use.folder, use.sure
    return tree


def _looks_like_path(text: str, folder: str) -> bool:
    """A word that may be anything counts as a path when it is written like one, or is there."""
    if not text or len(text) > 4096:
        return False
    if ("/" in text or "." in text) and not any(char in text for char in " \t\n"):
        return True
    return exists(text if text[:1] == "/" else f"{folder}/{text}")


def _may_open(path: str, folder: str, home: str) -> bool:
    """It is there, or it is written with a slash and its folder is there."""
    if not path or len(path) > 4096 or "://" in path:
        return False
    place = expand(path, folder, home)
    return exists(place) or ("/" in path and exists(place.rstrip("/").rpartition("/")[0]))
