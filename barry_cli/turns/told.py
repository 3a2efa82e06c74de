"""What an error says in a turn's record: its own sentence, without what is secret or private."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping

from barry_cli.base.problems import BarryError
from barry_cli.base.secrets import looks_secret, redact
from barry_cli.turns.writable import whole

LONGEST = 2000
"""Characters of an error's text that are kept."""

_SHORTEST = 6  # A shorter text is a word, and masking it would spoil the sentence.


def told(error: BaseException | str, private: object = None) -> str:
    """One line that can be shown.

    ``private`` is a JSON value (a checkpoint's payload, a configuration) of which no text may
    appear; neither may this process's own secrets. A trace never does.
    """
    if isinstance(error, str):
        text = error
    elif isinstance(error, BarryError):
        text = error.message
    else:
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    text = redact(text, [*_forms(_texts(private)), *_forms(_own_secrets())])
    line = whole(" ".join(text.split()))
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def _own_secrets() -> Iterator[str]:
    return (value for name, value in os.environ.items() if looks_secret(name))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _forms(texts: Iterable[str]) -> Iterator[str]:
    """Each text as it is, and as it stands in JSON or a repr."""
    for text in texts:
        if len(text) >= _SHORTEST:
            yield from (text, json.dumps(text)[1:-1], repr(text)[1:-1])
