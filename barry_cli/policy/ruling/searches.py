"""Programs that search files or list them: which files of a tree they open or name."""

from barry_cli.policy.ruling.file_use import LIST, READ, FileUse, Only
from barry_cli.policy.ruling.operands import Operands, spelled, take_apart
from barry_cli.policy.ruling.paths import exists, expand, text_of
from barry_cli.policy.ruling.patterns import segment_matches
from barry_cli.policy.ruling.shell.reading import Word

GREP = frozenset(
    """-e -f -m -A -B -C -D -d --regexp --file --max-count --after-context --before-context
    --context --include --exclude --exclude-dir --exclude-from --label --binary-files --devices
    --directories --color --colour""".split()
)
RG = frozenset(
    """-e -f -m -A -B -C -g -t -T -j -M -r -E -d --regexp --file --max-count --after-context
    --before-context --context --glob --iglob --type --type-not --threads --max-columns --replace
    --sort --sortr --max-depth --ignore-file --pre --pre-glob --encoding --engine --color --colors
    --max-filesize --type-add --context-separator --path-separator --dfa-size-limit
    --regex-size-limit --hostname-bin --hyperlink-format --generate""".split()
)
AG = frozenset(
    """-A -B -C -G -m -p -W --after --before --context --file-search-regex --max-count --ignore
    --ignore-dir --path-to-ignore --depth --pager --workers --width --include --exclude
    --exclude-dir -e -f -t -g --type --regexp --file --glob --color --match --output""".split()
)
FD = frozenset(
    """-e -E -t -d -j -S -c -o -x -X --extension --exclude --type --max-depth --min-depth
    --exact-depth --threads --size --color --owner --exec --exec-batch --base-directory
    --search-path --changed-within --changed-before --max-results --format --ignore-file""".split()
)
LS = frozenset("-I -w -T --ignore --hide --width --tabsize --sort --time --color --format".split())
GLOBS = frozenset("*?[]")
OVERRULING = (".ignore", ".rgignore", ".fdignore")
RECURSIVE = ("-r", "-R", "--recursive", "--dereference-recursive")
TYPES = {
    "c": "*.[ch]", "cpp": "*.[ch]*", "css": "*.css", "go": "*.go", "html": "*.htm*",
    "java": "*.java", "js": "*.[cm]js *.js *.jsx *.vue", "json": "*.json", "md": "*.md",
    "markdown": "*.md", "py": "*.py *.pyi", "python": "*.py *.pyi", "rb": "*.rb", "ruby": "*.rb",
    "rust": "*.rs", "sh": "*.sh *.bash", "toml": "*.toml", "ts": "*.ts *.tsx *.[cm]ts",
    "yaml": "*.yaml *.yml",
}  # fmt: skip


class Chosen(Only):
    """The files of a tree that options choose.

    `hidden`: names with a dot in front too. `rules`: globs, and whether what fits is chosen: the
    last one that fits counts, for folders too where it `skips` them. `others`: what fits none is
    chosen. `shown` and `spared`: globs that count in any order; `away`: globs of folders. `most`:
    so many levels. `files`: files alone. `top`: where it begins, when what git ignores right there
    is left out.
    """

    __slots__ = (
        "_ignored",
        "away",
        "files",
        "hidden",
        "most",
        "others",
        "rules",
        "shown",
        "skips",
        "spared",
        "taken_in",
        "top",
    )

    def __init__(self) -> None:
        self.away: list[str] = []
        self.files = True
        self.hidden = True
        self.most = 1 << 30
        self.others = True
        self.rules: list[tuple[str, bool]] = []
        self.shown: list[str] = []
        self.skips = False
        self.top: Word | None = None
        self._ignored: list[tuple[str, bool]] = []
        self.spared: list[str] = []
        self.taken_in: list[str] = []

    def start(self, base: str, home: str) -> None:
        path = self.top.path if self.top is not None else None
        self._ignored = ignored(expand(path, base, home)) if path is not None else []

    def reaches(self, path: tuple[str, ...], folder: bool) -> bool:
        name = path[-1]
        if (folder and self.files) or len(path) > self.most or not self._seen(path, folder):
            return False
        if any(_fits(glob, path) for glob in self.spared):
            return False
        if self.shown and not any(segment_matches(glob, name) for glob in self.shown):
            return False
        for glob, chosen in reversed(self.rules):
            if _fits(glob, path):
                return chosen
        return self.others

    def enters(self, path: tuple[str, ...]) -> bool:
        if len(path) >= self.most or not self._seen(path, True):
            return False
        if any(_fits(glob, path) for glob in (*self.away, *self.spared)):
            return False
        # A folder that rg leaves out; grep's rules are for files alone.
        for glob, chosen in reversed(self.rules):
            if _fits(glob, path):
                return chosen or not self.skips
        return True

    def can_be_named(self, glob: str) -> bool:
        chosen = self.shown or (
            [] if self.others else [each for each, is_in in self.rules if is_in]
        )
        return not chosen or any(_overlap(each, glob) for each in chosen)

    def _seen(self, path: tuple[str, ...], folder: bool) -> bool:
        name = path[-1]
        if any(_fits(glob, path) for glob in self.taken_in):
            return True  # whether it is hidden or ignored
        if not self.hidden and name[:1] == ".":
            return False
        here = self._ignored if len(path) == 1 else ()
        return not any(segment_matches(glob, name) and (folder or not only) for glob, only in here)


def ignored(folder: str) -> list[tuple[str, bool]]:
    """Globs of the names right in the top of a repository that git ignores, and whether they hold
    for folders alone. None where other files may take something in again.
    """
    if not exists(f"{folder}/.git") or any(exists(f"{folder}/{name}") for name in OVERRULING):
        return []
    lines = text_of(f"{folder}/.gitignore").split("\n")
    if any(line[:1] == "!" for line in lines):
        return []
    names = [line.rstrip() for line in lines if line[:1] not in {"#", "\\", ""}]
    return [
        (name.strip("/"), name[-1] == "/")
        for name in names
        if name.strip("/") and "/" not in name.strip("/")
    ]


def spared(globs: list[str]) -> Chosen:
    """Everything but what one of the globs fits."""
    only = Chosen()
    only.files = False
    only.spared = [glob for glob in globs if glob]
    return only


def search(name: str, words: list[Word]) -> list[FileUse]:
    """The family of grep. What is searched without being named lies below the working directory."""
    greps = name[-4:] == "grep" and name != "ugrep"
    valued = GREP if greps else RG if name == "rg" else AG
    taken = take_apart(words, valued)
    texts = taken.values("-e", "--regexp", "--match")
    files = taken.values("-f", "--file")
    found = [FileUse(READ, word, f"{name} -f") for word in files]
    found += [FileUse(READ, word, name) for word in taken.values("--exclude-from", "--ignore-file")]
    lists = taken.has("--files", "--type-list") or (name in {"ag", "ack"} and taken.has("-g"))
    bare = bool(texts or files or lists)
    operands = taken.operands if bare else taken.operands[1:]
    directories = [word.text for word in taken.values("-d", "--directories")]
    goes_down = not greps or taken.has(*RECURSIVE) or "recurse" in directories
    if goes_down and not operands and words and (bare or taken.operands):
        operands = [Word(".", words[0].start, words[0].end, True)]
    for word in operands:
        use = FileUse(LIST if lists else READ, word, name)
        if goes_down:
            only = _chosen(name, taken)
            only.top = word if name == "rg" and not _reads_ignored(taken) else None
            use.tree = True
            use.only = only
        found.append(use)
    return found


def fd(name: str, words: list[Word]) -> list[FileUse]:
    """What `fd` names."""
    taken = take_apart(words, FD)
    only = _chosen("rg", taken)
    only.files = False
    only.hidden = taken.has("-H", "--hidden", "-u", "--unrestricted")
    only.shown = [f"*.{text.lstrip('.')}" for text in _texts(taken, "-e", "--extension")]
    tops = taken.operands[1:] + taken.values("--base-directory", "--search-path")
    return _named(name, words, tops, only)


def ls(name: str, words: list[Word]) -> list[FileUse]:
    """What `ls` names: the entries of folders."""
    taken = take_apart(words, LS)
    only = Chosen()
    only.files = False
    only.hidden = taken.has("-a", "-A", "-f", "--all", "--almost-all")
    only.spared = _texts(taken, "-I", "--ignore", "--hide")
    only.most = 1 << 30 if taken.has("-R", "--recursive") else 1
    return _named(name, words, taken.operands, only)


def _named(name: str, words: list[Word], tops: list[Word], only: Chosen) -> list[FileUse]:
    tops = tops or [Word(".", words[0].start, words[0].end, True)] if words else tops
    found = [FileUse(LIST, word, name).whole() for word in tops]
    for use in found:
        use.only = only
    return found


def _chosen(name: str, taken: Operands) -> Chosen:
    only = Chosen()
    only.away = _texts(taken, "--exclude-dir", "--ignore-dir")
    if name in {"rg", "ag", "ugrep"}:
        short = sum(option.name == "-u" for option in taken.options)
        only.hidden = short > (name != "ag") or taken.has("--hidden", "-.", "--no-ignore-hidden")
    if name[-4:] == "grep":
        _grep_rules(only, taken)
    else:
        _globs(only, taken, name == "rg")
    types = _texts(taken, "-t", "--type") if name in {"rg", "ack", "ugrep"} else []
    if types and all(each in TYPES for each in types):
        only.shown = [glob for each in types for glob in TYPES[each].split()]
    for depth in _texts(taken, "--max-depth", "--depth"):
        only.most = int(depth) if depth.isdecimal() and len(depth) < 6 else only.most
    return only


def _reads_ignored(taken: Operands) -> bool:
    return any(option.name == "-u" or option.name[:4] == "--no" for option in taken.options)


def _grep_rules(only: Chosen, taken: Operands) -> None:
    """--include and --exclude: of what fits none the first one says what becomes of it."""
    for option in taken.options:
        if option.name in {"--include", "--exclude"}:
            glob = spelled(option.value) if option.value is not None else None
            chosen = option.name == "--include"
            if not only.rules and (chosen or glob is None):
                only.others = not chosen
            # A glob with a folder in it, or one that isn't known: it may leave nothing out.
            if glob is None or "/" in glob:
                only.rules.append(("*", True))
            else:
                only.rules.append((glob, chosen))


def _globs(only: Chosen, taken: Operands, ripgrep: bool) -> None:
    """Globs that leave something out, with a `!` in front for rg."""
    only.spared = _texts(taken, "--exclude", "--ignore", "-E")
    for glob in _texts(taken, "-g", "--glob", "--iglob") if ripgrep else ():
        only.skips = True
        if glob[:1] == "!":
            only.rules.append((glob[1:], False))
        else:
            only.others = False
            only.taken_in.append(glob)
            # One with a folder in it holds for paths: too much to be sure of.
            only.rules.append(("*" if "/" in glob else glob, True))


def _overlap(one: str, other: str) -> bool:
    """May a name fit both globs? Two with wildcards are told apart by their ends alone."""
    if GLOBS.isdisjoint(one) or GLOBS.isdisjoint(other):
        return segment_matches(one, other) or segment_matches(other, one)
    if not GLOBS.isdisjoint(one[-1] + other[-1]):
        return True
    first, second = (each[max(each.rfind(sign) for sign in GLOBS) + 1 :] for each in (one, other))
    return first.endswith(second) or second.endswith(first)


def _texts(taken: Operands, *names: str) -> list[str]:
    return [text for text in map(spelled, taken.values(*names)) if text]


def _fits(glob: str, path: tuple[str, ...]) -> bool:
    """The entry's name fits; a glob with slashes has to fit its path from the top."""
    bare = glob.removeprefix("./").removeprefix("/").removeprefix("**/").rstrip("/")
    bare = bare.removesuffix("/**").removesuffix("/*")
    if "/" not in bare:
        anywhere = "/" not in glob.rstrip("/") or glob.startswith("**/")
        return segment_matches(bare, path[-1]) and (anywhere or len(path) == 1)
    return "/".join(path) == bare


OWN = {"fd": fd, "ls": ls, "search": search}
