"""Which files git's subcommands read and write, as far as their words say it."""

from barry_cli.policy.ruling.file_use import CHANGE, READ, TOUCH, WRITE, FileUse
from barry_cli.policy.ruling.operands import Operands, after, known, take_apart
from barry_cli.policy.ruling.shell.reading import Word

BEFORE = frozenset("-C -c --git-dir --work-tree --namespace --exec-path --config-env".split())
VALUED = frozenset(
    """-m -F -C -c -b -B -s -S -G -L -n -U -o -u -X -t -e -f --message --file --author --date
    --cleanup --source --pathspec-from-file --format --pretty --since --until --after --before
    --grep --branch --output --template --reference --prefix --track --orphan --conflict
    --exclude --include --directory --max-count --skip --output-directory --contents""".split()
)
READS = frozenset(
    """add stage diff show blame annotate log grep cat-file hash-object difftool stash commit
    archive interpret-trailers send-email mailinfo mailsplit stripspace""".split()
)
CHANGES = frozenset(
    """checkout restore rm mv apply am update-index sparse-checkout checkout-index merge-file
    mergetool""".split()
)
FOLDERS = {
    "apply": ("--directory",),
    "checkout-index": ("--prefix",),
    "read-tree": ("--prefix",),
}
"""Subcommand -> options that say below which folder of the working tree it writes."""
MAKES = frozenset(("clone", "worktree"))
MAKES_FILES = frozenset(("archive", "format-patch", "diff", "fast-export", "send-email"))
CHANGES_SETTINGS = (
    "--unset",
    "--unset-all",
    "--add",
    "--replace-all",
    "--rename-section",
    "--remove-section",
    "-e",
    "--edit",
)
READS_SETTINGS = ("--get", "--get-all", "--get-regexp", "--list", "-l", "--get-urlmatch")


def git(name: str, words: list[Word]) -> list[FileUse]:
    """Uses of files. What may as well be a branch is not sure."""
    folder: Word | None = None
    index = 0
    while index < len(words) and words[index].prefix[:1] == "-":
        option = words[index].text
        takes = option in BEFORE
        if option in {"-C", "--work-tree"} and index + 1 < len(words):
            folder = words[index + 1]
        elif words[index].prefix[:12] == "--work-tree=":
            folder = after(words[index], 12)
        index += 2 if takes else 1
    if index >= len(words):
        return []
    verb, rest = words[index].text, words[index + 1 :]
    found = _by_verb(verb or "", rest)
    for use in found:
        use.folder = folder
    return found


def _settings(rest: list[Word]) -> list[FileUse]:
    """`git config -f FILE`: read, or written when a value or a change is asked for."""
    valued = frozenset("-f --file --type -t --default --blob --comment --value --url".split())
    taken = take_apart(rest, valued)
    changing = taken.has(*CHANGES_SETTINGS) or len(taken.operands) > 1
    if taken.has(*READS_SETTINGS) or (taken.operands and taken.operands[0].text in {"get", "list"}):
        changing = False
    kind = WRITE if changing else READ
    return [FileUse(kind, word, "git config -f") for word in taken.values("-f", "--file")]


def _cleaned(rest: list[Word]) -> list[FileUse]:
    """`git clean`: what isn't tracked is gone; as if nothing was, since that isn't known."""
    taken = take_apart(rest, frozenset(("-e", "--exclude")))
    if taken.has("-n", "--dry-run") or not rest:
        return []
    from barry_cli.policy.ruling.searches import spared

    tops = taken.operands or [Word(".", rest[0].start, rest[0].end, True)]
    found = [FileUse(CHANGE, word, "git clean").whole() for word in tops]
    for use in found:
        use.only = spared([word.text or "" for word in taken.values("-e", "--exclude")])
        use.only.most = 1 << 30 if taken.has("-d", "-x", "-X") else 1
    return found


def _by_verb(verb: str, rest: list[Word]) -> list[FileUse]:
    if not rest:
        return []
    valued = (
        VALUED - {"-f", "-n", "-u", "-e"}
        if verb in CHANGES | READS | MAKES | {*FOLDERS}
        else VALUED
    )
    taken = take_apart(rest, valued, loose=True)
    ended = _behind_dashes(rest)
    reason = f"git {verb}"
    found: list[FileUse] = []
    if verb == "config":
        return _settings(rest)
    if verb == "clean":
        return _cleaned(rest)
    found.extend(_by_options(verb, rest, taken))
    if verb in {"bundle", "submodule", "init"}:
        most = 2 if verb == "bundle" else 3
        at = {"bundle": 1, "submodule": 2, "init": 0}[verb]
        found.extend(FileUse(CHANGE, word, reason) for word in taken.operands[at:most])
        return found
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


def _by_options(verb: str, rest: list[Word], taken: Operands) -> list[FileUse]:
    reason = f"git {verb}"
    found: list[FileUse] = []
    if verb in {"commit", "tag", "notes", "merge"}:
        given = taken.values("-F", "--file", "-t", "--template")
        found.extend(FileUse(READ, word, reason) for word in given)
    if verb == "stash" and taken.has("-u", "-a", "--all", "--include-untracked"):
        found.append(FileUse(CHANGE, Word(".", rest[0].start, rest[0].end, True), reason).whole())
    found.extend(FileUse(READ, word, reason) for word in taken.values("--contents"))
    if verb in FOLDERS:
        given = [each for each in taken.values(*FOLDERS[verb]) if known(each).strip("/")]
        found.extend(FileUse(CHANGE, word, reason) for word in given)
    if verb in {"fast-export", "fast-import"}:
        marks = take_apart(rest, frozenset(("--export-marks", "--import-marks"))).options
        named = [each for each in marks if each.value is not None and "-marks" in each.name]
        found.extend(FileUse(TOUCH, each.value, reason) for each in named)
    if verb == "log":
        lines = [after(word, word.prefix.rfind(":") + 1) for word in taken.values("-L")]
        found.extend(FileUse(READ, word, reason).unsure() for word in lines)
    ignored = taken.has("--no-exclude-standard")
    ignored = ignored or (taken.has("--no-index") and not taken.has("--exclude-standard"))
    if verb == "grep" and ignored:  # what git ignores is searched, too
        tops = taken.operands[1:] or [Word(".", rest[0].start, rest[0].end, True)]
        found.extend(FileUse(READ, word, reason).whole() for word in tops)
    outs = ("--output", "-o", "--output-directory") if verb in MAKES_FILES else ("--output",)
    found.extend(FileUse(WRITE, word, reason) for word in taken.values(*outs))
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
