"""The user's own arguments for Codex, which come last: those that leave Barry's hooks alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_WITH_VALUE = frozenset(
    "-m --model -i --image -a --ask-for-approval -s --sandbox --add-dir -c --config".split()
)
_ALONE = frozenset(
    "--search --no-alt-screen --strict-config --dangerously-bypass-approvals-and-sandbox".split()
)
_SETTINGS = re.compile(
    r"(model|model_reasoning_\w+|model_verbosity|model_context_window|personality|approval_policy"
    r"|sandbox_mode|sandbox_workspace_write(\.\w+)?|tui(\.\w+)*|notice(\.[\w\".-]+)*|notify"
    r"|developer_instructions|model_instructions_file|hide_agent_reasoning|file_opener)"
)
"""Keys that were seen, or can be read, to have no say in which hooks run."""

_COMMANDS = frozenset(
    "a agents app-server apply archive cloud completion debug delete doctor e exec exec-server "
    "features fork help login logout mcp migrate-nfs-db migrate-rollouts plugin queue "
    "remote-control resume review sandbox unarchive update".split()
)


def unguarded(arguments: Sequence[str]) -> str | None:
    """The first argument after which Barry's hooks may be gone; None where none is."""
    return next(_unguarded(arguments), None)


def _unguarded(arguments: Sequence[str]) -> Iterator[str]:
    words = iter(arguments)
    for word in words:
        if word == "--":
            return  # what comes now is a prompt
        if not word.startswith("-") or word == "-":
            if word in _COMMANDS:
                yield word
            continue
        name, equals, value = word.partition("=")
        if not word.startswith("--") and len(word) > 2:
            name, equals, value = word[:2], "=", word[2:].removeprefix("=")
        if name in _WITH_VALUE:
            given = value if equals else next(words, "")
            key = given.partition("=")[0].strip()
            if name in ("-c", "--config") and not _SETTINGS.fullmatch(key):
                yield f"{name} {key}"
        elif word not in _ALONE:
            yield word
