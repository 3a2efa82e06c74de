"""Shells, and the builtins that run a text later: what they are given to read."""

from barry_cli.policy.ruling.programs.call import Call, Run, Script, Unknown, joined, known
from barry_cli.policy.ruling.programs.feeds import HIDDEN, SHOWN, Fed, fed, is_input, of_file, told
from barry_cli.policy.ruling.shell.nodes import Word

SHELLS = frozenset(
    "bash sh dash zsh ksh ksh93 mksh ash rbash fish yash csh tcsh elvish nu xonsh"
    " pwsh powershell".split()
)

Inner = Run | Script | Unknown

# Long options behind one dash: bash takes them so too.
_LONG = frozenset(
    "norc noprofile login posix rcfile init-file verbose version help debugger noediting"
    " restricted dump-strings dump-po-strings protected wordexp pretty-print".split()
)
_VALUED = frozenset(("rcfile", "init-file"))
_PIECES = 64  # texts that come in one after the other
_SHOWING = frozenset(("version", "help"))


class _Asked:
    """What a shell's options ask for. `at`: the first word behind them. `doubtful`: an unknown
    word stands there, which may be options as well. `starts`: files read first.
    """

    __slots__ = ("at", "doubtful", "from_input", "silent", "starts", "text_given")

    def __init__(self) -> None:
        self.at = 1
        self.doubtful = False
        self.from_input = False
        self.silent = False
        self.starts: list[Word] = []
        self.text_given = False


def shell(call: Call) -> list[Inner]:
    """A shell: `-c TEXT`, a file, or what comes in."""
    words = call.words
    asked = _asked(words) if call.name[:1] != "p" else _power(words)
    if asked.silent:
        return []
    found: list[Inner] = []
    for word in asked.starts:
        found += _script(of_file(word, call), call, [])
    rest = words[asked.at :]
    if asked.text_given:
        if rest:
            script = Script(told(rest[:1], call), rest[:1], portable=call.name != "bash")
            script.arguments = rest[2:]
            script.zero = rest[1] if len(rest) > 1 else known(call.name, words[0])
            found.append(script)
    elif asked.from_input or not rest:
        found += _script(fed(call), call, rest)
    elif asked.doubtful and len(rest) > 1 and rest[1].text is not None:
        script = Script(rest[1].text, rest[1:2], portable=True)
        script.lenient = True
        found.append(script)
    else:
        found += _script(of_file(rest[0], call), call, rest[1:])
    return found


def itself(call: Call) -> list[Inner]:
    """`/proc/self/exe`: the shell that reads the line."""
    return shell(call) if call.words[0].prefix[:6] == "/proc/" else []


def _asked(words: list[Word]) -> _Asked:
    asked = _Asked()
    while asked.at < len(words):
        word = words[asked.at]
        head = word.text if word.text is not None else word.prefix
        if head == "" and word.text is None and word.many:
            asked.doubtful = True
            break
        if head in {"-", "--"} or head[:1] not in {"-", "+"}:
            asked.at += head in {"-", "--"}
            break
        asked.at += 1
        long = head[2:] if head[:2] == "--" else head[1:] if head[1:] in _LONG else ""
        if not long:
            _letters(asked, head)
        elif long in _SHOWING:
            asked.silent = True
            break
        elif long in {"command", "commands"}:
            asked.text_given = True
        elif long in _VALUED and asked.at < len(words):
            asked.starts.append(words[asked.at])
            asked.at += 1
    return asked


def _power(words: list[Word]) -> _Asked:
    """PowerShell's options: whole names behind one dash, which may be cut short."""
    asked = _Asked()
    while asked.at < len(words):
        head = words[asked.at].prefix.lower().replace("--", "-")
        if head[:1] != "-":
            break
        asked.at += 1
        if head in {"-version", "-help"}:
            asked.silent = True
        elif head[:2] == "-c":
            asked.text_given = True
            break
        elif head[:2] in {"-e", "-i", "-o", "-w"}:
            asked.at += 1
        elif head[:2] == "-f":
            break
    return asked


def _letters(asked: _Asked, head: str) -> None:
    for letter in head[1:]:
        if letter == "c":
            asked.text_given = asked.text_given or head[0] == "-"
        elif letter == "s":
            asked.from_input = True
        elif letter == "n":
            asked.silent = head[0] == "-"
        elif letter in "oO":
            asked.at += 1


def _script(source: Fed, call: Call, arguments: list[Word]) -> list[Inner]:
    if source.kind == HIDDEN or len(source.words) > _PIECES:
        return [Unknown("a shell reads commands that the line doesn't show", call.words)]
    if source.kind != SHOWN or not source.words:
        return []
    scripts: list[Inner] = []
    pieces = (
        [source.words] if len(source.words) == 1 else [source.words, *([w] for w in source.words)]
    )
    for index, words in enumerate(pieces):
        script = Script("".join([word.text or "" for word in words]), words, call.name != "bash")
        script.place = source.place
        script.arguments = arguments
        script.lenient = index > 0  # each piece alone too: which of them are printed is unknown
        scripts.append(script)
    return scripts


def input_script(call: Call) -> list[Inner]:
    """A program that hands its input to a shell."""
    return _script(fed(call), call, [])


def file_script(source: Fed, call: Call) -> list[Inner]:
    """What a shell reads from somewhere else."""
    return _script(source, call, [])


def inherited(text: str | None, words: list[Word], call: Call) -> Script:
    """A text that the shell of the call reads itself."""
    script = Script(text, words, call.scope.portable)
    script.inherits = True
    return script


def _without_dashes(call: Call) -> list[Word]:
    words = call.words[1:]
    return words[1:] if words and words[0].text == "--" else words


def evaluated(call: Call) -> list[Inner]:
    """eval: all words joined."""
    words = _without_dashes(call)
    return [inherited(told(words, call), words, call)] if words else []


def sourced(call: Call) -> list[Inner]:
    """`source` and `.`: a file's content is not looked at, what the line shows is."""
    words = _without_dashes(call)
    if not words:
        return []
    if not is_input(words[0].text) and not words[0].parts and "/fd/" not in (words[0].text or ""):
        return []
    scripts = _script(of_file(words[0], call), call, words[1:])
    for script in scripts:
        if isinstance(script, Script):
            script.portable = call.scope.portable
    return scripts


def trapped(call: Call) -> list[Inner]:
    """trap: the first word is run on a signal, unless it takes a trap back or shows it."""
    words = call.words[1:]
    while words and words[0].text in {"-p", "-l", "-P", "--"}:
        if words[0].text != "--":
            return []
        words = words[1:]
    if len(words) < 2 or words[0].text in {"-", ""} or (words[0].text or "").isdecimal():
        return []
    return [inherited(joined(words[:1]), words[:1], call)]


def called_back(call: Call) -> list[Inner]:
    """mapfile: -C gives a command."""
    words = call.words
    for at, word in enumerate(words[1:], 1):
        text = word.text
        if text is None or text[:1] != "-" or "C" not in text:
            continue
        value, skip = word, text.index("C") + 1
        if skip == len(text) and at + 1 < len(words):
            value, skip = words[at + 1], 0
        command = joined([value])
        return [inherited(command[skip:] if command is not None else None, [value], call)]
    return []


def scheduled(call: Call) -> list[Inner]:
    """`at` and `batch`: their input is run later."""
    for word in call.words[1:]:
        text = word.text or ""
        if text[:1] == "-" and not {"f", "l", "r", "d", "c", "V"}.isdisjoint(text[1:]):
            return []
    return input_script(call)


def scheduled_lines(call: Call) -> list[Inner]:
    """crontab: each line of its input is five fields and a command."""
    if len(call.words) > 1 and call.words[-1].text != "-":
        return []
    source = fed(call)
    found: list[Inner] = []
    for word in source.words if source.kind == SHOWN else []:
        for line in (word.text or "").split("\n"):
            fields = line.split(None, 5)
            if len(fields) == 6 and fields[0][:1] != "#":
                script = Script(fields[5], [word])
                script.place = source.place
                script.lenient = True
                found.append(script)
    return found
