"""What compilers read and write, and the file commands that cmake has of its own."""

from barry_cli.policy.ruling.file_use import READ, TOUCH, WRITE, FileUse
from barry_cli.policy.ruling.operands import after
from barry_cli.policy.ruling.shell.reading import Word

_WRITES = frozenset(
    """-o -MF -dumpdir -dumpbase -d --out-dir --output -aux-info --output-dir -outdir --dep-file
    -Map --serialize-diagnostics""".split()
)
_READS = frozenset("-include -imacros -T -isysroot --sysroot -B -specs --specs -wrapper".split())
_VALUED = frozenset(
    """-I -L -D -U -l -x -MT -MQ -isystem -iquote -idirafter --crate-name --crate-type --edition
    -cp -classpath -target --target -arch -framework -Xlinker -Xclang -Xpreprocessor
    -Xassembler --emit --extern -u -z -e -m -march -dumpbase-ext -processorpath -source -release
    --cfg --cap-lints""".split()
)
# Their values may follow right behind the letter.
_JOINED = ("-o", "-T", "-MF", "-B")
_PLAIN = ("-std", "-ob", "-on", "-op", "-Tt", "-Td")
# Flags for all others.
_OWN_WRITES = {"javac": frozenset(("-s", "-h"))}
_OWN_VALUED = {"rustc": frozenset(("-A", "-C", "-F", "-W"))}


def compiler(name: str, words: list[Word]) -> list[FileUse]:
    """Options have one dash and whole names; operands are read, a file with `@` in front too."""
    writes = _WRITES | _OWN_WRITES.get(name, frozenset())
    valued = _VALUED | _OWN_VALUED.get(name, frozenset())
    found: list[FileUse] = []
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        head = word.prefix
        if head[:1] != "-" or head == "-":
            cut = 1 if head[:1] == "@" else 0
            found.append(FileUse(READ, after(word, cut), name))
            continue
        option, equals, _ = head.partition("=")
        kind = WRITE if option in writes else READ if option in _READS else ""
        if equals:
            if option != "-std":
                use = FileUse(kind or TOUCH, after(word, len(option) + 1), f"{name} {option}")
                found.append(use if kind else use.unsure())
        elif word.text is not None and (kind or option in valued) and index < len(words):
            if kind:
                found.append(FileUse(kind, words[index], f"{name} {option}"))
            index += 1
        elif head.startswith(_JOINED) and not head.startswith(_PLAIN):
            short = next(each for each in _JOINED if head.startswith(each))
            kind = WRITE if short in writes else READ
            found.append(FileUse(kind, after(word, len(short)), f"{name} {short}"))
    return found


# `cmake -E NAME` does what the program on the right does.
_AS = {
    "rm": "rm",
    "remove": "rm",
    "remove_directory": "rm",
    "rename": "mv",
    "copy": "cp",
    "copy_directory": "cp",
    "copy_directory_if_different": "cp",
    "copy_if_different": "cp",
    "copy_if_newer": "cp",
    "create_symlink": "ln",
    "create_hardlink": "ln",
    "make_directory": "mkdir",
    "touch": "touch",
    "touch_nocreate": "touch",
    "cat": "cat",
    "md5sum": "md5sum",
    "sha1sum": "sha1sum",
    "sha256sum": "sha256sum",
    "compare_files": "cmp",
    "tar": "tar",
}


def cmake(words: list[Word]) -> tuple[str, list[Word]] | None:
    """The program that `cmake -E NAME` does the work of ("" for none), and its words; None without
    -E.
    """
    if len(words) < 2 or words[0].text != "-E":
        return None
    return _AS.get(words[1].text or "", ""), words[2:]
