"""Which files a program's words say that it reads and writes."""

from barry_cli.policy.ruling.file_use import CHANGE, READ, WRITE, FileUse
from barry_cli.policy.ruling.operands import HOLE, known, pieces, take_apart
from barry_cli.policy.ruling.roles import role
from barry_cli.policy.ruling.shell.reading import PROCESS_IN, PROCESS_OUT, Word

STREAMS = (
    "/dev/null",
    "/dev/std",
    "/dev/fd/",
    "/dev/tty",
    "/dev/zero",
    "/dev/full",
    "/proc/self/fd/",
)


MARKS = frozenset(":<>/@=^!+r")

_tables: dict[str, tuple[str, frozenset[str], dict[str, str]]] = {}


def uses(name: str, words: list[Word]) -> list[FileUse]:
    """What the program `name` does to files, from `words`, those behind its own name."""
    spec = role(name)
    if spec == "words":
        return []
    found = _own(spec.partition(" ")[0], name, words)
    if found is None:
        found = _listed(name, words, spec) if spec else _unlisted(name, words)
    return [use for use in found if use.word is None or not is_stream(use.word)]


def is_stream(word: Word) -> bool:
    """The word names no file of its own: an input or output, a device, a process."""
    text = known(word)
    if text == "-" or text.startswith(STREAMS):
        return True
    return any(part.kind in {PROCESS_IN, PROCESS_OUT} for part in word.parts)


def table(spec: str) -> tuple[str, frozenset[str], dict[str, str]]:
    """A role taken apart: its kind, the options that take a value, and the mark of each option."""
    found = _tables.get(spec)
    if found is None:
        shape, *rest = spec.split()
        marks: dict[str, str] = {}
        for item in rest:
            marked = len(item) > 2 and item[-1] in MARKS
            marks[item[:-1] if marked else item] = item[-1] if marked else ""
        valued = frozenset(name for name, mark in marks.items() if mark in set(":<>/@=^"))
        found = _tables[spec] = (shape, valued, marks)
    return found


def _listed(name: str, words: list[Word], spec: str) -> list[FileUse]:
    shape, valued, marks = table(spec)
    taken = take_apart(words, valued, single=shape[-1] == "~")
    marked = [(option, marks.get(option.name, "")) for option in taken.options]
    given = {mark for _, mark in marked}
    values = {mark: option.value for option, mark in marked if option.value is not None}
    found = [
        FileUse(WRITE if mark == ">" else READ, option.value, f"{name} {option.name}")
        for option, mark in marked
        if mark in {"<", "^", ">"} and option.value is not None
    ]
    operands = taken.operands
    if shape == "pattern":
        operands = operands if given & {"=", "^"} else operands[1:]
        shape = "change" if name in _PERMISSIONS else "read"
    found.extend(_by_shape(shape, name, operands, values.get("@"), "+" in given))
    if "!" in given:
        return [FileUse(READ, use.word, name) for use in found if use.word is not None]
    tree = shape in {"change", "move"} or "r" in given
    for use in found:
        use.folder = use.folder or values.get("/")
        use.tree = tree and use.kind != WRITE
    return found


_PERMISSIONS = frozenset(("chmod", "chown", "chgrp", "chattr", "setfacl"))


def _by_shape(
    shape: str, name: str, operands: list[Word], target: Word | None, back: bool
) -> list[FileUse]:
    if shape == "read":
        kind = WRITE if back else READ
        return [FileUse(kind, word, f"{name} -i" if back else name) for word in operands]
    if shape == "write":
        return [FileUse(WRITE, word, name) for word in operands]
    if shape == "change":
        return [FileUse(CHANGE, word, name) for word in operands]
    if shape == "second":
        return [
            FileUse(WRITE if index else READ, word, name) for index, word in enumerate(operands[:2])
        ]
    if shape == "into":
        first = [FileUse(WRITE, word, name) for word in operands[:1]]
        return first + [FileUse(READ, word, name) for word in operands[1:]]
    if shape == "pack":
        gone = [FileUse(CHANGE, word, name) for word in operands]
        return [*gone, FileUse(WRITE, None, name)] if gone else []
    if shape in {"copy", "move"}:
        return _copied(shape, name, operands, target)
    if shape == "unpack":
        found = [FileUse(READ, word, name) for word in operands[:1]]
        return [*found, FileUse(WRITE, None, name)] if found else []
    return []


def _copied(shape: str, name: str, operands: list[Word], target: Word | None) -> list[FileUse]:
    if target is None:
        if not operands:
            return []
        if len(operands) == 1 and not operands[0].many:
            if name != "ln":
                return []
            # The link is made here, under the name of what it leads to.
            made = FileUse(WRITE, _last_name(operands[0]), name)
            return [FileUse(READ, operands[0], name), made]
        *operands, target = operands
        operands = operands or [target]
    if _is_remote(name, target):
        return [FileUse(READ, word, name) for word in operands if not _is_remote(name, word)]
    found: list[FileUse] = []
    for word in operands:
        if _is_remote(name, word):
            continue
        found.append(FileUse(READ, word, name))
        if shape == "move":
            found.append(FileUse(CHANGE, word, name))
    found.insert(0, FileUse(WRITE, target, name))
    for word in operands:
        # Into a folder: under its own name there.
        inner = FileUse(WRITE, _last_name(word), name)
        inner.folder = target
        inner.sure = False
        found.append(inner)
    return found


def _is_remote(name: str, word: Word) -> bool:
    if name not in {"scp", "rsync"}:
        return False
    text = known(word)
    return "://" in text or ":" in text.partition("/")[0]


def _last_name(word: Word) -> Word | None:
    text = known(word).rstrip("/").rpartition("/")[2]
    if not text or HOLE in text or text in {".", ".."}:
        return None
    return Word(text, word.start, word.end, word.quoted)


def _unlisted(name: str, words: list[Word]) -> list[FileUse]:
    """Nothing is known of the program: it may read any word, or what is behind a `=` or `@`."""
    found: list[FileUse] = []
    for word in words:
        for each in pieces(word):
            use = FileUse(READ, each, name)
            use.sure = False
            found.append(use)
    return found


def _own(shape: str, name: str, words: list[Word]) -> list[FileUse] | None:
    """The programs that a line of the table can't describe. Each kind is loaded when it is met."""
    if shape in {"curl", "wget"}:
        from barry_cli.policy.ruling import downloads

        return downloads.OWN[shape](name, words)
    if shape in {"awk", "code", "dd", "edit", "patch", "perl", "sed"}:
        from barry_cli.policy.ruling import texts

        return texts.OWN[shape](name, words)
    if shape in {"csplit", "find", "script", "shell", "split", "tar"}:
        from barry_cli.policy.ruling import archives

        return archives.OWN[shape](name, words)
    if shape == "git":
        from barry_cli.policy.ruling import git_files

        return git_files.git(name, words)
    return None
