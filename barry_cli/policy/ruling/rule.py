"""The one ruling: what a compiled policy says about one call of one tool."""

import posix

from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.ruling.verdict import Verdict, allowed
from barry_cli.policy.ruling.wording import denied

# Under these names a tool's input may say in which folder its command runs.
_FOLDERS = (
    "cwd workdir working_directory workingDirectory directory dir dir_path dirPath folder".split()
)
_WHOLE = {"read": "reads", "write": "writes", "patch": "changes"}


def rule(policy: Policy, tool: str, input: object, cwd: str) -> Verdict:
    """The ruling on a call of `tool`, a harness's own or any other, with `input` in `cwd`.

    `tool` and the fields of its input are known from the policy's tool table alone; a tool that
    isn't listed there is ruled by its name. Never raises: what goes wrong is undecidable.
    """
    try:
        return _rule(policy, tool, input, _folder(cwd, policy))
    except Exception as fault:  # a fault of ours must refuse the call, not let it through
        return denied(
            "", "", f"the ruling failed: {type(fault).__name__}", unsure="a fault in Barry"
        )


def rule_command(policy: Policy, text: str, cwd: str) -> Verdict:
    """The ruling on a command line. Never raises."""
    from barry_cli.policy.ruling.command import command_verdict

    try:
        return command_verdict(policy, text, [_folder(cwd, policy)])
    except Exception as fault:  # as above
        return denied(
            "", "", f"the ruling failed: {type(fault).__name__}", unsure="a fault in Barry"
        )


def _rule(policy: Policy, tool: str, input: object, cwd: str) -> Verdict:
    from barry_cli.policy.ruling.tools import name_verdict, row_of

    row = row_of(policy, tool)
    verdict = name_verdict(policy, tool, row)
    if verdict is not None:
        return verdict
    if row is None:
        return _unlisted(policy, tool, input, cwd)
    kind, fields = row
    if kind == "shell":
        return _shell(policy, fields, input, cwd)
    if kind in _WHOLE:
        return _files(policy, kind, fields, input, cwd)
    if kind == "url":
        return _urls(policy, fields, input, cwd)
    return allowed()


def _shell(policy: Policy, fields: tuple[str, ...], input: object, cwd: str) -> Verdict:
    from barry_cli.policy.ruling.command import command_verdict, is_restricted

    if not fields:
        return allowed()
    folders = [cwd]
    if isinstance(input, dict):
        for name in _FOLDERS:
            value = input.get(name)
            if isinstance(value, str) and value and name not in fields:
                folders.insert(0, _folder(value, policy, cwd))
    found = _all_texts(input, fields)
    if not found and is_restricted(policy):
        return _missing(fields, "the command line")
    last = allowed()
    for words in found:
        # Several texts are the words of one command.
        text = words[0] if len(words) == 1 else " ".join(map(_quoted, words))
        if text and not any(char.isprintable() for char in text):
            continue  # keys for a program that runs already: nothing is started
        last = command_verdict(policy, text, folders)
        if not last.allowed:
            return last
    return last


def _files(policy: Policy, kind: str, fields: tuple[str, ...], input: object, cwd: str) -> Verdict:
    from barry_cli.policy.ruling.file_tools import patch_verdict, path_verdict

    if not fields:
        return allowed()
    found = _all_texts(input, fields)
    if not found and kind != "read":
        return _missing(fields, "the file")
    last = allowed()
    # Tools that search begin where the session stands.
    for text in [each for texts in found for each in texts] or [cwd]:
        check = patch_verdict if kind == "patch" else path_verdict
        last = check(policy, text, kind, cwd)
        if not last.allowed:
            return last
    return last


def _urls(policy: Policy, fields: tuple[str, ...], input: object, cwd: str) -> Verdict:
    from barry_cli.policy.ruling.url_tools import fetch_verdict, url_verdict

    verdict = fetch_verdict(policy)
    if verdict is not None:
        return verdict
    found = _all_texts(input, fields)
    if fields and not found and (policy.domains or policy.allow_domains is not None):
        return _missing(fields, "the URL")
    last = allowed()
    for text in [each for texts in found for each in texts]:
        last = url_verdict(policy, text, cwd)
        if not last.allowed:
            return last
    return last


def _unlisted(policy: Policy, tool: str, input: object, cwd: str) -> Verdict:
    """Any other tool: only known URL parameters are looked at."""
    from barry_cli.policy.ruling.tool_names import identities
    from barry_cli.policy.ruling.url_tools import url_verdict

    urls = policy.urls
    for _, name in identities(tool, ""):
        field = urls.get(name)
        for text in (_texts(input, field, (field,)) or ()) if isinstance(field, str) else ():
            verdict = url_verdict(policy, text, cwd)
            if not verdict.allowed:
                return verdict
    return allowed()


def _texts(input: object, field: str, fields: tuple[str, ...]) -> list[str] | None:
    """What an input's field holds: a text or several; None when it isn't there or holds neither.

    A dot leads into a table. An input that is a text is its tool's only field.
    """
    if isinstance(input, str) and len(fields) == 1:
        return [input]
    value: object = input
    if not (isinstance(value, dict) and field in value):
        for name in field.split("."):
            value = value.get(name) if isinstance(value, dict) else None
    else:
        value = value[field]
    if isinstance(value, str):
        return [value]
    if isinstance(value, (list, tuple)) and value and all(isinstance(each, str) for each in value):
        return [each for each in value if isinstance(each, str)]
    return None


def _all_texts(input: object, fields: tuple[str, ...]) -> list[list[str]]:
    """What is there of a tool's fields. One of several may be left out of a call."""
    found = [_texts(input, field, fields) for field in fields]
    return [texts for texts in found if texts is not None]


def _missing(fields: tuple[str, ...], what: str) -> Verdict:
    names = " or ".join(map(repr, fields))
    return denied(
        "", "", f"{what} can't be seen", unsure=f"the tool's input has no text under {names}"
    )


def _folder(folder: str, policy: Policy, within: str = "") -> str:
    if folder[:1] == "/":
        return folder
    base = within or policy.root
    if not base:
        try:
            base = posix.getcwd()
        except OSError:
            base = "/"
    return f"{base}/{folder}" if folder else base


def _quoted(word: str) -> str:
    if (
        word
        and word.isascii()
        and word.replace("-", "").replace("/", "").replace(".", "").isalnum()
    ):
        return word
    return "'" + word.replace("'", "'\\''") + "'"
