"""Commands that a short program in another language plainly runs.

Such programs are opaque: nothing is made of what isn't a literal text handed to a function that
is known to start a program.
"""

from barry_cli.policy.ruling.operands import after
from barry_cli.policy.ruling.programs.call import (
    HOLE,
    Call,
    Run,
    Script,
    Unknown,
    joined,
    known,
    opened,
)
from barry_cli.policy.ruling.programs.feeds import SHOWN, fed, is_input
from barry_cli.policy.ruling.programs.shells import Inner
from barry_cli.policy.ruling.shell.nodes import Word

# Program -> letters of the options whose value is code, letters of those with another value, and
# what is "`" where backticks run a command.
LANGUAGES: dict[str, tuple[str, str, str]] = {
    "python": ("c", "WXm", ""),
    "perl": ("eE", "IMmFx", "`"),
    "ruby": ("e", "IrEKWTx", "`"),
    "node": ("ep", "rC", ""),
    "deno": ("", "", ""),
    "bun": ("ep", "r", ""),
    "php": ("rBRE", "dczS", "`"),
    "lua": ("e", "l", ""),
    "awk": ("", "fFv", "|"),
    "osascript": ("e", "ls", ""),
    "Rscript": ("e", "", ""),
    "julia": ("eE", "", "`"),
}

_STARTS = frozenset(
    "system popen run call check_call check_output Popen getoutput getstatusoutput spawn spawnSync"
    " exec execSync execFile execFileSync execl execlp execv execvp execle execve execvpe spawnl"
    " spawnlp spawnv spawnvp spawnle spawnlpe spawnve spawnvpe"
    " posix_spawn posix_spawnp shell_exec passthru proc_open pcntl_exec create_subprocess_shell"
    " create_subprocess_exec execa capture2 capture3 execute backtick Command script".split()
)
# These do nothing else, in whatever language.
_PLAINLY_START = (
    *("os.system(", "os.popen(", "pty.spawn(", "subprocess.run(", "subprocess.call("),
    *("subprocess.check_call(", "subprocess.check_output(", "subprocess.Popen("),
    *("subprocess.getoutput(", "subprocess.getstatusoutput(", "shell_exec(", "passthru("),
    *("proc_open(", "pcntl_exec(", "execSync(", "execFileSync(", "spawnSync(", "os.execute("),
    *("io.popen(", "Kernel.system(", "Kernel.exec(", "IO.popen(", "Open3.capture2("),
)
_BY_LANGUAGE = {"`": ("system", "exec "), "|": ("system(",)}
_ARGUMENTS = ("{args:[", "{args: [", "{ args: [", "{ args:[")
_PIPED = frozenset(("sh", "bash", "/bin/sh", "/bin/bash", "sh -s", "bash -s", "dash", "zsh"))
_JOINS = frozenset("+%.~*")
_CLOSES = {"(": ")", "{": "}", "[": "]", "<": ">"}
_LONG_CODE = frozenset(("--eval", "--print", "--execute"))
_QUOTES = frozenset("'\"`")
_MOST = 64
_NEAR = 24  # characters in front of a mode or name in which `open` stands


def language(name: str) -> str:
    """The key of LANGUAGES for a program, "" when it is none: python3.12 is python."""
    plain = name.rstrip("0123456789.")
    return plain if plain in LANGUAGES else ""


class _Given:
    """What stands on an interpreter's command line: `codes`, the first `operand` and the words
    behind it, and for Python the `module`.
    """

    __slots__ = ("behind", "codes", "module", "operand")

    def __init__(self) -> None:
        self.codes: list[Word] = []
        self.operand: Word | None = None
        self.behind: list[Word] = []
        self.module: Word | None = None


def given_code(name: str, words: list[Word]) -> list[Word]:
    """The code among an interpreter's words, its own name in front. `name`: a key of LANGUAGES."""
    letters, valued, _ = LANGUAGES[name]
    given = _given(words, letters, valued, name == "python")
    if name in {"deno", "bun"} and given.operand is not None and given.operand.text == "eval":
        return given.codes + given.behind[:1]
    return given.codes


def coded(call: Call) -> list[Inner]:
    """What the code on the command line, or in the input, plainly runs; `python -m` programs."""
    name = language("awk" if call.name in {"gawk", "mawk", "nawk"} else call.name)
    letters, valued, backticks = LANGUAGES[name]
    given = _given(call.words, letters, valued, name == "python")
    if given.module is not None:
        module = given.module.text
        return [Run([given.module, *given.behind])] if module and module.isidentifier() else []
    codes, operand = given.codes, given.operand
    if name == "awk" and operand is not None:
        codes = [operand]
    elif name in {"deno", "bun"} and operand is not None and operand.text == "eval":
        codes = given.behind[:1]
    inner: list[Inner] = []
    for word in codes:
        inner += started(joined([word], lenient=True) or "", word, backticks)
    if not codes and (operand is None or is_input(operand.text)):
        source = fed(call)
        if source.kind == SHOWN and source.words:
            for item in started(source.text, source.words[0], backticks):
                if isinstance(item, Script):
                    item.place = source.place
                inner.append(item)
    return inner


def _given(words: list[Word], letters: str, valued: str, python: bool) -> _Given:
    given = _Given()
    at, count = 1, len(words)
    while at < count:
        word = words[at]
        head = word.text if word.text is not None else word.prefix
        at += 1
        if head[:1] != "-" or head in {"-", "--"}:
            if head == "--" and at < count:
                word = words[at]
                at += 1
            given.operand, given.behind = word, words[at:]
            break
        if head[:2] == "--":
            code = _long_code(word, head, words[at : at + 1])
            given.codes += code
            at += bool(code) and "=" not in head
            continue
        for index in range(1, len(head)):
            letter = head[index]
            if letter not in letters and letter not in valued:
                continue
            last = index == len(head) - 1
            value = known(head[index + 1 :], word)
            if last and at < count:
                value = words[at]
            at += last
            if letter in letters:
                given.codes.append(value)
            elif letter == "m" and python:
                given.module, given.behind = value, words[at:]
            break
        if python and (given.codes or given.module is not None):
            break  # what follows are the program's own words
    return given


def _long_code(word: Word, head: str, following: list[Word]) -> list[Word]:
    """The code that a long option gives: `--eval=CODE`, or the word behind it."""
    option, equals, _ = head.partition("=")
    if option not in _LONG_CODE:
        return []
    return [after(word, len(option) + 1)] if equals else following


def started(code: str, near: Word, backticks: str = "") -> list[Inner]:
    """Commands that the code starts: literal ones, and that there are others."""
    found: list[Inner] = []
    at, count = 0, len(code)
    before = 0  # where the code since the last string begins
    last = ""  # the string before, which awk may hand to a shell
    while at < count and len(found) < _MOST:
        if code[at] not in _QUOTES:
            at += 1
            continue
        text, end = _string(code, at)
        lead = code[before:at].rstrip("rbfuRBFU")
        if "f" in code[before + len(lead) : at].lower():
            text = _holed(text)
        if code[at] == "`" == backticks:
            found.append(_text(text, near))
        elif backticks == "|":
            if _runs_in_awk(lead, code, end):
                found += [_text(text, near), *([_text(last, near)] if text in _PIPED else [])]
            last = text
        elif code[at] == "`" and lead.rstrip()[-1:] == "$":  # a template for a shell
            found.append(_text(_unfilled(text), near))
        elif _name_before(_without_mode(lead)) in _STARTS:
            texts, end = _list(code, text, end)
            found += _called(texts, code, end, near)
        elif "open" in lead[-_NEAR:] and (text[:1] == "|" or text[-1:] == "|"):
            texts, end = _list(code, text, end)
            bare = [each for each in (text.strip("|-"), *texts[1:]) if each]
            found += [_text(" ".join(bare), near)] if bare else []
        at = before = end
    if backticks == "`":
        found += [_text(text, near) for text in _delimited(code)]
    if _starts_unknown(code, backticks):
        found.append(Unknown("its code starts a program that can't be known", [near]))
    return found


def _called(texts: list[str], code: str, end: int, near: Word) -> list[Inner]:
    """What a function that starts programs is given: a line, or a program and its words."""
    found: list[Inner] = []
    if code[end : end + 8].lstrip()[:1] in _JOINS and not code.startswith(".split", end):
        texts[-1] += HOLE
    if len(texts) == 1 or " " in texts[0]:
        found.append(_text(texts[0], near))
    if len(texts) > 1:
        if len(texts) > 2 and texts[0] == texts[1]:
            texts = texts[1:]  # execlp("git", "git", ...)
        found.append(Run([opened(known(text, near)) for text in texts]))
    return found


def _holed(text: str) -> str:
    """A text with HOLE for what stands in braces."""
    pieces = text.split("{")
    return pieces[0] + "".join([HOLE + piece.rpartition("}")[2] for piece in pieces[1:]])


def _delimited(code: str) -> list[str]:
    """The texts of `qx(..)` and `%x(..)`, whatever stands around them."""
    found: list[str] = []
    for sign in ("qx", "%x"):
        for before, piece in _around(code, sign):
            rest = piece.lstrip(" ")
            if rest and not rest[0].isalnum() and rest[0] not in "_,;=" and not before.isalnum():
                found.append(rest[1:].partition(_CLOSES.get(rest[0], rest[0]))[0])
    return found


def _starts_unknown(code: str, backticks: str) -> bool:
    """Some function that starts programs is given something else than a text."""
    for sign in (*_PLAINLY_START, *_BY_LANGUAGE.get(backticks, ())):
        for before, piece in _around(code, sign):
            rest = piece.lstrip(" \t\n([")
            opens = piece.lstrip(" ")[:1]
            if before.isalnum() or before in {"_", "$", "@"} or not rest or not opens:
                continue
            if sign[-1] not in {"(", " "} and piece[:1] not in {"(", " "}:
                continue
            name = rest.lstrip("rbfuRBFU")[:1]
            if name not in _QUOTES and rest[:1] not in {")", "=", ",", "."}:
                return True
    return False


def _around(code: str, sign: str) -> list[tuple[str, str]]:
    """Of each place where the sign stands: the character before it, and what follows."""
    pieces = code.split(sign)
    return [(pieces[at][-1:], pieces[at + 1]) for at in range(len(pieces) - 1)]


def _text(text: str, near: Word) -> Script:
    script = Script(text, [near])
    script.lenient = True
    return script


def _runs_in_awk(lead: str, code: str, end: int) -> bool:
    """The string behind `lead` is a command: `system("..")`, `print | ".."`, `".." | getline`."""
    return _name_before(lead) == "system" or lead.rstrip()[-1:] == "|" or _to_getline(code, end)


def _to_getline(code: str, at: int) -> bool:
    return code[at : at + 40].lstrip(" \t").removeprefix("|").lstrip(" \t&").startswith("getline")


def _name_before(lead: str) -> str:
    """The function whose first argument stands behind `lead`."""
    lead = lead.rstrip(" \t\n")
    opened = lead.rstrip("([ \t\n")
    if lead and opened == lead and not lead[-1:].isalpha():
        return ""
    end = len(opened.rstrip("!"))
    start = end
    while start > 0 and (opened[start - 1].isalnum() or opened[start - 1] == "_"):
        start -= 1
    return opened[start:end]


def _string(code: str, at: int) -> tuple[str, int]:
    """The value of the string that begins at `at`, and where the code goes on."""
    quote = code[at]
    if code[at : at + 3] == quote * 3 and quote != "`":
        end = code.find(quote * 3, at + 3)
        return (code[at + 3 : end], end + 3) if end >= 0 else (code[at + 3 :], len(code))
    found = ""
    at += 1
    while at < len(code):
        char = code[at]
        if char == quote:
            return found, at + 1
        if char == "\\" and at + 1 < len(code):
            at += 1
            char = {"n": "\n", "t": "\t"}.get(code[at], code[at])
        found += char
        at += 1
    return found, at


def _without_mode(lead: str) -> str:
    """`spawnlp(os.P_WAIT, ` has a number in front of the program."""
    head, opens, mode = lead.rpartition("(")
    spawns = "spawn" in head[-16:] and mode.rstrip()[-1:] == ","
    return head + opens if opens and spawns else lead


def _unfilled(template: str) -> str:
    """A text with HOLE for each `${..}`."""
    first, *rest = template.split("${")
    return first + "".join([HOLE + piece.partition("}")[2] for piece in rest])


def _list(code: str, first: str, at: int) -> tuple[list[str], int]:
    """All strings of the call whose first one ends at `at`."""
    texts = [first]
    while at < len(code) and len(texts) < _MOST:
        char = code[at]
        if char in _QUOTES:
            text, at = _string(code, at)
            texts.append(text)
        elif char.isspace() or char in ",[":
            at += 1
        elif code.startswith(_ARGUMENTS, at):
            at = code.index("[", at)
        else:
            break
    return texts, at
