"""Programs with a little language of their own that names commands: make, Tcl, socat, and more."""

from barry_cli.policy.ruling.programs.call import HOLE, Call, Run, Script, Unknown, joined, known
from barry_cli.policy.ruling.programs.feeds import HIDDEN, SHOWN, Fed, of_file
from barry_cli.policy.ruling.programs.feeds import fed as fed_to
from barry_cli.policy.ruling.programs.helpers import helping_script
from barry_cli.policy.ruling.programs.options import scan
from barry_cli.policy.ruling.programs.shells import Inner
from barry_cli.policy.ruling.shell.nodes import Word

_TCL = frozenset(("exec", "spawn", "system"))
_TCL_BREAKS = {**dict.fromkeys(map(ord, ";{}[]\"'"), "\n")}
_MAKEFILES = frozenset(("-f", "--file", "--makefile"))
_ADDRESSES = ("EXEC:", "SYSTEM:", "SHELL:")
_EMACS = ("shell-command", "call-process", "start-process", "async-shell-command", "compile")


def make(call: Call) -> list[Inner]:
    """`SHELL=`, `--eval`, and a makefile that the line shows."""
    words = call.words
    found: list[Inner] = []
    for at, word in enumerate(words[1:], 1):
        head = word.prefix
        following = words[at + 1] if at + 1 < len(words) else None
        if head[:6] == "SHELL=":
            found.append(helping_script(word, 6))
        elif head[:7] == "--eval=":
            found += _recipes(head[7:], word)
        elif head == "--eval" and following is not None:
            found += _recipes(following.prefix, following)
        elif head in _MAKEFILES and following is not None:
            found += _makefile(of_file(following, call), call)
        elif head == "-f-":
            found += _makefile(fed_to(call), call)
    return found


def _makefile(source: Fed, call: Call) -> list[Inner]:
    if source.kind == HIDDEN:
        return [Unknown("make reads rules that the line doesn't show", call.words)]
    found: list[Inner] = []
    for word in source.words if source.kind == SHOWN else []:
        for item in _recipes(word.text or "", word):
            if isinstance(item, Script):
                item.place = source.place
            found.append(item)
    return found


def _recipes(text: str, near: Word) -> list[Inner]:
    """The lines that make hands to a shell, and what `$(shell ..)` and `!=` run."""
    found: list[Inner] = []
    for line in text.replace("\\\n", " ").split("\n"):
        head, colon, recipe = line.partition(";")
        if line[:1] == "\t":
            found.append(_text(line.lstrip("\t @-+"), near))
        elif colon and ":" in head:
            found.append(_text(recipe.lstrip(" \t@-+"), near))
        shells = line.split("$(shell ")[1:]
        found += [_text(piece.rpartition(")")[0] or piece, near) for piece in shells]
        if "!=" in line and line[:1] != "\t":
            found.append(_text(line.partition("!=")[2], near))
    return found


def _text(text: str, near: Word) -> Script:
    script = Script(text.replace("$$", "$"), [near])
    script.lenient = True
    return script


def tcl(call: Call) -> list[Inner]:
    """`expect -c`, and what Tcl's interpreters read: exec, spawn and system."""
    words = call.words
    found: list[Inner] = []
    for at, word in enumerate(words[1:], 1):
        if call.name == "expect" and words[at - 1].text == "-c":
            found += _tcl(joined([word], lenient=True) or "", word)
    if not found and not any(word.prefix[:1] != "-" for word in words[1:]):
        source = fed_to(call)
        for word in source.words if source.kind == SHOWN else []:
            found += _tcl(word.text or "", word)
    return found


def _tcl(code: str, near: Word) -> list[Inner]:
    found: list[Inner] = []
    for line in code.split("\n"):
        verb, _, rest = line.strip().partition(" ")
        if verb in _TCL:
            found.append(_text(rest.removeprefix("-noecho ").strip(), near))
            continue
        for piece in line.translate(_TCL_BREAKS).split("\n"):
            verb, _, rest = piece.strip().partition(" ")
            if verb in _TCL and rest:
                found.append(_text(rest, near))
    return found


def socat(call: Call) -> list[Inner]:
    """`EXEC:` and its kin, up to the options behind a comma."""
    found: list[Inner] = []
    for word in call.words[1:]:
        text = joined([word], lenient=True) or ""
        folded = text.upper()
        for sign in _ADDRESSES:
            at = folded.find(sign)
            if at >= 0:
                found.append(_text(text[at + len(sign) :].partition(",")[0], word))
    return found


def grouped(call: Call) -> list[Inner]:
    """`sg GROUP [-c] TEXT` and newgrp."""
    words = [word for word in call.words[1:] if word.text not in {"-", "-c"}]
    return [Script(joined(words[1:2]), words[1:2])] if len(words) > 1 else []


def capsh(call: Call) -> list[Inner]:
    """Behind `--` or `==` stand the words of a bash."""
    words = call.words
    for at in range(1, len(words)):
        if words[at].text == "==":
            return [Run([known("capsh", words[at]), *words[at + 1 :]])]
        if words[at].text == "--":
            return [Run([known("bash", words[at]), *words[at + 1 :]])]
        if words[at].prefix[:8] == "--shell=":
            return [Run([known(words[at].prefix[8:], words[at]), *words[at + 1 :]])]
    return []


def labelled(call: Call) -> list[Inner]:
    """runcon: a context, whole or by options, then a command."""
    found = scan(call.words, 1, "c compute t: type: u: user: r: role: l: range: help! version!")
    for start in [] if found.stop else found.at:
        whole = not any(name != "c" for name, _ in found.given)
        behind = call.words[start + whole :]
        return [Run(behind)] if behind else []
    return []


def terminal(call: Call) -> list[Inner]:
    """A terminal: `-e` or `-x` with a command behind, or one that stands behind `--`."""
    words = call.words
    for at in range(1, len(words)):
        text = words[at].text or ""
        if text in {"-e", "-x", "--command", "--execute", "--", "start"}:
            rest = words[at + 1 :]
            if rest and rest[0].text == "--":
                rest = rest[1:]
            if len(rest) == 1:
                return [Script(joined(rest), rest)]
            return [Run(rest)] if rest else []
        if text[:10] == "--command=":
            return [helping_script(words[at], 10)]
    return []


def compiled(call: Call) -> list[Inner]:
    """`gcc -wrapper PROGRAM,WORD,..`."""
    words = call.words
    for at in range(1, len(words) - 1):
        if words[at].text == "-wrapper":
            value = words[at + 1]
            pieces = (joined([value], lenient=True) or HOLE).split(",")
            return [Run([known(piece, value) for piece in pieces])]
    return []


def emacs(call: Call) -> list[Inner]:
    """Lisp that plainly starts a shell's command."""
    words = call.words
    found: list[Inner] = []
    for at in range(1, len(words)):
        if words[at - 1].text not in {"--eval", "-eval", "--execute", "-execute"}:
            continue
        code = words[at].prefix
        for sign in _EMACS:
            for piece in code.split(f"({sign}")[1:]:
                strings = piece.split('"')[1::2]
                if strings:
                    text = strings[0] if "shell" in sign or sign == "compile" else " ".join(strings)
                    found.append(_text(text, words[at]))
    return found
