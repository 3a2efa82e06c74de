"""xargs, find, fd and parallel: a command that is run with what they find put into it."""

from barry_cli.policy.ruling.programs.call import (
    HEAVIEST,
    HOLE,
    Call,
    Run,
    Script,
    Unknown,
    joined,
    known,
    opened,
    unknown,
)
from barry_cli.policy.ruling.programs.feeds import FILE, SHOWN, fed
from barry_cli.policy.ruling.programs.options import scan
from barry_cli.policy.ruling.programs.shells import Inner
from barry_cli.policy.ruling.shell.nodes import Word

_MOST = 64  # values that are put in one by one; more of them count as unknown
_WORDS = 4096  # of all commands that one line makes

_XARGS = (
    "0 null a: arg-file: d: delimiter: E: e? eof I: i? replace L: l? max-lines n: max-args: P:"
    " max-procs: p interactive process-slot-var: r no-run-if-empty s: max-chars: o open-tty"
    " show-limits t verbose x exit J: R: S: help! version!"
)
_PARALLEL = (
    "j: jobs: P: max-procs: S: sshlogin: slf: sshloginfile: a: arg-file: n: max-args: N:"
    " max-replace-args: L: l? X m xargs C: colsep: I: i? results: joblog: timeout: retries: delay:"
    " load: memfree: noswap block: recstart: recend: env: record-env tmpdir: wd: workdir: nice:"
    " halt: halt-on-error: tag tagstring: k keep-order u ungroup group line-buffer lb v verbose t"
    " dry-run! dryrun! q quote 0 null pipe pipe-part pipepart plain bar eta progress shuf r"
    " no-run-if-empty resume resume-failed bg fg semaphore id: d: delimiter: E: s: max-chars: trim:"
    " arg-sep: arg-file-sep: citation! will-cite silent joblog: link xapply round-robin header: U:"
    " help! h! version! V! minversion: number-of-cores! gnu onall nonall tty tollef return:"
    " cleanup trc: basefile: transfer"
)
_FIND = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_FD = frozenset(("-x", "--exec", "-X", "--exec-batch"))
_FD_MARKS = ("{}", "{/}", "{//}", "{.}", "{/.}")
_MARKS = ("{}", "{.}", "{/}", "{//}", "{/.}", "{#}", "{%}", "{+/}")
_NUMBERED = tuple([f"{{{number}}}" for number in range(1, 10)])
_SEPARATORS = frozenset((":::", ":::+", "::::", "::::+"))


def xargs(call: Call) -> list[Inner]:
    """What comes in is appended, or put where the replace string stands."""
    words = call.words
    found = scan(words, 1, _XARGS)
    if found.stop:
        return []
    mark, chunk, plain = "", 0, True
    for name, value in found.given:
        if name in {"I", "J"} and value is not None and value.text:
            mark = value.text
        elif name in {"i", "replace"}:
            mark = (value.text if value is not None else None) or "{}"
        elif name in {"n", "L", "l", "max-args", "max-lines"}:
            text = value.text if value is not None else "1"
            chunk = int(text) if text and text.isdecimal() and len(text) < 5 else 1
        elif name in {"0", "null", "d", "delimiter", "a", "arg-file", "E", "e", "eof"}:
            plain = False
    source = fed(call)
    lines = source.text if source.kind == SHOWN and plain else None
    if lines is not None and ("\\" in lines or '"' in lines or "'" in lines):
        lines = None
    inner: list[Inner] = []
    for at in found.at:
        command = words[at:]
        if command:
            inner += _filled(command, mark, lines) if mark else _appended(command, lines, chunk)
    return inner


def _filled(command: list[Word], mark: str, lines: str | None) -> list[Inner]:
    values = [line.lstrip() for line in lines.split("\n") if line.strip()] if lines else []
    if lines is None or len(values) > _MOST or len(values) * len(command) > _WORDS:
        return [Run([opened(word, mark) for word in command])]
    return [Run([_put(word, mark, value) for word in command]) for value in values]


def _put(word: Word, mark: str, value: str) -> Word:
    if word.text is not None:
        text = word.text.replace(mark, value)
        return Word(text, word.start, word.end, True)
    return opened(word, mark)


def _appended(command: list[Word], lines: str | None, chunk: int) -> list[Inner]:
    values = lines.split() if lines is not None else []
    if lines is None or len(values) > _MOST or len(values) * len(command) > _WORDS:
        return [Run([*command, unknown(command[-1], many=True)])]
    near = command[-1]
    size = chunk or max(len(values), 1)
    return [
        Run([*command, *(known(value, near) for value in values[start : start + size])])
        for start in range(0, max(len(values), 1), size)
    ]


def find(call: Call) -> list[Inner]:
    """`-exec` and its kin, as often as they stand there."""
    inner: list[Inner] = []
    words = call.words
    at, count = 1, len(words)
    while at < count:
        at += 1
        if words[at - 1].text not in _FIND:
            continue
        command: list[Word] = []
        while at < count:
            word = words[at]
            at += 1
            if word.text == ";" or (word.text == "+" and command and words[at - 2].text == "{}"):
                if word.text == "+":
                    command[-1] = unknown(command[-1], many=True)
                break
            command.append(opened(word, "{}"))
        if command:
            inner.append(Run(command))
    return inner


def fd(call: Call) -> list[Inner]:
    """`-x` and `-X`: up to a `;`, what is found appended when no placeholder stands there."""
    words = call.words
    for at in range(1, len(words)):
        text = words[at].text or ""
        if text == "--":
            break
        if text in _FD or (text[:1] == "-" and text[1:2].isalpha() and text[-1:] in {"x", "X"}):
            command: list[Word] = []
            marked = False
            for word in words[at + 1 :]:
                if word.text == ";":
                    break
                command.append(_marked(word, _FD_MARKS))
                marked = marked or command[-1] is not word
            if not command:
                return []
            return [Run(command if marked else [*command, unknown(command[-1], many=True)])]
    return []


def _marked(word: Word, marks: tuple[str, ...]) -> Word:
    for mark in marks:
        word = opened(word, mark)
    return word


def parallel(call: Call) -> list[Inner]:
    """The words are joined, values put in, and a shell reads the result."""
    words = call.words
    found = scan(words, 1, _PARALLEL)
    if found.stop:
        return []
    from_file = any(name in {"a", "arg-file"} for name, _ in found.given)
    start = min([*found.at, len(words)])
    template: list[Word] = []
    groups: list[list[Word]] = []
    for word in words[start:]:
        if word.text in _SEPARATORS:
            groups.append([])
            if word.text in {"::::", "::::+"}:
                from_file = True
        elif groups:
            groups[-1].append(word)
        else:
            template.append(word)
    if not template and found.at and not groups:
        return []
    values = None if from_file else _values(call, groups)
    if not template or (len(template) == 1 and template[0].text == "{}"):
        return _lines(call, template, values, from_file)
    piped = any(name in {"pipe", "pipe-part", "pipepart"} for name, _ in found.given)
    mark = next((v.text for n, v in found.given if n == "I" and v is not None and v.text), "{}")
    if piped:
        return [Script(joined(template), template)]
    return [
        script
        for other in found.at[:2]
        for script in _scripts(template[other - start :], mark, values)
    ]


def _values(call: Call, groups: list[list[Word]]) -> list[tuple[str, ...]] | None:
    """The rows of values that are put in, None when they aren't known."""
    if not groups:
        source = fed(call)
        if source.kind != SHOWN:
            return None
        rows: list[tuple[str, ...]] = [(line,) for line in source.text.split("\n") if line]
        return rows if len(rows) <= _MOST else None
    found: list[tuple[str, ...]] = [()]
    for group in groups:
        texts = [word.text for word in group]
        known_texts = [text for text in texts if text is not None]
        if len(known_texts) != len(texts) or len(found) * len(texts) > _MOST:
            return None
        found = [(*row, text) for row in found for text in known_texts]
    return found


def _lines(
    call: Call, template: list[Word], values: list[tuple[str, ...]] | None, from_file: bool
) -> list[Inner]:
    """Without a command each value is a command line itself."""
    if values is None:
        if from_file or fed(call).kind == FILE:
            return []
        return [Unknown("parallel runs commands that the line doesn't show", call.words)]
    return [Script(" ".join(row), [*template, *call.words[-1:]]) for row in values]


def _scripts(template: list[Word], mark: str, values: list[tuple[str, ...]] | None) -> list[Inner]:
    if not template:
        return []
    text = joined(template)
    if text is None:  # unknown words may hold anything
        return [Script(None, template), Run([*template, unknown(template[-1], many=True)])]
    if values is None or len(text) * len(values) > HEAVIEST:
        line = text
        for other in (mark, *_MARKS, *_NUMBERED):
            line = line.replace(other, HOLE)
        return [Script(line if line != text else f"{text} {HOLE}", template)]
    inner: list[Inner] = []
    for row in values:
        quoted = ["'" + value.replace("'", "'\\''") + "'" for value in row]
        line = text
        for other in (mark, *_MARKS):
            line = line.replace(other, " ".join(quoted))
        for number, value in zip(_NUMBERED, quoted, strict=False):
            line = line.replace(number, value)
        inner.append(Script(line if line != text else f"{text} {' '.join(quoted)}", template))
    return inner
