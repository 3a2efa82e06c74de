"""git: aliases given with -c, helpers in options and settings, subcommands that run others."""

from barry_cli.policy.ruling.programs.call import Call, Run, Script, Unknown, joined, known
from barry_cli.policy.ruling.programs.chains import GLOBALS
from barry_cli.policy.ruling.programs.helpers import helping_script
from barry_cli.policy.ruling.programs.options import scan
from barry_cli.policy.ruling.programs.shells import Inner
from barry_cli.policy.ruling.shell.nodes import Word

_PROGRAM_SETTINGS = frozenset(
    "core.pager core.editor core.sshcommand core.fsmonitor core.askpass core.gitproxy diff.external"
    " sequence.editor credential.helper gpg.program interactive.difffilter".split()
)
_PROGRAM_ENDS = (".cmd", ".textconv", ".clean", ".smudge", ".process", ".driver", ".program")

# Settings and options like these, somewhere in the line, may be what an unknown word holds.
_RUNNING = ("alias.", "core.", "diff.external", "--exec", "--upload-pack", "credential.helper")

# Subcommand -> its options; `%` marks the programs.
_OPTIONS: dict[str, str] = {
    "rebase": "x% exec% onto: s: strategy: X: C: i interactive autosquash root",
    "difftool": "x% extcmd% t: tool: d dir-diff g gui y no-prompt",
    "grep": "O? open-files-in-pager% e: f: A: B: C: m: max-count: threads:",
    "clone": "u% upload-pack% b: branch: c: config: depth: o: origin: j: jobs: reference: filter:",
    "fetch": "upload-pack% depth: j: jobs: refmap: filter: o: server-option:",
    "pull": "upload-pack% depth: j: jobs: s: X: o: server-option:",
    "push": "receive-pack% exec% o: push-option: repo:",
    "ls-remote": "upload-pack% exec% sort: o: server-option:",
    "archive": "exec% remote: format: o: output: prefix:",
    "send-email": "sendmail-cmd% to-cmd% cc-cmd% header-cmd%",
    "filter-branch": (
        "env-filter% tree-filter% index-filter% parent-filter% msg-filter% commit-filter%"
        " tag-name-filter% setup% d: f subdirectory-filter: original:"
    ),
}


def git(call: Call) -> list[Inner]:
    """What git runs besides itself, and what an alias given with -c stands for."""
    words = call.words
    found = scan(words, 1, GLOBALS["git"])
    inner: list[Inner] = []
    subcommand = words[found.at[0]].text if found.at and found.at[0] < len(words) else None
    rest = words[found.at[0] + 1 :] if subcommand is not None else []
    line = call.scope.place.line
    if any(word.many for word in words[1:]) and any(sign in line for sign in _RUNNING):
        ahead = [word for word in words[1:] if word.prefix == "" and word.text is None][:1]
        if ahead and (not found.at or words.index(ahead[0]) <= found.at[0]):
            inner.append(Unknown("git's options, which may run a program, can't be known", ahead))
    for name, value in found.given:
        if name == "c" and value is not None:
            inner += _setting(value, words[0], subcommand, rest)
    if subcommand is not None and rest:
        inner += _subcommand(subcommand, words[0], rest)
    return inner


def dashed(call: Call) -> list[Inner]:
    """`git-push` is `git push`."""
    first = call.words[0]
    return [Run([known("git", first), known(call.name[4:], first), *call.words[1:]])]


def _setting(word: Word, program: Word, subcommand: str | None, rest: list[Word]) -> list[Inner]:
    name, equal, _ = word.prefix.partition("=")
    lowered = name.lower()
    if not equal:
        return []
    if lowered[:6] == "alias.":
        if subcommand is None or lowered[6:] != subcommand.lower():
            return []
        value = (joined([word], lenient=True) or "")[len(name) + 1 :]
        if value[:1] == "!":
            return [Script(value[1:], [word])]
        return [Run([program, *(known(piece, word) for piece in _split(value)), *rest])]
    if lowered in _PROGRAM_SETTINGS or lowered.endswith(_PROGRAM_ENDS) or lowered[:6] == "pager.":
        skip = len(name) + 1
        if word.prefix[skip : skip + 1] == "!":
            skip += 1
        return [helping_script(word, skip)]
    return []


def configured(name: str, value: Word, skip: int) -> list[Inner]:
    """What settings in git's own variables may run: each one as a program and as an alias."""
    text = (joined([value], lenient=True) or "")[skip:]
    texts = [text]
    if name == "GIT_CONFIG_PARAMETERS":
        quoted = text.split("'")[1::2]
        texts = [each.partition("=")[2] or each for each in quoted]
    found: list[Inner] = []
    for each in texts:
        script = Script(each.removeprefix("!"), [value])
        script.lenient = True
        found.append(script)
        pieces = _split(each)
        if pieces and each[:1] != "!":
            found.append(Run([known("git", value), *(known(piece, value) for piece in pieces)]))
    return found


def _split(value: str) -> list[str]:
    return [piece.strip("'\"") for piece in value.split()]


def _subcommand(name: str, program: Word, rest: list[Word]) -> list[Inner]:
    inner: list[Inner] = []
    if name == "bisect":
        if rest[0].text == "run" and len(rest) > 1:
            inner.append(Run(rest[1:]))
    elif name == "submodule":
        inner += _for_each(rest)
    elif name == "for-each-repo":
        at = scan(rest, 0, "config: keep-going").at
        if at and at[0] < len(rest):
            inner.append(Run([program, *rest[at[0] :]]))
    options = _OPTIONS.get(name)
    if options is not None:
        found = scan(rest, 0, options, through=True)
        programs = [item.rstrip("%?") for item in options.split() if item[-1] in "%?"]
        inner += [helping_script(v) for n, v in found.given if v is not None and n in programs]
    inner += [helping_script(word, 5) for word in rest if word.prefix[:5] == "ext::"]
    return inner


def _for_each(rest: list[Word]) -> list[Inner]:
    """`submodule foreach`: one word is read by a shell, several are a command."""
    if rest[0].text != "foreach":
        return []
    words = rest[1:]
    while words and words[0].text in {"--recursive", "--quiet", "-q"}:
        words = words[1:]
    if len(words) == 1:
        return [Script(joined(words), words)]
    return [Run(words)] if words else []
