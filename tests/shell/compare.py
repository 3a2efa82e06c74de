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
    seen: dict[str, list[Word]] = {}
    for command in reading.commands:
        number = _number([word.text for word in command.words])
        if number:
            seen[number] = command.words
    return [
        *(fault for argv in run.executed for fault in _missed(seen, argv, _broken(run))),
        *_written(sentence, reading, run),
        *([] if _broken(run) else _invented(sentence, seen, run)),
        *_spans(reading),
    ]


def _missed(seen: dict[str, list[Word]], argv: list[str], broken: bool) -> list[str]:
    words = seen.get(_number(argv))
    if words is None:
        return [] if argv[0] == "no" else [f"missed: {argv}"]
    if broken or _fits(words, argv):
        return []
    return [f"misread: {argv} for {[word.text for word in words]}"]


def _invented(sentence: Sentence, seen: dict[str, list[Word]], run: Run) -> list[str]:
    executed = {_number(argv) for argv in run.executed}
    names = {name for name in seen if name not in executed}
    return [f"invented: {name}" for name in sorted(names - sentence.dead)]


def _written(sentence: Sentence, reading: Reading, run: Run) -> list[str]:
    written = [redirect.target.text for redirect in reading.redirects if redirect.writes]
    names = {text.removeprefix("./") for text in written if text and text[0] != "/"}
    out = [f"missed a write: {name}" for name in sorted(run.created - names)]
    if not _broken(run):
        never = names - run.created - sentence.dead
        out += [f"invented a write: {name}" for name in sorted(never)]
    return out


def _broken(run: Run) -> bool:
    """Bash gave up on the way: it couldn't read what it had printed, or had closed what it used."""
    said = ("syntax error", "unexpected EOF", "bad substitution: no closing", "Bad file descriptor")
    return any(words in run.stderr for words in said)


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
