"""What a user may type after ``--`` where Barry's plugin has to hold."""

from __future__ import annotations

from collections.abc import Sequence

from barry_cli.adapters import Refused

_WITH_VALUE = {
    "-m": "--model",
    "--model": "--model",
    "-s": "--session",
    "--session": "--session",
    "--prompt": "--prompt",
    "--agent": "--agent",
    "--log-level": "--log-level",
}
_ALONE = {"-c": "--continue", "--continue": "--continue"} | {
    name: name for name in ("--fork", "--auto", "--print-logs")
}


def typed(words: Sequence[str]) -> dict[str, str]:
    """The flags among the user's words, by their long names.

    Raises Refused for every other word: opencode can be told to leave plugins out, to open a port
    for anybody, to work in another folder, or to run elsewhere.
    """
    found: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, joined, value = word.partition("=")
        if name in _WITH_VALUE and (joined or rest):
            found[_WITH_VALUE[name]] = value if joined else rest.pop(0)
        elif word in _ALONE:
            found[_ALONE[word]] = ""
        else:
            raise Refused(
                f"opencode can't be given {word} in this mode: what rules on its calls may not "
                "hold then",
                hint=f"leave it out, or use `--mode guest`; what can be given: "
                f"{', '.join(sorted({*_WITH_VALUE, *_ALONE}))}",
            )
    return found
