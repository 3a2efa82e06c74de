"""Editors and debuggers: the shell commands among their own commands."""

from barry_cli.policy.ruling.programs.call import Call, Run, Script
from barry_cli.policy.ruling.programs.code import started
from barry_cli.policy.ruling.programs.feeds import SHOWN, fed
from barry_cli.policy.ruling.programs.helpers import helping_script
from barry_cli.policy.ruling.programs.options import scan
from barry_cli.policy.ruling.programs.shells import Inner
from barry_cli.policy.ruling.shell.nodes import Word

_GDB_COMMANDS = frozenset(("-ex", "--ex", "-eval-command", "--eval-command", "-iex"))


def debugger(call: Call) -> list[Inner]:
    """`gdb`: the words behind --args, and shell commands among its own."""
    words = call.words
    inner: list[Inner] = []
    for at in range(1, len(words) - 1):
        text = words[at].text
        if text in {"--args", "-args"}:
            return [*inner, Run(words[at + 1 :])]
        if text in _GDB_COMMANDS:
            value = words[at + 1].prefix
            lead = len(value) - len(value.lstrip())
            for name in ("shell ", "!"):
                if value.startswith(name, lead):
                    inner += [helping_script(words[at + 1], lead + len(name))]
    return inner


def editor(call: Call) -> list[Inner]:
    """Vim and its kin: `!` commands given on the command line or in the input."""
    words = call.words
    inner: list[Inner] = []
    for at in range(1, len(words)):
        head = words[at].prefix
        if head in {"-c", "--cmd"} and at + 1 < len(words):
            inner += _banged(words[at + 1], 0)
        elif head[:2] == "-c" or (head[:2] == "-s" and head[-1:] == "c" and at + 1 < len(words)):
            inner += _banged(words[at], 2) if head[:2] == "-c" else _banged(words[at + 1], 0)
        elif head[:1] == "+":
            inner += _banged(words[at], 1)
    source = fed(call)
    for word in source.words if source.kind == SHOWN else []:
        for line in (word.text or "").split("\n"):
            bang = line.lstrip(": ")
            if bang[:1] == "!":
                script = Script(bang[1:], [word])
                script.place = source.place
                script.lenient = True
                inner.append(script)
    return inner


def _banged(word: Word, skip: int) -> list[Inner]:
    text = word.prefix[skip:]
    if "system(" in text:
        return started(text, word)
    before, bang, _ = text.partition("!")
    if not bang or before.strip(": ") not in {"", "silent", "sil", "exe", "r", "read", "%", "."}:
        return []
    return [helping_script(word, skip + len(before) + 1)]


def sed(call: Call) -> list[Inner]:
    """GNU sed's `e`, as a command and as a flag of `s`."""
    found = scan(
        call.words, 1, "e: expression: f: file: l: line-length: n s E r z u i? in-place", True
    )
    scripts = [v for n, v in found.given if n in {"e", "expression"} and v is not None]
    if not scripts and not any(name in {"f", "file"} for name, _ in found.given):
        scripts = [call.words[at] for at in found.at[:1] if at < len(call.words)]
    inner: list[Inner] = []
    for word in scripts:
        for line in (word.text or "").replace(";", "\n").split("\n"):
            text = line.strip()
            bare = _unaddressed(text)
            if bare[:2] == "e ":
                inner.append(_code_text(bare[2:].rstrip("}"), word))
            elif bare[:1] == "s" and len(bare) > 4:
                pieces = bare[2:].split(bare[1])
                if (
                    len(pieces) == 3
                    and "e" in pieces[2]
                    and pieces[2].strip("egpiImM0123456789") == ""
                ):
                    inner.append(_code_text(pieces[1], word))
    return inner


def _unaddressed(text: str) -> str:
    """The command behind its addresses and an opening brace."""
    while True:
        text = text.lstrip("0123456789$,~+!{ ")
        if text[:1] != "/":
            return text
        at = 1
        while at < len(text) and text[at] != "/":
            at += 2 if text[at] == "\\" else 1
        text = text[at + 1 :].lstrip("IM")


def _code_text(text: str, word: Word) -> Script:
    script = Script(text, [word])
    script.lenient = True
    return script
