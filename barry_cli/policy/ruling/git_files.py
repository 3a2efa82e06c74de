"""Which files git's subcommands read and write, as far as their words say it."""

from barry_cli.policy.ruling.file_use import CHANGE, READ, WRITE, FileUse
from barry_cli.policy.ruling.operands import after, known, take_apart
from barry_cli.policy.ruling.shell.reading import Word

BEFORE = frozenset("-C -c --git-dir --work-tree --namespace --exec-path --config-env".split())
VALUED = frozenset(
    """-m -F -C -c -b -B -s -S -G -L -n -U -o -u -X -t -e -f --message --file --author --date
    --cleanup --source --pathspec-from-file --format --pretty --since --until --after --before
    --grep --branch --output --template --reference --prefix --track --orphan --conflict
    --exclude --include --directory --max-count --skip""".split()
)
READS = frozenset(
    "add stage diff show blame annotate log grep cat-file hash-object difftool stash commit".split()
)
CHANGES = frozenset("checkout restore rm mv clean apply am update-index sparse-checkout".split())
MAKES = frozenset(("clone", "init", "worktree"))


def git(name: str, words: list[Word]) -> list[FileUse]:
    """Uses of files. What may as well be a branch is not sure."""
    folder: Word | None = None
    index = 0
    while index < len(words) and words[index].prefix[:1] == "-":
        option = words[index].text
        takes = option in BEFORE
        if option == "-C" and index + 1 < len(words):
            folder = words[index + 1]
        index += 2 if takes else 1
    if index >= len(words):
        return []
    verb, rest = words[index].text, words[index + 1 :]
    found = _by_verb(verb or "", rest)
    for use in found:
        use.folder = folder
    return found


def _by_verb(verb: str, rest: list[Word]) -> list[FileUse]:
    valued = VALUED - {"-f", "-n", "-u", "-e"} if verb in CHANGES | READS | MAKES else VALUED
    taken = take_apart(rest, valued)
    ended = _behind_dashes(rest)
    reason = f"git {verb}"
    found: list[FileUse] = []
    if verb == "commit":
        found.extend(FileUse(READ, word, reason) for word in taken.values("-F", "--file"))
    if verb in {"archive", "format-patch", "diff"}:
        found.extend(FileUse(WRITE, word, reason) for word in taken.values("--output", "-o"))
    if verb in READS:
        for word in taken.operands:
            shown = _with_revision(word)
            found.extend(FileUse(READ, each, reason).unsure() for each in shown)
    elif verb in {"apply", "am"}:
        found.extend(FileUse(READ, word, reason) for word in taken.operands)
        if not taken.has("--check", "--stat", "--numstat", "--summary"):
            found.append(FileUse(CHANGE, None, reason))
    elif verb in CHANGES:
        for word in taken.operands:
            use = FileUse(CHANGE, word, reason)
            use.sure = word in ended or verb in {"restore", "rm", "mv"}
            use.tree = verb in {"rm", "mv"}
            found.append(use)
    elif verb in MAKES:
        found.extend(FileUse(CHANGE, word, reason) for word in taken.operands[1:2])
    return found


def _with_revision(word: Word) -> list[Word]:
    """`HEAD:path` shows a file too."""
    text = word.prefix
    at = text.find(":")
    return [word] if at < 0 or known(word)[:2] == ":(" else [word, after(word, at + 1)]


def _behind_dashes(words: list[Word]) -> list[Word]:
    for index, word in enumerate(words):
        if word.text == "--":
            return words[index + 1 :]
    return []
