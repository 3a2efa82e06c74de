"""Manual pages in roff: one for each group of verbs."""

from __future__ import annotations

from barry_cli.cli.pages.tree import Flag, Verb

_EXITS = (
    ("0", "done, or what was asked is so"),
    ("1", "what was asked about failed: a problem was found, something is broken"),
    ("2", "the command line is wrong, or it was refused before anything ran"),
    ("125", "Barry failed"),
    ("126", "the harness can't be run, or its version is refused"),
    ("127", "no such harness or adapter"),
    ("130", "interrupted"),
    ("other", "the harness's own status; 128 and a signal's number when a signal ended it"),
)


def pages(top: Verb, version: str) -> dict[str, str]:
    """File name -> page: ``barry.1`` and one for each verb right below it."""
    found = {"barry.1": _page(top, version, own=[top])}
    for verb in top.verbs:
        found[f"{'-'.join(verb.words)}.1"] = _page(verb, version, own=list(verb.walk()))
    return found


def _roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    return "\\&" + text if text.startswith(".") else text


def _usage(verb: Verb) -> str:
    words = [f"\\fB{_roff(' '.join(verb.words))}\\fR"]
    for operand in verb.operands:
        name = f"\\fI{_roff(operand.name)}\\fR"
        words.append(name if operand.required else f"[{name}]")
    if verb.flags:
        words.append("[\\fIoptions\\fR]")
    if verb.verbs:
        words.append("\\fIverb\\fR ...")
    return " ".join(words)


def _flag(flag: Flag) -> list[str]:
    names = ", ".join(f"\\fB{_roff(name)}\\fR" for name in flag.names)
    value = f" \\fI{_roff(flag.value)}\\fR" if flag.value else ""
    again = " May be given again." if flag.repeats else ""
    return [".TP", names + value, _roff(flag.help or "") + again]


def _page(verb: Verb, version: str, own: list[Verb]) -> str:
    name = "-".join(verb.words)
    lines = [
        f'.TH {_roff(name.upper())} 1 "" "barry {_roff(version)}" "Barry"',
        ".SH NAME",
        f"{_roff(name)} \\- {_roff(verb.help.partition('.')[0])}",
        ".SH SYNOPSIS",
    ]
    for each in own:
        if each.verbs and len(own) > 1:
            continue
        lines += [_usage(each), ".br"]
    lines += [".SH DESCRIPTION", _roff(verb.help)]
    for each in own:
        if each is not verb:
            lines += [f".SS {_roff(' '.join(each.words[1:]))}", _roff(each.help)]
        for operand in each.operands:
            lines += [".TP", f"\\fI{_roff(operand.name)}\\fR", _roff(operand.help)]
        for flag in each.flags:
            lines += _flag(flag)
    if verb.verbs and len(own) == 1:
        lines.append(".SH VERBS")
        for each in verb.verbs:
            lines += [".TP", f"\\fB{_roff(each.words[-1])}\\fR", _roff(each.help)]
    lines.append(".SH EXIT STATUS")
    for code, meaning in _EXITS:
        lines += [".TP", f"\\fB{code}\\fR", _roff(meaning)]
    lines += [
        ".SH ENVIRONMENT",
        ".TP",
        "\\fBBARRY_HOME\\fR",
        "One folder for everything that Barry keeps, instead of the platform's folders.",
        ".TP",
        "\\fBNO_COLOR\\fR",
        "Set to anything: no colour.",
    ]
    return "\n".join(lines) + "\n"
