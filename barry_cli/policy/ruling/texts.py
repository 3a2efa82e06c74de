"""The files that text programs read and write by options and scripts of their own."""

from barry_cli.policy.ruling import scripts
from barry_cli.policy.ruling.file_use import READ, TOUCH, WRITE, FileUse, code_use, named
from barry_cli.policy.ruling.operands import after, known, pieces, take_apart
from barry_cli.policy.ruling.programs.code import given_code, language
from barry_cli.policy.ruling.shell.reading import Word


def sed(name: str, words: list[Word]) -> list[FileUse]:
    """Files that are edited in place, and those that the script names."""
    given = frozenset("-e -f -l --expression --file --line-length".split())
    taken = take_apart(words, given)
    operands = taken.operands
    texts = taken.values("-e", "--expression")
    files = taken.values("-f", "--file")
    if not texts and not files:
        texts, operands = operands[:1], operands[1:]
    found = [FileUse(READ, word, "sed -f") for word in files]
    for text in texts:
        for path, writes in scripts.sed_files(known(text)):
            kind = WRITE if writes else READ
            found.append(FileUse(kind, named(path, text), f"sed {'w' if writes else 'r'}"))
    back = any(_is_in_place(word) for word in _options(words, "ef"))
    found.extend(
        FileUse(WRITE if back else READ, word, "sed -i" if back else "sed") for word in operands
    )
    return found


def _options(words: list[Word], ends: str) -> list[str]:
    """The words that hold options, each cut off before a letter that takes the rest."""
    found = []
    for word in words:
        start = word.prefix
        if start == "--":
            break
        if start[:2] == "--":
            found.append(start)
        elif start[:1] == "-":
            for index, letter in enumerate(start[1:], 1):
                if letter in ends:
                    start = start[:index]
                    break
            found.append(start)
    return found


def _is_in_place(option: str) -> bool:
    if option[:2] == "--":
        name = option.partition("=")[0]
        return len(name) > 3 and "--in-place".startswith(name)
    return "i" in option


def awk(name: str, words: list[Word]) -> list[FileUse]:
    """The same for awk."""
    given = frozenset(
        "-f -v -F -i -l -e --file --assign --field-separator --include --source".split()
    )
    taken = take_apart(words, given)
    operands = taken.operands
    files = taken.values("-f", "--file")
    texts = taken.values("-e", "--source")
    back = any(value.text == "inplace" for value in taken.values("-i", "--include"))
    if not files and not texts:
        texts, operands = operands[:1], operands[1:]
    found = [FileUse(READ, word, f"{name} -f") for word in files]
    for text in texts:
        for path, writes in scripts.awk_files(known(text)):
            found.append(FileUse(WRITE if writes else READ, named(path, text), f"{name} program"))
        writes, reads = scripts.awk_opens_variables(known(text))
        if writes or reads:
            kind = TOUCH if writes and reads else WRITE if writes else READ
            assigned = [*taken.values("-v", "--assign"), *operands]
            held = [after(each, each.prefix.find("=") + 1) for each in assigned]
            held += [named(path, text) for path in scripts.code_files(known(text))[0]]
            found += [FileUse(kind, each, f"{name} program").unsure() for each in held]
    reason = f"{name} -i inplace" if back else name
    kind = WRITE if back else READ
    files = [word for word in operands if "=" not in known(word).partition("/")[0]]
    return found + [FileUse(kind, word, reason) for word in files]


def perl(name: str, words: list[Word]) -> list[FileUse]:
    """Options of perl and ruby: letters run together until one takes the rest."""
    operands: list[Word] = []
    found: list[FileUse] = []
    back = code = False
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        start = word.prefix
        if start[:1] != "-" or start == "-" or operands:
            operands.append(word)
            continue
        if start == "--":
            operands.extend(words[index:])
            break
        place, taker = _perl_letters(start)
        back = back or place
        if taker in {"e", "E"}:
            code = True
            attached = start.index(taker) + 1 < len(start) or word.text is None
            if attached or index < len(words):
                found.append(
                    code_use(
                        after(word, start.index(taker) + 1) if attached else words[index], name
                    )
                )
            index += 0 if attached else 1
        elif taker and start[-1:] == taker:
            index += taker in "IrC"
    if not code and operands:
        found.append(FileUse(READ, operands[0], name))
        operands = operands[1:]
    reason = f"{name} -i" if back else name
    found.extend(FileUse(WRITE if back else READ, word, reason) for word in operands)
    return found


def _perl_letters(start: str) -> tuple[bool, str]:
    """Is `i` among them, and which letter takes the rest of the word or the next one?"""
    for letter in start[1:]:
        if letter == "i":
            return True, ""
        if letter in "eEIMmFxrC":
            return False, letter
    return False, ""


def dd(name: str, words: list[Word]) -> list[FileUse]:
    """`if=` and `of=`."""
    found = []
    for word in words:
        if word.prefix[:3] == "of=":
            found.append(FileUse(WRITE, after(word, 3), "dd of="))
        elif word.prefix[:3] == "if=":
            found.append(FileUse(READ, after(word, 3), "dd if="))
    return found


def patch(name: str, words: list[Word]) -> list[FileUse]:
    """The file that a patch is for, where the words say it."""
    given = frozenset(
        """-i -o -d -p -F -r -B -D -g -V -Y -z --input --output --directory --strip --fuzz
        --reject-file --prefix --suffix --get --ifdef --basename-prefix --version-control""".split()
    )
    taken = take_apart(words, given)
    if taken.has("--dry-run", "-C", "--version", "-v", "--help"):
        return []
    found = [FileUse(READ, word, "patch -i") for word in taken.values("-i", "--input")]
    found.extend(FileUse(READ, word, "patch") for word in taken.operands[1:2])
    out = taken.values("-o", "--output")
    folders = taken.values("-d", "--directory")
    target = out[-1] if out else taken.operands[0] if taken.operands else None
    use = FileUse(WRITE, target, "patch")
    use.folder = folders[-1] if folders and not out else None
    return [use, *found]


EDIT_COMMANDS = frozenset(
    """r read w write wq x xit sav saveas e edit ex enew f file sp split vs vsplit tabe tabedit new
    so source so! badd view sview diffsplit hardcopy mks mksession""".split()
)


def edit(name: str, words: list[Word]) -> list[FileUse]:
    """Editors: whatever they open they may write."""
    given = "-p" if name == "ed" else "-c -S -u --cmd -s -i -p -T -U"
    silent = name == "ex" or any(word.prefix[:2] in {"-e", "-E"} for word in words)
    given = given.replace("-s ", "") if silent else given
    taken = take_apart(words, frozenset(given.split()))
    if taken.has("--version", "--help", "-R"):
        return [FileUse(READ, word, name) for word in taken.operands]
    operands = [word for word in taken.operands if word.prefix[:1] != "+"]
    found = [FileUse(WRITE, word, name) for word in operands]
    plus = [after(word, 1) for word in taken.operands if word.prefix[:1] == "+"]
    for word in [*taken.values("-c", "--cmd"), *plus]:
        found += edit_commands(word)
    return found


def edit_commands(word: Word) -> list[FileUse]:
    """The files in `:r FILE`, `:w FILE` and their kin, of which several may stand on a line."""
    found: list[FileUse] = []
    for line in known(word).replace("|", "\n").split("\n"):
        text = line.strip().lstrip(":%.$,0123456789 ")
        verb, _, rest = text.partition(" ")
        name = rest.strip().lstrip("!>+ ")
        plain = verb.rstrip("!")
        if name and name[:1] != "!" and plain in EDIT_COMMANDS:
            kind = WRITE if plain[:1] in {"w", "s", "x"} else READ
            found.append(FileUse(kind, named(name, word), f":{plain}"))
    return found


def code(name: str, words: list[Word]) -> list[FileUse]:
    """Interpreters: code as an option's value, else a script and words that it makes its own of."""
    known_as = language(name)
    codes = given_code(known_as, [Word(name, 0, 0, False), *words]) if known_as else []
    if codes:
        return [code_use(word, name) for word in codes]
    return [FileUse(READ, each, name).unsure() for word in words for each in pieces(word)]


OWN = {
    "awk": awk,
    "code": code,
    "dd": dd,
    "edit": edit,
    "patch": patch,
    "perl": perl,
    "sed": sed,
}
