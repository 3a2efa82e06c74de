"""What a failed turn's texts say about why: a usage limit, an outage, a lost conversation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

_AGAIN = re.compile(r"\b(?:retrying|reconnecting|will retry|trying again)\b", re.IGNORECASE)


def is_retry(text: str) -> bool:
    """Whether a text is about another try: what it names has not ended anything."""
    return _AGAIN.search(text) is not None


def first_match(says: Callable[[str], bool] | None, texts: Iterable[str]) -> str | None:
    """The first text that a matcher recognises; a matcher that raises recognises nothing."""
    if says is None:
        return None
    for text in texts:
        if not text.strip() or is_retry(text):
            continue
        try:
            if says(text):
                return text.strip()
        except Exception:  # noqa: S112 - adapter's code, of which nothing is shown
            continue
    return None


def sources(failures: Iterable[str], stderr: str) -> Iterator[str]:
    """Where to look, in order: what the harness called its failure, then stderr line by line."""
    yield from failures
    yield from stderr.splitlines()
