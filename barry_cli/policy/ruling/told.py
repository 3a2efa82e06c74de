"""A verdict as it is shown: to a person, or as a JSON document."""

from barry_cli.policy.ruling.verdict import Verdict
from barry_cli.policy.ruling.wording import plain

WIDTH = 96
"""Characters of the ruled text that are shown around what was matched."""


def text(verdict: Verdict) -> str:
    """One line for a call that may go on; else why not, and where."""
    if verdict.allowed:
        return "allowed\n"
    lines = [one_line(verdict.human)]
    if verdict.text:
        lines += [f"  {line}" for line in marked(verdict.text, verdict.span) if line]
    return "\n".join(lines) + "\n"


def marked(ruled: str, span: "tuple[int, int]") -> "tuple[str, str]":
    """The line of the text in which the span begins, cut to WIDTH, and the marks to go below it."""
    start, end = span
    head = ruled.rfind("\n", 0, start) + 1
    foot = ruled.find("\n", start)
    foot = len(ruled) if foot < 0 else foot
    end = min(end, foot)
    left = head if foot - head <= WIDTH else max(head, min(start - WIDTH // 4, foot - WIDTH))
    right = min(foot, left + WIDTH)
    before, after = "... " if left > head else "", " ..." if right < foot else ""
    shown = f"{before}{printable(ruled[left:right])}{after}"
    if end <= start:
        return shown, ""
    marks = "^" * max(1, min(end, right) - start)
    return shown, " " * (len(before) + start - left) + marks


def document(verdict: Verdict) -> str:
    """``{"schema": 1, "verdict": {...}}``, on lines of its own."""
    lines = ",\n".join(f'    "{name}": {value}' for name, value in facts(verdict))
    return f'{{\n  "schema": 1,\n  "verdict": {{\n{lines}\n  }}\n}}\n'


def facts(verdict: Verdict) -> "list[tuple[str, str]]":
    """The keys of a verdict and their values, as JSON has them."""
    matched = verdict.span[1] > verdict.span[0]
    return [
        ("outcome", _json(verdict.outcome)),
        ("rule", _json(plain(verdict.field, verdict.rule)) if verdict.rule else "null"),
        ("field", _json(verdict.field) if verdict.field else "null"),
        ("text", _json(verdict.text)),
        ("start", str(verdict.span[0]) if matched else "null"),
        ("end", str(verdict.span[1]) if matched else "null"),
        ("human", _json(verdict.human)),
        ("agent", _json(verdict.agent)),
    ]


def one_line(said: str) -> str:
    """The text on one line, without what moves a cursor."""
    return printable(" ".join(said.split()))


def printable(said: str) -> str:
    """The text without control characters, as long as it was."""
    if said.isprintable():
        return said
    return "".join(char if char.isprintable() else "�" for char in said)


def _json(value: str) -> str:
    from _json import encode_basestring_ascii

    return encode_basestring_ascii(value)
