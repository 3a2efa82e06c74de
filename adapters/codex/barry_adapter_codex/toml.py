"""Values as TOML, for ``-c key=value``: Codex reads what it can't parse as bare text, silently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Value = str | bool | int | Sequence["Value"] | Mapping[str, "Value"]

_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def toml(value: Value) -> str:
    """One value on one line.

    Raises ValueError for text that is no Unicode: TOML has no way to write it.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return f'"{"".join(map(_escaped, value))}"'
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{toml(key)} = {toml(each)}' for key, each in value.items())}}}"
    return f"[{', '.join(map(toml, value))}]"


def _escaped(letter: str) -> str:
    if letter in _SHORT:
        return _SHORT[letter]
    code = ord(letter)
    if 0xD800 <= code <= 0xDFFF:
        raise ValueError("it holds bytes that are no text")
    # Line separators and other controls are legal TOML in part, but not on a command line.
    if code < 0x20 or 0x7F <= code < 0xA0 or code in (0x2028, 0x2029):
        return f"\\u{code:04x}"
    return letter
