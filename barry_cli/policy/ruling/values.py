"""What variables may hold where the line itself says it."""

from barry_cli.policy.ruling.operands import GLUE, after, spelled
from barry_cli.policy.ruling.programs.call import Found
from barry_cli.policy.ruling.shell.reading import POSITIONAL, TEXT, VARIABLE, Part, Word

MOST = 32  # readings of one word
MOST_STEPS = 2048  # of all words together
DEEPEST = 4  # variables that hold variables
_DECLARE = frozenset(("export", "declare", "typeset", "local", "readonly"))


class Values:
    """Every value that the line gives to a variable, or to a positional parameter ("")."""

    __slots__ = ("_held", "_once", "_only_read", "_steps", "_text")

    def __init__(self, found: Found) -> None:
        self._text = found.text
        self._held: dict[str, list[Word]] = {}
        self._once: dict[str, bool] = {}
        self._only_read: dict[str, bool] = {}
        self._steps = 0
        for reading, _ in found.readings:
            for command in reading.commands:
                for assignment in command.assignments:
                    value = assignment.value
                    plain = not (assignment.append or assignment.subscript or command.words)
                    sure = plain and command.group is None and len(found.readings) == 1
                    for word in assignment.items if value is None else (value,):
                        self._hold(assignment.name, word)
                    sure = sure and value is not None and self._begins(assignment.start)
                    self._once[assignment.name] = sure and assignment.name not in self._once
                words = command.words
                head = words[0].text if words else None
                if head == "set":
                    for word in words[1:]:
                        self._hold("", word)
                elif head in _DECLARE:
                    for word in words[1:]:
                        name, equals, _ = word.prefix.partition("=")
                        if equals:
                            self._hold(name, after(word, len(name) + 1))
            for name, choices in reading.loops:
                for word in choices:
                    # A glob that fits nothing stands for itself.
                    text = spelled(word)
                    self._hold(name, word if text is None else Word(text, 0, 0, True))

    def _begins(self, start: int) -> bool:
        """Nothing decides whether the assignment is made."""
        before = self._text[:start].rstrip(" \t")
        return not before or before[-1] in ";\n"

    def _hold(self, name: str, word: Word) -> None:
        held = self._held.setdefault(name, [])
        if len(held) < MOST:
            held.append(word)

    def fill(self, word: Word) -> Word:
        """The word with the variables put in that can hold nothing else than one plain text."""
        if word.text is not None:
            return word
        parts = [inner for part in word.parts for inner in self._sure(part)]
        if any(part.kind != TEXT for part in parts):
            return Word(None, word.start, word.end, word.quoted, tuple(parts))
        return Word("".join([part.text for part in parts]), word.start, word.end, True)

    def _sure(self, part: Part) -> tuple[Part, ...]:
        """What stands for the part: the pieces of its variable's only value, or itself."""
        same = (part,)
        if part.kind != VARIABLE or part.text not in {f"${part.name}", f"${{{part.name}}}"}:
            return same
        held = self._held.get(part.name, [])
        if len(held) != 1 or not self._once.get(part.name) or part.start <= held[0].start:
            return same
        text = held[0].text
        if not part.quoted and (text is None or GLUE & set(text)):
            return same
        read = self._only_read.get(part.name)
        if read is None:
            read = "eval" not in self._text and _only_read(self._text, part.name)
            self._only_read[part.name] = read
        if not read:
            return same
        if text is None:
            return held[0].parts
        return (Part(TEXT, text, part.start, part.end, True),)

    def readings(self, word: Word, depth: int = 0) -> list[str]:
        """The texts that the word may stand for, as far as the line gives its variables values."""
        if word.text is not None:
            return [word.text]
        found = [""]
        for part in word.parts:
            texts = [part.text] if part.kind == TEXT else self._texts(part, depth)
            found = [before + text for before in found for text in texts][:MOST]
        return found

    def _texts(self, part: Part, depth: int) -> list[str]:
        self._steps += 1
        if part.kind not in {VARIABLE, POSITIONAL} or depth >= DEEPEST or self._steps > MOST_STEPS:
            return []
        held = self._held.get("" if part.kind == POSITIONAL else part.name, [])
        texts = [text for word in held for text in self.readings(word, depth + 1)]
        if part.text[:2] == "${":
            for sign in (":-", ":=", ":+", "-", "=", "+"):
                _, mark, default = part.text[2:-1].partition(sign)
                if mark:
                    texts.append(default.strip("'\""))
                    break
        return texts[:MOST]


def _only_read(text: str, name: str) -> bool:
    """But for one assignment, every place that has the name reads the variable."""
    others, at = 0, text.find(name)
    while at >= 0:
        end = at + len(name)
        around = text[at - 1 : at] + text[end : end + 1]
        if not any(letter.isalnum() or letter == "_" for letter in around):
            others += text[:at].rstrip("{")[-1:] != "$"
        at = text.find(name, end)
    return others == 1
