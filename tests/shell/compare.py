"""Holds the reader against what bash executed."""

from collections.abc import Sequence

from barry_cli.policy.ruling.shell.reading import Reading, Word, read
from tests.shell.grammar import Sentence
from tests.shell.oracle import Run


def faults(sentence: Sentence, run: Run) -> list[str]:
    """What the reader missed, invented or read differently in one sentence; [] when it agrees."""
    reading = read(sentence.text)
    if reading.unparseable:
        return ["unparseable: " + reading.unparseable]
    out: list[str] = []
    seen = {}
    for command in reading.commands:
        number = _number([word.text for word in command.words])
        if number:
            seen[number] = command
    executed = {_number(argv) for argv in run.executed}
    for argv in run.executed:
        command = seen.get(_number(argv))
        if command is not None:
            if not _fits(command.words, argv):
                out.append(f"misread: {argv} for {[word.text for word in command.words]}")
        elif argv[0] != "no":
            out.append(f"missed: {argv}")
    if "substitution: line" in run.stderr and "syntax error" in run.stderr:
        return out  # bash couldn't read back what it had printed of a substitution
    if "Bad file descriptor" in run.stderr:
        return out  # a descriptor was closed before it was used
    for number in seen:
        if number not in executed and number not in sentence.dead:
            out.append(f"invented: {number}")
    written = {redirect.target.text for redirect in reading.redirects if redirect.writes}
    names = {text.removeprefix("./") for text in written if text and text[0] != "/"}
    for name in run.created - names:
        out.append(f"missed a write: {name}")
    for name in names - run.created - sentence.dead - {"f0"}:
        out.append(f"invented a write: {name}")
    return out + _spans(reading)


def _number(words: Sequence[str | None]) -> str:
    """The number that a command bears, "" without one."""
    for text in words[:3]:
        if text is not None and text[:1] == "u" and text[1:].isdecimal():
            return text
    return ""


def _fits(words: list[Word], argv: list[str]) -> bool:
    """The words may become these arguments."""
    if any(word.many for word in words):
        known = [word.text for word in words if word.text is not None]
        return all(text in argv for text in known)
    return len(words) == len(argv) and all(
        word.text == text
        if word.text is not None
        else text.startswith(word.prefix) and text.endswith(word.suffix)
        for word, text in zip(words, argv, strict=True)
    )


def _spans(reading: Reading) -> list[str]:
    length = len(reading.text)
    nodes = [word for command in reading.commands for word in command.words]
    for node in (*reading.commands, *reading.redirects, *nodes):
        if not 0 <= node.start <= node.end <= length:
            return [f"a span outside the text: {node.start} {node.end}"]
    return []
