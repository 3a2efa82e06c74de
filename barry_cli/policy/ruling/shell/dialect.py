"""Commands that change how bash reads what comes after them."""

from barry_cli.policy.ruling.shell.nodes import Command, Reading


def dialect(reading: Reading) -> str:
    """Why what was read may not be what bash reads, or ""."""
    text = reading.text
    if "keyword" in text or ("set" in text and "k" in text):
        for command in reading.commands:
            if _sets_keyword(command):
                return "set -k, which changes what assignments mean"
    if "alias" in text and ("expand_aliases" in text or "posix" in text.lower()):
        for command in reading.commands:
            if _first(command) == "alias" and "\n" in text[command.end :]:
                return "aliases that are expanded"
    return ""


def _first(command: Command) -> str:
    """The program behind `builtin` and `command`, "" when it isn't known."""
    for word in command.words:
        if word.text not in ("builtin", "command"):
            return word.text or ""
    return ""


def _sets_keyword(command: Command) -> bool:
    first = _first(command)
    if first not in ("set", "shopt"):
        return False
    for word in command.words:
        text = word.text
        if text == "keyword" or (
            first == "set" and text is not None and text[:1] == "-" and "k" in text
        ):
            return True
        if text in ("--", "-"):
            return False
    return False
