"""Commands that a short program in another language plainly runs.

Such programs are opaque: nothing is made of what isn't a literal text handed to a function that
is known to start a program.
"""

from barry_cli.policy.ruling.programs.call import Call, Run, Script, joined, known
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
}

_STARTS = frozenset(
    "system popen run call check_call check_output Popen getoutput getstatusoutput spawn spawnSync"
    " exec execSync execFile execFileSync execl execlp execv execvp execle execve execvpe spawnl"
    " spawnlp spawnv spawnvp shell_exec passthru proc_open pcntl_exec create_subprocess_shell"
    " create_subprocess_exec execa capture2 capture3 execute backtick Command".split()
)
_LONG_CODE = frozenset(("--eval", "--print", "--execute"))
_QUOTES = frozenset("'\"`")
_MOST = 64


def language(name: str) -> str:
    """The key of LANGUAGES for a program, "" when it is none: python3.12 is python."""
    plain = name.rstrip("0123456789.")
    return plain if plain in LANGUAGES else ""


def coded(call: Call) -> list[Inner]:
    """What the code on the command line, or in the input, plainly runs; `python -m` programs."""
    name = language("awk" if call.name in {"gawk", "mawk", "nawk"} else call.name)
    letters, valued, backticks = LANGUAGES[name]
    words = call.words
    inner: list[Inner] = []
    codes: list[Word] = []
    at, count = 1, len(words)
    operand: Word | None = None
    while at < count:
        word = words[at]
        head = word.text if word.text is not None else word.prefix
        at += 1
        if head in {"-", "--"} or head[:1] != "-":
            operand = word if head != "--" else words[at] if at < count else None
            break
        if head[:2] == "--":
            if head in _LONG_CODE and at < count:
                codes.append(words[at])
                at += 1
            continue
        for index in range(1, len(head)):
            letter = head[index]
            if letter in letters or letter in valued:
                last = index == len(head) - 1
                value = words[at] if last and at < count else None if last else word
                at += last
                if letter in letters and value is not None:
                    codes.append(value)
                elif letter == "m" and name == "python" and value is not None:
                    return _module(value, head[index + 1 :], words[at:])
                break
        if codes and name == "python":
            break  # what follows are the program's own words
    if name == "awk" and operand is not None:
        codes = [operand]
    elif name in {"deno", "bun"} and operand is not None and operand.text == "eval" and at < count:
        codes.append(words[at])
    for word in codes:
        inner += _started(joined([word], lenient=True) or "", word, backticks)
    if not codes and (operand is None or is_input(operand.text)):
        source = fed(call)
        if source.kind == SHOWN and source.words:
            for item in _started(source.text, source.words[0], backticks):
                if isinstance(item, Script):
                    item.place = source.place
                inner.append(item)
    return inner


def _module(value: Word, attached: str, rest: list[Word]) -> list[Inner]:
    name = attached or value.text
    return [Run([known(name, value), *rest])] if name and name.isidentifier() else []


def _started(code: str, near: Word, backticks: str) -> list[Inner]:
    """Literal commands in the code."""
    found: list[Inner] = []
    at, count = 0, len(code)
    before = 0  # where the code since the last string begins
    while at < count and len(found) < _MOST:
        char = code[at]
        if char not in _QUOTES:
            at += 1
            continue
        text, end = _string(code, at)
        lead = code[before:at].rstrip("rbfuRBFU")
        if char == "`" == backticks:
            found.append(_text(text, near))
        elif backticks == "|":
            if _name_before(lead) == "system" or lead.rstrip().endswith("|") or _to_getline(code, end):
                found.append(_text(text, near))
        elif _name_before(lead) in _STARTS:
            texts, end = _list(code, text, end)
            if len(texts) == 1 or " " in texts[0]:
                found.append(_text(texts[0], near))
            if len(texts) > 1:
                if len(texts) > 2 and texts[0] == texts[1]:
                    texts = texts[1:]  # execlp("git", "git", ...)
                found.append(Run([known(text, near) for text in texts]))
        at = before = end
    return found


def _text(text: str, near: Word) -> Script:
    script = Script(text, [near])
    script.lenient = True
    return script


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
        else:
            break
    return texts, at
