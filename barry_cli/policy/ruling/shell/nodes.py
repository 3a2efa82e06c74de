"""What a reading is made of: commands, words, redirects.

Every `start` and `end` is an offset into the text that was read (`text[start:end]`). Text inside
backticks, and inside here-documents whose lines are rewritten, can't be mapped character by
character: what stands there has the span of the whole substitution or body.
"""

# Kinds of a part. TEXT is known; every other kind is a hole, whose value only bash learns.
TEXT = "text"
VARIABLE = "variable"  # $x ${x..}
POSITIONAL = "positional"  # $1 $@ $* ${@..}
COMMAND = "command"  # $(..) `..`
PROCESS_IN = "process-in"  # <(..): a file name, from which the commands' output is read
PROCESS_OUT = "process-out"  # >(..): a file name, which feeds the commands
ARITHMETIC = "arithmetic"  # $((..)) $[..]
TILDE = "tilde"  # ~ ~user
GLOB = "glob"  # * ? [..] and the extended patterns
BRACE = "brace"  # {..} with more words than the cap
ARRAY = "array"  # the (..) of a compound assignment

# Of these it is taken for granted that no blank stands in them.
PLACES = frozenset(("$HOME", "${HOME}", "$PWD", "${PWD}"))


class Spanned:
    """Something that stands in the text."""

    __slots__ = ("end", "start")
    start: int
    end: int


class Part(Spanned):
    """A piece of a word: known text, or a hole.

    `text`: the value of TEXT; the source of a hole. `name`: the variable of a VARIABLE or
    POSITIONAL ("" when it is itself computed, as in ${!x}). `many`: may become no word or several
    (unquoted expansions, "$@", globs). `commands`: what a substitution runs.
    `quoted`: stands inside quotes.
    """

    __slots__ = ("commands", "kind", "many", "name", "quoted", "text")

    def __init__(self, kind: str, text: str, start: int, end: int, quoted: bool) -> None:
        self.kind = kind
        self.text = text
        self.start = start
        self.end = end
        self.quoted = quoted
        self.many = False
        self.name = ""
        self.commands: tuple[Command, ...] = ()


class Word(Spanned):
    """One word after brace expansion and quote removal.

    `text` is its value, or None when some of it only bash learns. `parts` is then never empty: it
    holds known text and holes in order (it is empty for a word that is wholly known). `quoted`:
    some of it was quoted or escaped. Words from one brace expansion share their span.
    """

    __slots__ = ("parts", "quoted", "text")

    def __init__(
        self, text: str | None, start: int, end: int, quoted: bool, parts: tuple[Part, ...] = ()
    ) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.quoted = quoted
        self.parts = parts

    @property
    def prefix(self) -> str:
        """The known beginning: all of a known word, "" when it begins with a hole."""
        if self.text is not None:
            return self.text
        first = self.parts[0]
        return first.text if first.kind == TEXT else ""

    @property
    def suffix(self) -> str:
        """The known end: all of a known word, "" when it ends with a hole."""
        if self.text is not None:
            return self.text
        last = self.parts[-1]
        return last.text if last.kind == TEXT else ""

    @property
    def many(self) -> bool:
        """It may become no word at all, or several."""
        return any(part.many for part in self.parts)

    @property
    def basename(self) -> str | None:
        """The last path segment when it is known, else None: "$HOME/bin/git" has "git".

        None also where a hole may split the word, since its last piece then stands elsewhere: $HOME
        and $PWD are taken to hold no blank.
        """
        if self.text is not None:
            return self.text.rpartition("/")[2]
        _, slash, name = self.suffix.rpartition("/")
        splits = any(part.many and part.text not in PLACES for part in self.parts)
        return name if slash and not splits else None

    @property
    def path(self) -> str | None:
        """The value as a path: `text`, where an unquoted tilde in front is kept as it stands.

        A quoted tilde is a plain name and comes as "./~..". None when anything else is unknown.
        """
        if self.text is not None:
            return "./" + self.text if self.text[:1] == "~" else self.text
        if self.parts[0].kind != TILDE or any(part.kind != TEXT for part in self.parts[1:]):
            return None
        return "".join(part.text for part in self.parts)


class Assignment(Spanned):
    """`name=value`, `name+=value`, `name[subscript]=value` or `name=(items)` before a command.

    `value` is None for a compound assignment, whose words are `items` (its `[key]=` left on).
    """

    __slots__ = ("append", "items", "name", "subscript", "value")

    def __init__(self, name: str, value: Word | None, start: int, end: int) -> None:
        self.name = name
        self.value = value
        self.start = start
        self.end = end
        self.append = False
        self.subscript = ""
        self.items: tuple[Word, ...] = ()


class Redirect(Spanned):
    """One redirection.

    `op`: < > >> >| <> <& >& &> &>> << <<- <<<. `fd`: the descriptor, with bash's default filled in
    (&> and &>> take 1 and 2 and say 1); -1 for the `{name}` form, whose variable is `name`.
    `target`: the word after the operator (for << and <<- the delimiter).
    `body`: what a here-document or here-string feeds; its text is None when it has holes. It holds
    the final line feed. `quoted`: the delimiter was quoted, so the body is literal.
    """

    __slots__ = ("body", "fd", "name", "op", "quoted", "target")

    def __init__(self, op: str, fd: int, name: str, target: Word, start: int, end: int) -> None:
        self.op = op
        self.fd = fd
        self.name = name
        self.target = target
        self.start = start
        self.end = end
        self.body: Word | None = None
        self.quoted = False

    @property
    def file(self) -> Word | None:
        """The word that names a file to open; None for a duplicate, a close and a here-document."""
        if self.op[:2] == "<<" or self.op == "<&":
            return None
        if self.op == ">&":
            text = self.target.text
            if text is not None and (text == "-" or text.removesuffix("-").isdecimal()):
                return None
        return self.target

    @property
    def writes(self) -> bool:
        """It creates, truncates or opens for writing the file that `file` names."""
        return self.op not in {"<", "<<", "<<-", "<<<", "<&"} and self.file is not None


class Group:
    """What encloses a command: a compound command, a function body or a substitution.

    `kind`: { ( if while until for select case [[ (( function coproc, or of a substitution
    $( ` <( >(. `redirects` and `piped_from` hold for all that is inside. `outer` is the next
    enclosing group, or None. `name`: a function's or coproc's name.
    """

    __slots__ = ("kind", "name", "outer", "piped_from", "redirects")

    def __init__(self, kind: str, outer: "Group | None") -> None:
        self.kind = kind
        self.outer = outer
        self.name = ""
        self.redirects: list[Redirect] = []
        self.piped_from: tuple[Command, ...] = ()


class Feed:
    """What a command's standard input comes from.

    `redirect` (a file or here-document), else `commands` (those that may write into the pipe),
    else neither: something that this text doesn't show (a caller of the function, a coproc).
    """

    __slots__ = ("commands", "redirect")

    def __init__(self, redirect: Redirect | None, commands: "tuple[Command, ...]") -> None:
        self.redirect = redirect
        self.commands = commands


class Command(Spanned):
    """One simple command.

    `words`: program first; may be empty (assignments or redirects alone). `piped_from`: the
    commands whose output is piped into this one directly, all those of a group (`(a; b) | c`).
    `group`: the innermost group around it. `redirects`: its own only, see `Group.redirects`.
    """

    __slots__ = ("assignments", "group", "piped_from", "redirects", "words")

    def __init__(self, start: int, group: Group | None) -> None:
        self.start = start
        self.end = start
        self.group = group
        self.words: list[Word] = []
        self.assignments: list[Assignment] = []
        self.redirects: list[Redirect] = []
        self.piped_from: tuple[Command, ...] = ()

    @property
    def function(self) -> str:
        """The name of the function whose body this stands in, "" outside."""
        group = self.group
        while group is not None:
            if group.kind == "function":
                return group.name
            group = group.outer
        return ""

    @property
    def in_function(self) -> bool:
        return self.function != ""

    def stdin(self) -> Feed | None:
        """What its standard input comes from; None: the input of the shell itself."""
        at: Command | Group | None = self
        while at is not None:
            for redirect in reversed(at.redirects):
                if redirect.fd == 0:
                    return Feed(redirect, ())
            if at.piped_from:
                return Feed(None, at.piped_from)
            if isinstance(at, Command):
                at = at.group
                continue
            if at.kind in {"function", "coproc", ">("}:
                return Feed(None, ())
            at = at.outer
        return None


class Reading:
    """All that was found in `text`.

    `commands`: every simple command anywhere in it, in order of appearance. `redirects`: every
    redirection anywhere, those of groups too. `loops`: the variable of each `for` and `select`,
    and the words behind its `in`. `unparseable`: "" or why the text couldn't be read as bash
    would; `commands` then holds what stood before that place.
    """

    __slots__ = ("commands", "loops", "redirects", "text", "unparseable")

    def __init__(self, text: str) -> None:
        self.text = text
        self.commands: list[Command] = []
        self.redirects: list[Redirect] = []
        self.loops: list[tuple[str, list[Word]]] = []
        self.unparseable = ""
