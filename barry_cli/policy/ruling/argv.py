"""From the words of an argv to the command line that runs exactly them."""

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")

_RESERVED = frozenset(
    (
        *("case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if"),
        *("in", "select", "then", "time", "until", "while"),
    )
)


def command_line(words: "list[str] | tuple[str, ...]") -> str:
    """The words quoted where bash would take them for something else."""
    if not words:
        return ""
    first, *rest = words
    # As the name of a program these two would be syntax.
    plain = _is_safe(first) and "=" not in first and first not in _RESERVED
    return " ".join([first if plain else _quoted(first), *map(quote, rest)])


def quote(word: str) -> str:
    """One word as bash reads it back."""
    return word if _is_safe(word) else _quoted(word)


def is_whole_line(words: "list[str] | tuple[str, ...]") -> bool:
    """Is it one word that no program is called: a command line that somebody quoted whole?"""
    return len(words) == 1 and not _is_safe(words[0])


def _is_safe(word: str) -> bool:
    return bool(word) and _SAFE.issuperset(word)


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\"'\"'") + "'"
