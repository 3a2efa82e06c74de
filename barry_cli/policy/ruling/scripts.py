"""The files that a program's own little language names: sed, awk, and code of other languages."""

SIGNS = "'\"`"
BREAKS = frozenset(" \t\n<>{}()$;")
MODES = "<>+| "
"""In front of a name they say how it is opened."""
OPENS = ("open(", "File.open(", "fopen(", "openSync(", "createWriteStream(", "file_put_contents(")
WRITES = (
    "write_text(",
    "write_bytes(",
    "writeFile",
    "appendFile",
    "createWriteStream(",
    "file_put_contents(",
    "File.write(",
    "IO.write(",
    "shutil.copy",
    "shutil.move",
    "os.rename(",
    "os.replace(",
    "copyFile",
    "renameSync(",
    "FileUtils.",
    "Deno.write",
    "Bun.write(",
    "to_csv(",
    "json.dump(",
    "os.remove(",
    ".unlink",
    "unlink ",
    "unlink(",
    "unlinkSync(",
    "rmtree(",
    "rmSync(",
    "rmdir",
    "mkdir",
    "makedirs(",
    "chmod(",
    "File.delete(",
    "rename(",
    "truncate(",
    "symlink(",
)


def sed_files(script: str) -> list[tuple[str, bool]]:
    """The files a sed script names, and whether each is written (`w`, `W`, `s///w`) or read."""
    found: list[tuple[str, bool]] = []
    at, size = 0, len(script)
    while at < size:
        char = script[at]
        if char in "/\\":
            at = _address(script, at)
        elif char in "sy":
            at = _replacing(script, at, found)
        elif char in "rRwW":
            at = _file(script, at + 1, char in "wW", found)
        elif char in "aic#":
            at = _line_end(script, at)
        elif char in "btTlqQL:":
            while at < size and script[at] not in "\n;}":
                at += 1
        else:
            at += 1
    return found


def _address(script: str, at: int) -> int:
    r"""Behind `/expression/` or `\,expression,`, and its flags."""
    delimiter = "/"
    if script[at] == "\\":
        at += 1
        delimiter = script[at : at + 1]
    at = _past(script, at + 1, delimiter, True)
    while script[at : at + 1] in {"I", "M"}:
        at += 1
    return at


def _replacing(script: str, at: int, found: list[tuple[str, bool]]) -> int:
    """Behind `s/../../flags` or `y/../../`; the flag `w` takes the rest of the line."""
    delimiter = script[at + 1 : at + 2]
    at = _past(script, _past(script, at + 2, delimiter, True), delimiter, False)
    while script[at : at + 1].isalnum():
        if script[at] == "w":
            return _file(script, at + 1, True, found)
        at += 1
    return at


def awk_files(program: str) -> list[tuple[str, bool]]:
    """The files in `> "f"`, `>> "f"` and `getline < "f"` of an awk program."""
    found: list[tuple[str, bool]] = []
    for sign, writes in ((">", True), ("<", False)):
        for piece in program.split(sign)[1:]:
            rest = piece.lstrip(" \t")
            if rest[:1] == '"':
                found.append((rest[1:].partition('"')[0], writes))
    return [(name, writes) for name, writes in found if name[:5] not in {"/dev/", ""}]


def awk_opens_variables(program: str) -> tuple[bool, bool]:
    """Whether an awk program writes to a file whose name a variable holds, and whether it reads."""
    writes = any(_begins_name(piece.lstrip("> \t")) for piece in _printing(program))
    reads = any(_begins_name(rest.lstrip(" \t")) for rest in _behind(program, "<", "getline"))
    return writes, reads


def _printing(program: str) -> list[str]:
    """What stands behind each `>` of a print statement."""
    found: list[str] = []
    for statement in program.replace(";", "\n").replace("}", "\n").split("\n"):
        before, sign, rest = statement.partition(">")
        if sign and "print" in before:
            found.append(rest)
    return found


def _behind(program: str, sign: str, word: str) -> list[str]:
    """What stands behind each sign that comes soon after the word."""
    pieces = [piece[:64].partition(sign) for piece in program.split(word)[1:]]
    return [rest for before, found, rest in pieces if found and ";" not in before]


def _begins_name(text: str) -> bool:
    return text[:1].isalpha() or text[:1] in {"_", "("}


def code_files(code: str) -> tuple[list[str], bool]:
    """What code in another language holds that may name a file, and whether it is seen to write.

    Only names that stand as a whole in quotes are seen.
    """
    texts = [text.lstrip(MODES) for text in quoted(code)]
    names = [text for text in texts if 0 < len(text) < 512 and BREAKS.isdisjoint(text)]
    return names, any(sign in code for sign in WRITES) or _opens_to_write(code)


def quoted(code: str) -> list[str]:
    """The texts between quotes, as nearly every language writes them."""
    found: list[str] = []
    at, size = 0, len(code)
    while at < size:
        char = code[at]
        at += 1
        if char not in SIGNS:
            continue
        begin = at
        while at < size and code[at] != char and code[at] != "\n":
            at += 2 if code[at] == "\\" else 1
        found.append(code[begin:at])
        at += 1
    return found


def _opens_to_write(code: str) -> bool:
    for opener in OPENS:
        for piece in code.split(opener)[1:]:
            texts = quoted(piece.partition(")")[0])
            modes = [text for text in texts if 0 < len(text) < 4 and set(text) <= set("rwaxbt+")]
            if any(not {"w", "a", "x", "+"}.isdisjoint(mode) for mode in modes):
                return True
    return False


def _past(script: str, at: int, delimiter: str, brackets: bool) -> int:
    """Behind the next delimiter that is neither escaped nor in brackets, where they count."""
    size = len(script)
    while at < size:
        char = script[at]
        if char == "\\":
            at += 2
            continue
        if char == delimiter:
            return at + 1
        if char == "[" and brackets:
            end = script.find("]", at + 2)
            if end > 0 and "\n" not in script[at:end]:
                at = end
        at += 1
    return size


def _file(script: str, at: int, writes: bool, found: list[tuple[str, bool]]) -> int:
    end = _line_end(script, at)
    name = script[at:end].strip()
    if name and name[:5] != "/dev/":
        found.append((name, writes))
    return end


def _line_end(script: str, at: int) -> int:
    end = script.find("\n", at)
    return len(script) if end < 0 else end
