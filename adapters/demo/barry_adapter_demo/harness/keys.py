"""Bytes from a terminal, as keys and pastes."""

import codecs
import re

_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~])")
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?\Z")
_PASTE, _PASTE_END = "\x1b[200~", "\x1b[201~"
_PLAIN = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f\x80-\x9f]+")
_NAMES = {
    "\r": "enter",
    "\n": "enter",
    "\x7f": "erase",
    "\x08": "erase",
    "\x15": "erase-line",
    "\x17": "erase-word",
    "\x04": "end",
}

Key = tuple[str, str]
"""A name and a text: ("text", typed), ("paste", pasted), else a name of ``_NAMES`` and ""."""


class Keys:
    """Keeps what is not whole yet: half a character, half a sequence, half a paste."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._pasting = False

    @property
    def escape_pending(self) -> bool:
        """Whether an escape came and it is open what it begins."""
        return not self._pasting and self._rest.startswith("\x1b")

    def drop_escape(self) -> None:
        """It was the Escape key alone."""
        self._rest = ""

    def feed(self, data: bytes) -> list[Key]:
        self._rest += self._decoder.decode(data)
        keys: list[Key] = []
        while self._rest:
            key = self._paste() if self._pasting else self._key()
            if key is None:
                break
            if key[0] != "nothing":
                keys.append(key)
        return keys

    def _paste(self) -> Key | None:
        pasted, end, rest = self._rest.partition(_PASTE_END)
        if not end:
            return None
        self._rest, self._pasting = rest, False
        pasted = pasted.replace("\r\n", "\n").replace("\r", "\n")
        return "paste", _clean(pasted)

    def _key(self) -> Key | None:
        if _UNFINISHED.match(self._rest):
            return None
        sequence = _SEQUENCE.match(self._rest)
        if sequence:
            self._take(sequence.end())
            self._pasting = sequence.group() == _PASTE
            return "nothing", ""
        plain = _PLAIN.match(self._rest)
        if plain:
            self._take(plain.end())
            return "text", plain.group()
        # Escape and a key (Alt), or a control character.
        alt = self._rest[0] == "\x1b" and self._rest[1:2] != "\x1b"
        return _NAMES.get(self._take(2 if alt else 1), "nothing"), ""

    def _take(self, count: int) -> str:
        taken, self._rest = self._rest[:count], self._rest[count:]
        return taken


def _clean(text: str) -> str:
    """Without control characters, which can only be an accident or an attack."""
    return "".join(each for each in text if each in "\n\t" or _PLAIN.match(each))
