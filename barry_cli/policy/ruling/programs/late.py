"""What bash runs later than it reads it: in values, in subscripts, in aliases."""

from barry_cli.policy.ruling.programs.call import HOLE, Call, Run, Script, joined, unknown
from barry_cli.policy.ruling.programs.feeds import of_file
from barry_cli.policy.ruling.programs.helpers import HELPERS, SETTINGS, helping_script
from barry_cli.policy.ruling.programs.shells import Inner, file_script, inherited
from barry_cli.policy.ruling.shell.nodes import PROCESS_IN, Word

# Variables whose value bash expands when it starts, shows a prompt or traces.
_EXPANDED = frozenset(("BASH_ENV", "ENV", "PS0", "PS1", "PS2", "PS4"))
_STARTS = frozenset(("BASH_ENV", "ENV"))
_DECLARE = frozenset(("declare", "local", "typeset"))
_EXPANDING = ("expand_aliases", "posix", "POSIXLY_CORRECT")


def given(name: str, value: Word, call: Call, skip: int = 0) -> list[Inner]:
    """What is run by and by when a variable has this value, of which `skip` characters are its
    name.
    """
    if name in HELPERS:
        piped = value.prefix[skip : skip + 3].lstrip("|-@")  # how `less` is told to read a pipe
        return [helping_script(value, skip + len(value.prefix[skip : skip + 3]) - len(piped))]
    if name.startswith(SETTINGS):
        from barry_cli.policy.ruling.programs.git import configured

        return configured(name, value, skip)
    if name == "PROMPT_COMMAND":
        return [helping_script(value, skip)]
    if name[:10] == "BASH_FUNC_":
        return [helping_script(value, skip + value.prefix[skip:].find("{"))]
    if name in _STARTS and any(part.kind == PROCESS_IN for part in value.parts):
        return file_script(of_file(value, call), call)
    text = value.text
    if text is None or not _substitutes(text[skip:]):
        return []
    text = text[skip:]
    return [_expanded(text, value, call)] if name in _EXPANDED or _is_subscript(text) else []


def declared(call: Call) -> list[Inner]:
    """export, declare and their kin: values, and the subscripts in names."""
    found: list[Inner] = []
    for word in call.words[1:]:
        name, equal, _ = word.prefix.partition("=")
        if equal:
            found += given(name.rstrip("+"), word, call, len(name) + 1)
        text = word.text or ""
        if call.name in _DECLARE and _substitutes(text) and _is_subscript(text):
            found.append(_expanded(text, word, call))
    return found


def hashed(call: Call) -> list[Inner]:
    """`hash -p FILE NAME`: from then on NAME is that program, with any words."""
    words = call.words
    for at in range(1, len(words) - 1):
        if words[at].text == "-p":
            return [Run([words[at + 1], unknown(words[at + 1], many=True)])]
    return []


def aliased(call: Call) -> list[Inner]:
    """alias: its text is a command with any words behind, where the shell makes use of aliases."""
    if not _uses_aliases(call):
        return []
    found: list[Inner] = []
    for word in call.words[1:]:
        name, equal, _ = word.prefix.partition("=")
        if name and equal:
            script = helping_script(word, len(name) + 1)
            script.text = f"{script.text} {HOLE}"
            found.append(script)
    return found


def bound(call: Call) -> list[Inner]:
    """`bind -x '"keys":command'`."""
    words = call.words
    for at in range(1, len(words) - 1):
        if words[at].text == "-x":
            return [helping_script(words[at + 1], words[at + 1].prefix.find(":") + 1)]
    return []


def completed(call: Call) -> list[Inner]:
    """For compgen and complete: -C gives a command, -W words that are expanded."""
    words = call.words
    found: list[Inner] = []
    for at, word in enumerate(words[1:], 1):
        head = word.prefix
        if head[:1] != "-" or head[:2] == "--":
            continue
        for sign in ("C", "W"):
            place = head.find(sign)
            if place < 0 or (sign == "W" and call.name != "compgen"):
                continue
            value, skip = word, place + 1
            if place == len(head) - 1 and word.text is not None:
                if at + 1 >= len(words):
                    continue
                value, skip = words[at + 1], 0
            found += _of_option(sign, value, skip, call)
    return found


def _of_option(sign: str, value: Word, skip: int, call: Call) -> list[Inner]:
    if sign == "C":
        text = joined([value])
        return [inherited(text[skip:] if text is not None else None, [value], call)]
    text = (value.text or "")[skip:]
    return [_expanded(text, value, call)] if _substitutes(text) else []


def subscripted(call: Call) -> list[Inner]:
    """Builtins that take a variable's name run what its subscript holds."""
    words = call.words
    found: list[Inner] = []
    for at, word in enumerate(words[1:], 1):
        text = word.text
        if text is None or "[" not in text or not _substitutes(text):
            continue
        before = words[at - 1].prefix
        if call.name in {"test", "["} and before != "-v":
            continue
        if call.name in {"printf", "wait"} and before[:2] not in {"-v", "-p"}:
            if text[:2] not in {"-v", "-p"}:
                continue
            text = text[2:]
        found.append(_expanded(text, word, call))
    return found


def _expanded(text: str, word: Word, call: Call) -> Script:
    script = inherited(f': "{text}"', [word], call)
    script.lenient = True
    return script


def _substitutes(text: str) -> bool:
    return "$(" in text or "`" in text


def _is_subscript(text: str) -> bool:
    """A name, a bracket, and in it what bash expands when it counts."""
    at = text.find("[")
    return at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_") and _substitutes(text[at:])


def _uses_aliases(call: Call) -> bool:
    scope = call.scope
    if scope.portable or any(sign in scope.place.line for sign in _EXPANDING):
        return True
    host = scope.host
    for word in host.words[1:] if host is not None else ():
        head = word.prefix
        if head[:1] != "-":
            break
        if head[1:2] != "-" and "i" in head:
            return True
    return False
