"""The files that programs read and write whose words name only some of them."""

from barry_cli.policy.ruling.file_use import CHANGE, READ, TOUCH, WRITE, FileUse
from barry_cli.policy.ruling.operands import spelled, take_apart
from barry_cli.policy.ruling.programs.call import unknown
from barry_cli.policy.ruling.searches import spared
from barry_cli.policy.ruling.shell.reading import PROCESS_IN, Word


def tar(name: str, words: list[Word]) -> list[FileUse]:
    """What tar reads, and the archive or files that it makes."""
    given = frozenset(
        """-f -C -T -X -b -F -g -H -I -K -L -N -V --file --directory --files-from --exclude
        --exclude-from --transform --xform --strip-components --owner --group --mode --mtime
        --use-compress-program --format --sort --suffix --add-file --label --newer --to-command
        --listed-incremental --one-top-level""".split()
    )
    if words and words[0].text is not None and words[0].text[:1] not in {"-", ""}:
        # The old style: `tar xzf FILE` has its letters without a dash.
        words = [Word("-" + words[0].text, words[0].start, words[0].end, False), *words[1:]]
        words = _old_style(words)
    taken = take_apart(words, given)
    folders = taken.values("-C", "--directory", "--one-top-level")
    only = spared([spelled(word) or "" for word in taken.values("--exclude")])
    archive = taken.values("-f", "--file")
    found: list[FileUse] = []
    if taken.has("-x", "--extract", "--get"):
        found = [FileUse(READ, word, "tar f") for word in archive]
        if not taken.has("-O", "--to-stdout", "--to-command"):
            for member in [None, *taken.operands]:
                out = FileUse(WRITE, member, "tar x")
                out.folder = folders[-1] if folders else None
                found.append(out)
    elif taken.has("-c", "--create", "-r", "-u", "--append", "--update", "-A"):
        found = [FileUse(WRITE, word, "tar c") for word in archive]
        for word in taken.operands:
            source = FileUse(READ, word, "tar c")
            source.tree = True
            source.only = only if only.spared else None
            source.folder = folders[-1] if folders else None
            found.append(source)
            if taken.has("--remove-files"):
                found.append(_gone(source))
    else:
        found = [FileUse(READ, word, "tar t") for word in archive]
    lists = taken.values("-T", "--files-from")
    found.extend(FileUse(READ, word, "tar -T") for word in lists)
    makes = taken.has("-c", "--create", "-r", "-u", "--append", "--update")
    return found + (listed("tar -T", lists) if makes else [])


def listed(reason: str, lists: list[Word]) -> list[FileUse]:
    """The files whose names come from the input, or from a command."""
    inputs = [
        word
        for word in lists
        if word.text in {"-", "/dev/stdin"} or any(part.kind == PROCESS_IN for part in word.parts)
    ]
    return [FileUse(READ, unknown(word), reason) for word in inputs]


def cpio(name: str, words: list[Word]) -> list[FileUse]:
    """What is archived is told by names in the input; elsewhere only its own files are seen."""
    given = frozenset("-D -F -O -I -E -H -C -M -R --directory --file --format".split())
    taken = take_apart(words, given)
    found = [FileUse(TOUCH, word, name) for word in taken.values("-D", "-F", "--directory")]
    found += [FileUse(TOUCH, word, name) for word in taken.values("--file")]
    found += [FileUse(WRITE, word, name) for word in taken.values("-O")]
    found += [FileUse(READ, word, name) for word in taken.values("-I", "-E")]
    if taken.has("-p", "--pass-through"):
        found += [FileUse(WRITE, word, name) for word in taken.operands]
    if taken.has("-o", "--create", "-p", "--pass-through") and words:
        found.append(FileUse(READ, unknown(words[0]), name))
    if taken.has("-i", "--extract") and not taken.has("-t", "--list"):
        folders = taken.values("-D", "--directory")
        found.append(FileUse(WRITE, None, name).within(folders[-1] if folders else None))
    return found


def _gone(source: FileUse) -> FileUse:
    """What went into an archive is removed."""
    use = FileUse(CHANGE, source.word, source.reason)
    use.tree, use.only, use.folder = True, source.only, source.folder
    return use


def _old_style(words: list[Word]) -> list[Word]:
    """Values follow the bundle in the order of its letters: give each letter its own word."""
    first, *rest = words
    letters = (first.text or "")[1:]
    found: list[Word] = []
    for letter in letters:
        found.append(Word(f"-{letter}", first.start, first.end, False))
        if letter in "fCTXbFgHIKLNV" and rest:
            found.append(rest.pop(0))
    return found + rest


def zipped(name: str, words: list[Word]) -> list[FileUse]:
    """zip: the archive, what goes into it, and behind `-x` what doesn't."""
    behind = [at for at, word in enumerate(words) if word.text in {"-x", "--exclude"}]
    left_out = words[behind[0] + 1 :] if behind else []
    words = words[: behind[0]] if behind else words
    taken = take_apart(words, frozenset("-b -i -t -n -P --include".split()))
    found = [FileUse(WRITE, word, "zip") for word in taken.operands[:1]]
    if words and taken.has("-@", "--names-stdin"):
        found.append(FileUse(READ, unknown(words[0]), "zip -@"))
    sources = [FileUse(READ, word, "zip") for word in taken.operands[1:]]
    for use in sources:
        use.tree = taken.has("-r", "-R", "--recurse-paths")
        # A glob is held against the whole path there.
        texts = [word.text or "" for word in left_out]
        use.only = spared([each if each[:1] == "*" else f"/{each}" for each in texts if each])
    return found + sources + ([_gone(use) for use in sources] if taken.has("-m", "--move") else [])


def unzip(name: str, words: list[Word]) -> list[FileUse]:
    """The archive, and the members that come out of it: those named, or whatever there is."""
    taken = take_apart(words, frozenset("-d -x -P -I -O".split()))
    found = [FileUse(READ, word, name) for word in taken.operands[:1]]
    if not found or taken.has("-l", "-t", "-v", "-Z", "-p", "-c"):
        return found
    folders = taken.values("-d")
    for member in [None, *taken.operands[1:]]:
        use = FileUse(WRITE, member, name)
        use.folder = folders[-1] if folders else None
        found.append(use)
    return found


def csplit(name: str, words: list[Word]) -> list[FileUse]:
    """One file, cut into files whose names begin as an option says."""
    taken = take_apart(words, frozenset("-f -b -n --prefix --suffix-format --digits".split()))
    found = [FileUse(READ, word, name) for word in taken.operands[:1]]
    named = taken.values("-f", "--prefix")
    made = named[-1] if named else None
    return [*found, FileUse(WRITE, made, name)] if found else []


def split(name: str, words: list[Word]) -> list[FileUse]:
    """The same by size, the second operand being the beginning of the names."""
    taken = take_apart(words, frozenset("-a -b -C -l -n -t --lines --bytes --number".split()))
    found = [FileUse(READ, word, name) for word in taken.operands[:1]]
    made = taken.operands[1] if len(taken.operands) > 1 else None
    return [*found, FileUse(WRITE, made, name)]


def shell(name: str, words: list[Word]) -> list[FileUse]:
    """The script that a shell runs, which may be another kind of word."""
    taken = take_apart(words, frozenset("-c -o -O --rcfile --init-file".split()))
    found = [FileUse(READ, word, name) for word in taken.values("--rcfile", "--init-file")]
    if not taken.has("-c", "-s"):
        found.extend(FileUse(READ, word, name) for word in taken.operands[:1])
    for use in found:
        use.sure = False
    return found


def script(name: str, words: list[Word]) -> list[FileUse]:
    """The files that a session is recorded in."""
    given = frozenset(
        "-c -E -I -O -B -T -m -o --command --log-in --log-out --log-io --log-timing".split()
    )
    taken = take_apart(words, given)
    files = taken.operands[:1] + taken.values("-O", "-I", "-B", "-T", "--log-out", "--log-io")
    if not files:
        files = [Word("typescript", words[0].start, words[0].end, True)] if words else []
    return [FileUse(WRITE, word, "script") for word in files]


OWN = {
    "cpio": cpio,
    "csplit": csplit,
    "script": script,
    "shell": shell,
    "split": split,
    "tar": tar,
    "unzip": unzip,
    "zip": zipped,
}
