"""Which files a program's words say that it reads and writes."""

from barry_cli.policy.ruling.file_use import CHANGE, READ, TOUCH, WRITE, FileUse
from barry_cli.policy.ruling.operands import (
    HOLE,
    Operands,
    Option,
    after,
    known,
    pieces,
    spelled,
    take_apart,
)
from barry_cli.policy.ruling.programs.call import Call
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


MARKS = frozenset(":<>/@=^!+r*%")

_tables: dict[str, tuple[str, frozenset[str], dict[str, str]]] = {}


def uses(name: str, words: list[Word]) -> list[FileUse]:
    """What the program `name` does to files, from `words`, those behind its own name."""
    spec = role(name)
    if not spec:
        from barry_cli.policy.ruling.more_roles import more

        spec, subcommands = more(name, [word.prefix for word in words[:2]])
        words = words[subcommands:]
    if spec == "words":
        return []
    found = _own(spec.partition(" ")[0], name, words)
    if found is None:
        found = _listed(name, words, spec) if spec else _unlisted(name, words)
    return [use for use in found if use.word is None or not is_stream(use.word)]


_LISTERS = frozenset(("dir", "fd", "fdfind", "find", "gfind", "ls", "vdir"))
_CHANGING = frozenset(("-delete", "-fprint", "-fprint0", "-fprintf", "-fls"))


def is_lister(call: Call) -> bool:
    """The program does nothing but name files."""
    if call.name not in _LISTERS or "/" in known(call.words[0]):
        return False
    return not any(word.text in _CHANGING for word in call.words)


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
        valued = frozenset(name for name, mark in marks.items() if mark in set(":<>/@=^*%"))
        found = _tables[spec] = (shape, valued, marks)
    return found


def _listed(name: str, words: list[Word], spec: str) -> list[FileUse]:
    if spec[:5] == "named" and not any(map(_is_more, words)):
        return []
    shape, valued, marks = table(spec)
    taken = take_apart(words, valued, single=shape[-1] == "~", loose=shape[:5] == "named")
    marked = [(option, marks.get(option.name, "")) for option in taken.options]
    given = {mark for _, mark in marked}
    values = {mark: option.value for option, mark in marked if option.value is not None}
    found = [
        FileUse(WRITE if mark == ">" else READ, option.value, f"{name} {option.name}")
        for option, mark in marked
        if mark in {"<", "^", ">"} and option.value is not None
    ]
    if not given.isdisjoint("*%"):
        found += _touched(name, [(option, mark) for option, mark in marked if mark in {"*", "%"}])
    for option, mark in marked:
        # `--x=value` of an option that isn't listed.
        if not mark and option.value is not None and not _spares(option.name):
            found.append(_touch(option.value, f"{name} {option.name}"))
    operands = taken.operands
    if shape == "pattern":
        operands = operands if given & {"=", "^"} else operands[1:]
        shape = "change" if name in _PERMISSIONS else "read"
    found.extend(_by_shape(shape, name, operands, values.get("@"), "+" in given))
    if shape == "copy" and name == "install" and taken.has("-d", "--directory"):
        return [FileUse(CHANGE, word, name) for word in operands]
    if shape == "copy" and len(operands) > ("@" not in values) and name != "ln":
        target = values.get("@") or operands[-1]
        found.extend(_merged(name, taken, operands, target))
    if "!" in given:
        return [FileUse(READ, use.word, name) for use in found if use.word is not None]
    tree = shape in {"change", "move"} or "r" in given
    if name == "rsync":
        _spare(taken, found)
        if any(word.text == "-" or word.parts for word in taken.values("--files-from")):
            from barry_cli.policy.ruling.archives import listed

            found += listed("rsync --files-from", taken.values("--files-from"))
    for use in found:
        use.folder = use.folder or values.get("/")
        use.tree = use.tree or (tree and use.kind != WRITE)
    return found


_PERMISSIONS = frozenset(("chmod", "chown", "chgrp", "chattr", "setfacl"))


def _by_shape(
    shape: str, name: str, operands: list[Word], target: Word | None, back: bool
) -> list[FileUse]:
    if shape == "read":
        kind = WRITE if back else READ
        found = [FileUse(kind, word, f"{name} -i" if back else name) for word in operands]
        # Many take their words from a file with an `@` in front.
        responses = [after(word, 1) for word in operands if word.prefix[:1] == "@"]
        return found + [FileUse(READ, word, name).unsure() for word in responses]
    if shape == "write":
        return [FileUse(WRITE, word, name) for word in operands]
    if shape == "change":
        return [FileUse(CHANGE, word, name) for word in operands]
    if shape == "second":
        return [
            FileUse(WRITE if index else READ, word, name) for index, word in enumerate(operands[:2])
        ]
    if shape == "pack":
        gone = [FileUse(CHANGE, word, name) for word in operands]
        return [*gone, FileUse(WRITE, None, name)] if gone else []
    if shape in {"copy", "move"}:
        return _copied(shape, name, operands, target)
    if shape == "last":
        found = [FileUse(READ, word, name) for word in operands[:-1]]
        return found + [FileUse(WRITE, word, name) for word in operands[-1:] if found]
    if shape in {"named", "trees"}:
        trees = shape == "trees"
        words = [each for word in operands for each in pieces(word)]
        found = [_touch(word, name) for word in words if trees or _is_written_as_path(word)]
        for use in found:
            use.tree = trees
        return found
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


def _merged(name: str, taken: Operands, operands: list[Word], target: Word) -> list[FileUse]:
    """Whole folders whose content is put into the target's, or replaces it."""
    if _is_remote(name, target):
        return []
    if taken.has("--remove-source-files"):
        return [FileUse(CHANGE, word, name) for word in operands[:-1]]
    deletes = name == "rsync" and any(option.name[:5] == "--del" for option in taken.options)
    if deletes:
        return [FileUse(CHANGE, target, f"{name} --delete").whole()]
    ends = ("/",) if name == "rsync" else ("/.", "/..")
    plain = taken.has("-T", "--no-target-directory")
    merging = [word for word in operands[:-1] if plain or known(word).endswith(ends)]
    if not merging or not taken.has("-r", "-R", "-a", "--archive", "--recursive"):
        return []
    from barry_cli.policy.ruling.copies import Within

    found = [FileUse(WRITE, target, name).whole() for _ in merging]
    for use, source in zip(found, merging, strict=True):
        use.only = Within(source)
    return found


def _spare(taken: Operands, found: list[FileUse]) -> None:
    """The --exclude of rsync, unless another option may take something in again."""
    globs = [spelled(word) or "" for word in taken.values("--exclude")]
    if globs and not taken.has("--include", "--include-from", "--filter", "-f", "-F"):
        from barry_cli.policy.ruling.searches import spared

        for use in found:
            use.only = use.only or (spared(globs) if use.kind == READ else None)


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


def _touched(name: str, marked: list[tuple[Option, str]]) -> list[FileUse]:
    """Options that name a file which is read or written, or a value that names one behind `@`."""
    found: list[FileUse] = []
    for option, mark in marked:
        value = option.value
        if value is None:
            continue
        if mark == "*":
            found.append(FileUse(TOUCH, value, f"{name} {option.name}").unsure())
            continue
        at = value.prefix.find("@") + 1
        is_file = at > 0 and (at == 1 or value.prefix[at - 2] == "=")
        cut = at if is_file else value.prefix.find("=") + 1
        use = FileUse(READ, after(value, cut), f"{name} {option.name}")
        found.append(use if is_file else use.unsure())
    return found


def _touch(word: Word, name: str) -> FileUse:
    return FileUse(TOUCH, word, name).unsure()


def _is_more(word: Word) -> bool:
    """It isn't a plain word, but an option, a path or something unknown."""
    text = word.text
    return text is None or not text.replace("-", "").replace("_", "").isalnum() or text[0] == "-"


def _is_written_as_path(word: Word) -> bool:
    text = known(word)
    return "/" in text or text[:1] in {".", "~"}


# What follows these is left out, not opened.
_SPARES = ("--exclude", "--ignore", "--skip", "--omit", "--env")
_READ_ALL_THE_SAME = ("--env-file", "--envfile", "--env_file")
_MADE = ("-o", "--output", "--out", "--outfile", "--out-file", "--output-file", "--outdir")
_FORMATS = frozenset(
    "json yaml yml text txt table csv tsv wide name xml html md pretty raw".split()
)


def _unlisted(name: str, words: list[Word]) -> list[FileUse]:
    """Nothing is known of the program: it may open any word, or what is behind a `=` or `@`."""
    found: list[FileUse] = []
    before = ""
    for word in words:
        start = word.prefix
        if start[:1] != "-" and not before:
            found += [_touch(each, name) for each in pieces(word)]
            continue
        option = start.partition("=")[0] if start[:1] == "-" else ""
        if not _spares(option) and not _spares(before):
            for each in pieces(word):
                use = _touch(each, name)
                if (before or option).startswith(_READ_ALL_THE_SAME):
                    use.kind = READ
                of = before or (option if each is not word else "")
                use.made = of in _MADE and _is_file_name(each)
                found.append(use)
        before = option if "=" not in start else ""
    return found


def _spares(option: str) -> bool:
    return option.startswith(_SPARES) and not option.startswith(_READ_ALL_THE_SAME)


def _is_file_name(word: Word) -> bool:
    text = known(word)
    return bool(text) and text not in _FORMATS and "{" not in text and "=" not in text


_OPTION_FILES = frozenset("docker ffmpeg jq openssl packed sftp socat sqlite".split())


def _in_cmake(words: list[Word]) -> list[FileUse] | None:
    """`cmake -E rm FILE`; None for all else that cmake does."""
    from barry_cli.policy.ruling.compilers import cmake

    meant = cmake(words)
    if meant is None:
        return None
    name, rest = meant
    found = uses(name, rest) if name else []
    for use in found:
        use.reason = f"cmake -E {words[1].text}"
        use.tree = use.tree or name == "cp"
    return found


def _own(shape: str, name: str, words: list[Word]) -> list[FileUse] | None:
    """The programs that a line of the table can't describe. Each kind is loaded when it is met."""
    if shape in {"curl", "wget"}:
        from barry_cli.policy.ruling import downloads

        return downloads.OWN[shape](name, words)
    if shape in {"awk", "code", "dd", "edit", "patch", "perl", "sed"}:
        from barry_cli.policy.ruling import texts

        return texts.OWN[shape](name, words)
    if shape in {"fd", "ls", "search"}:
        from barry_cli.policy.ruling import searches

        return searches.OWN[shape](name, words)
    if shape == "find":
        from barry_cli.policy.ruling import finding

        return finding.find(name, words)
    if shape == "compile":
        from barry_cli.policy.ruling import compilers

        return compilers.compiler(name, words)
    if name == "cmake":
        return _in_cmake(words)
    if shape == "database":
        from barry_cli.policy.ruling import option_files

        return _listed(name, words, option_files.DATABASE) + option_files.database(words)
    if shape in _OPTION_FILES:
        from barry_cli.policy.ruling import option_files

        return option_files.OWN[shape](name, words)
    if shape in {"cpio", "csplit", "script", "shell", "split", "tar", "unzip", "zip"}:
        from barry_cli.policy.ruling import archives

        return archives.OWN[shape](name, words)
    if shape == "git":
        from barry_cli.policy.ruling import git_files

        return git_files.git(name, words)
    return None
