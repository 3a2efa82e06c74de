"""Programs whose way of naming a command fits no table."""

from barry_cli.policy.ruling.programs.call import Call, Run, Script, Unknown, joined, known
from barry_cli.policy.ruling.programs.chains import GLOBALS
from barry_cli.policy.ruling.programs.feeds import SHOWN, fed
from barry_cli.policy.ruling.programs.options import scan
from barry_cli.policy.ruling.programs.shells import Inner, input_script
from barry_cli.policy.ruling.programs.wrapped import helping_script, wrapped
from barry_cli.policy.ruling.programs.wrappers import WRAPPERS
from barry_cli.policy.ruling.shell.nodes import Word

_ENV = (
    "0a i ignore-environment 0 null u: unset: C: chdir: S: split-string: v debug block-signal"
    " default-signal ignore-signal list-signal-handling a: argv0: P: - help! version!"
)
_SSH = (
    "B: b: c: D: E: e: F: I: i: J: L: l: m: O! o: p: P: Q! R: S: W! w: N T 4 6 A a C f G! g K k M n"
    " q s! t v V! X x Y y 1 2"
)
_SSH_PROGRAMS = frozenset(("proxycommand", "localcommand", "remotecommand", "knownhostscommand"))
_SU = (
    "c: command: session-command: s: shell: u: user: g: group: G: supp-group: w:"
    " whitelist-environment: l login m p preserve-environment f fast P pty T no-pty - h! help! V!"
    " version!"
)
_SCRIPT = (
    "a append c: command: e return E: echo: f flush force B: log-io: I: log-in: O: log-out: T:"
    " log-timing: m: logging-format: o: output-limit: q quiet t? timing F d k r p h! help! V!"
    " version!"
)
_FLOCK = (
    "s shared x exclusive e u unlock n nb nonblock w: wait: timeout: E: conflict-exit-code: o close"
    " F no-fork fcntl verbose h! help! V! version!"
)
_SCREEN = "a A c: d? D? e: f? h: i L? l? ls! list! m O p: q Q! r? R? s: S: t: T: U v! wipe! x? X"
_TMUX: dict[str, str] = {
    "new-session": "A d D E P X c: e: f: F: n: s: t: x: y:",
    "new-window": "a b d k P S c: e: F: n: t:",
    "neww": "a b d k P S c: e: F: n: t:",
    "split-window": "b d f h I v P Z c: e: F: l: p: t:",
    "splitw": "b d f h I v P Z c: e: F: l: p: t:",
    "respawn-pane": "k c: e: t:",
    "respawnp": "k c: e: t:",
    "respawn-window": "k c: e: t:",
    "respawnw": "k c: e: t:",
    "run-shell": "b C c: d: t:",
    "if-shell": "b F t:",
    "display-popup": "B C E k N b: c: d: e: h: s: S: t: T: w: x: y:",
    "popup": "B C E k N b: c: d: e: h: s: S: t: T: w: x: y:",
    "pipe-pane": "I O o t:",
    "pipep": "I O o t:",
    "send-keys": "F H K l M R X c: N: t:",
}


def env(call: Call) -> list[Inner]:
    """Assignments and options, then the command; -S holds words of its own."""
    words = call.words
    for _ in range(8):
        at = _split_at(words)
        if at == 0:
            break
        head = words[at].prefix
        inside = head.partition("=")[2] if head[:2] == "--" else head.partition("S")[2]
        behind = at + 1
        source = words[at]
        if not inside and (head[:2] != "--" or "=" not in head):
            if behind >= len(words):
                return []
            source = words[behind]
            inside = source.text or ""
            behind += 1
        pieces = _pieces(inside, source) if source.text is not None else None
        if pieces is None:
            return [Unknown("what env -S holds can't be known", [source])]
        words = [words[0], *pieces, *words[behind:]]
    if words is call.words:
        return wrapped(call, _ENV, 1)
    again = Call(words, call.command, call.scope, call)
    return wrapped(again, _ENV, 1)


def _split_at(words: list[Word]) -> int:
    """Where env's -S stands, 0 when it doesn't."""
    at = 1
    while at < len(words):
        head = words[at].prefix
        if head[:1] != "-" or head == "--":
            return 0
        if head[:3] == "--s":
            return at
        if head[:2] != "--":
            letters = head[1:].lstrip("iv0")
            if letters[:1] == "S":
                return at
            at += letters in {"u", "C", "a", "P"}
        elif head in {"--unset", "--chdir", "--argv0"}:
            at += 1
        at += 1
    return 0


def _pieces(text: str, near: Word) -> list[Word] | None:
    """Split as env -S splits; None where it replaces something."""
    found: list[Word] = []
    piece: str | None = None
    quote = ""
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char == "$" and quote != "'":
            return None
        if char == "\\" and quote != "'":
            char = text[at : at + 1]
            at += 1
            if char == "c":
                break
            if char == "_":
                char = " "
            elif char in "fnrtv":
                return None
            if char == " " and not quote:
                if piece is not None:
                    found.append(known(piece, near))
                piece = None
                continue
            piece = (piece or "") + char
        elif quote:
            if char == quote:
                quote = ""
            else:
                piece = (piece or "") + char
        elif char in "'\"":
            quote = char
            piece = piece or ""
        elif char.isspace():
            if piece is not None:
                found.append(known(piece, near))
            piece = None
        elif char == "#" and piece is None:
            break
        else:
            piece = (piece or "") + char
    if quote:
        return None
    if piece is not None:
        found.append(known(piece, near))
    return found


def ssh(call: Call) -> list[Inner]:
    """The words behind the host are joined and read by the shell there."""
    words = call.words
    found = scan(words, 1, _SSH)
    inner: list[Inner] = _ssh_settings(found.given)
    if found.stop:
        return inner
    ran = False
    for at in found.at:
        behind = scan(words, at + 1, _SSH)
        inner += _ssh_settings(behind.given)
        if behind.stop:
            return inner
        for start in behind.at:
            if start < len(words):
                ran = True
                inner.append(Script(joined(words[start:]), words[start:]))
    if found.at and not ran:
        inner += input_script(call)
    return inner


def _ssh_settings(given: list[tuple[str, Word | None]]) -> list[Inner]:
    inner: list[Inner] = []
    for name, value in given:
        if name == "o" and value is not None:
            setting = value.prefix
            key = setting.replace("=", " ").split(" ", 1)[0]
            if key.lower() in _SSH_PROGRAMS and setting[len(key) + 1 :].strip() != "none":
                inner.append(helping_script(value, len(key) + 1))
    return inner


def ssh_copies(call: Call) -> list[Inner]:
    """scp and sftp: -o as ssh has it, -S a program."""
    entry = WRAPPERS[call.name]
    found = scan(call.words, 1, entry.partition(" ")[2], through=True)
    return [*_ssh_settings(found.given), *wrapped(call, entry, 1)]


def switched(call: Call) -> list[Inner]:
    """su and runuser."""
    words = call.words
    found = scan(words, 1, _SU, through=True)
    if found.stop:
        return []
    inner: list[Inner] = []
    for name, value in found.given:
        if name in {"c", "command", "session-command"} and value is not None:
            inner.append(Script(joined([value]), [value]))
        elif name in {"u", "user"} and call.name == "runuser":
            start = scan(words, 1, _SU).at
            return [Run(words[start[0] :])] if start and start[0] < len(words) else []
    operands = [words[at] for at in found.at if at < len(words)]
    for at in range(len(operands) - 1):  # `su user -- -c '..'`
        if operands[at].text == "-c":
            inner.append(Script(joined([operands[at + 1]]), [operands[at + 1]]))
    if not inner and len(operands) < 2:
        inner += input_script(call)
    return inner


def recorded(call: Call) -> list[Inner]:
    """script: `-c TEXT`; elsewhere the words behind the file."""
    words = call.words
    found = scan(words, 1, _SCRIPT, through=True)
    inner: list[Inner] = []
    if found.stop:
        return inner
    for name, value in found.given:
        if name in {"c", "command"} and value is not None:
            inner.append(Script(joined([value]), [value]))
    if not inner:
        start = scan(words, 1, _SCRIPT).at
        behind = words[start[0] + 1 :] if start else []
        if behind and behind[0].text == "--":
            behind = behind[1:]
        if behind:
            inner.append(Run(behind))
        else:
            inner += input_script(call)
    return inner


def locked(call: Call) -> list[Inner]:
    """flock: a file, then `-c TEXT` or a command."""
    words = call.words
    found = scan(words, 1, _FLOCK)
    inner: list[Inner] = []
    for at in [] if found.stop else found.at:
        behind = words[at + 1 :]
        if behind and behind[0].text in {"-c", "--command"}:
            if len(behind) > 1:
                inner.append(Script(joined(behind[1:2]), behind[1:2]))
        elif behind:
            inner.append(Run(behind[1:] if behind[0].text == "--" else behind))
    return inner


def tmux(call: Call) -> list[Inner]:
    """Its commands that hold a shell's command, and keys that are typed into one."""
    words = call.words
    inner: list[Inner] = []
    start = scan(words, 1, GLOBALS["tmux"])
    for name, value in start.given:
        if name == "c" and value is not None:
            inner.append(Script(joined([value]), [value]))
    at = start.at[0] if start.at else len(words)
    while at < len(words):
        end = at
        while end < len(words) and words[end].text not in {";", "\\;"}:
            end += 1
        if end > at:
            inner += _tmux_command(words[at:end])
        at = end + 1
    return inner


def _tmux_command(words: list[Word]) -> list[Inner]:
    asked = words[0].text or ""
    names = [asked] if asked in _TMUX else [n for n in _TMUX if asked and n.startswith(asked)]
    if asked == "send":
        names = ["send-keys"]
    elif asked in {"run", "if"}:
        names = [f"{asked}-shell"]
    if not names:
        return []
    found = scan(words, 1, _TMUX[names[0]])
    operands = words[found.at[0] :] if found.at else []
    if not operands:
        return []
    if names[0] == "send-keys":
        keys = [word for word in operands if word.text not in {"Enter", "C-m", "KPEnter", "Space"}]
        return [_typed(keys)] if keys else []
    if names[0] == "if-shell":
        return [helping_script(word) for word in operands[:3]]
    return [Script(joined(operands), operands)] if len(operands) == 1 else [Run(operands)]


def _typed(words: list[Word]) -> Script:
    script = Script((joined(words, lenient=True) or "").replace("\\n", "\n"), words)
    script.lenient = True
    return script


def screen(call: Call) -> list[Inner]:
    """A command of its own, or text typed into a session (`-X stuff`)."""
    words = call.words
    found = scan(words, 1, _SCREEN)
    if found.stop or not found.at:
        return []
    operands = words[found.at[0] :]
    if any(name == "X" for name, _ in found.given) and operands:
        if operands[0].text == "stuff":
            return [_typed(operands[1:])] if operands[1:] else []
        return [Run(operands[1:])] if operands[0].text in {"exec", "screen"} and operands[1:] else []
    return [Run(operands)] if operands else []


def debugger(call: Call) -> list[Inner]:
    """gdb: the words behind --args, and shell commands among its own."""
    words = call.words
    inner: list[Inner] = []
    for at in range(1, len(words)):
        text = words[at].text
        if text in {"--args", "-args"}:
            return [*inner, Run(words[at + 1 :])] if words[at + 1 :] else inner
        if text in {"-ex", "--ex", "-eval-command", "--eval-command", "-iex"} and at + 1 < len(words):
            value = words[at + 1].prefix.lstrip()
            for lead in ("shell ", "!", "make "):
                if value.startswith(lead):
                    inner.append(helping_script(words[at + 1], len(words[at + 1].prefix) - len(value) + len(lead)))
    return inner


def editor(call: Call) -> list[Inner]:
    """vim and its kin: `!` commands given on the command line or in the input."""
    words = call.words
    inner: list[Inner] = []
    for at in range(1, len(words)):
        head = words[at].prefix
        if head in {"-c", "--cmd"} and at + 1 < len(words):
            inner += _banged(words[at + 1], 0)
        elif head[:2] == "-c" or (head[:2] == "-s" and head[-1:] == "c" and at + 1 < len(words)):
            inner += _banged(words[at], 2) if head[:2] == "-c" else _banged(words[at + 1], 0)
        elif head[:1] == "+":
            inner += _banged(words[at], 1)
    source = fed(call)
    for word in source.words if source.kind == SHOWN else []:
        for line in (word.text or "").split("\n"):
            bang = line.lstrip(": ")
            if bang[:1] == "!":
                script = Script(bang[1:], [word])
                script.place = source.place
                script.lenient = True
                inner.append(script)
    return inner


def _banged(word: Word, skip: int) -> list[Inner]:
    text = word.prefix[skip:]
    before, bang, _ = text.partition("!")
    if not bang or before.strip(": ") not in {"", "silent", "sil", "exe", "r", "read", "%", "."}:
        return []
    return [helping_script(word, skip + len(before) + 1)]


def sed(call: Call) -> list[Inner]:
    """GNU sed's `e`, as a command and as a flag of `s`."""
    found = scan(call.words, 1, "e: expression: f: file: l: line-length: n s E r z u i? in-place", True)
    scripts = [v for n, v in found.given if n in {"e", "expression"} and v is not None]
    if not scripts and not any(name in {"f", "file"} for name, _ in found.given):
        scripts = [call.words[at] for at in found.at[:1] if at < len(call.words)]
    inner: list[Inner] = []
    for word in scripts:
        for line in (word.text or "").replace(";", "\n").split("\n"):
            text = line.strip()
            bare = text.lstrip("0123456789$,~+! ")
            if bare[:2] == "e ":
                inner.append(_code_text(bare[2:], word))
            elif bare[:1] == "s" and len(bare) > 4:
                pieces = bare[2:].split(bare[1])
                if len(pieces) == 3 and "e" in pieces[2] and pieces[2].strip("egpiImM0123456789") == "":
                    inner.append(_code_text(pieces[1], word))
    return inner


def _code_text(text: str, word: Word) -> Script:
    script = Script(text, [word])
    script.lenient = True
    return script


def archived(call: Call) -> list[Inner]:
    """tar: the options of its table entry, and --checkpoint-action=exec=."""
    inner = wrapped(call, WRAPPERS["tar"], 1)
    for at, word in enumerate(call.words):
        name, equal, _ = word.prefix.partition("=")
        if not name.startswith("--checkpoint-a"):
            continue
        holder = word if equal else call.words[at + 1] if at + 1 < len(call.words) else word
        skip = len(name) + 1 if equal else 0
        if holder.prefix.startswith("exec=", skip):
            inner.append(helping_script(holder, skip + 5))
    return inner


def contained(call: Call, entry: str, at: int) -> list[Inner]:
    """docker run and its kin: --entrypoint puts another program in front."""
    options = entry.partition(" ")[2]
    found = scan(call.words, at, options)
    for name, value in found.given:
        if name == "entrypoint" and value is not None and value.text != "" and found.at:
            return [Run([value, *call.words[start + 1 :]]) for start in found.at]
    return wrapped(call, entry, at)


def nixed(call: Call, at: int) -> list[Inner]:
    """nix develop and nix shell: `-c` and all words behind it."""
    words = call.words
    for index in range(at, len(words) - 1):
        if words[index].text in {"-c", "--command"}:
            return [Run(words[index + 1 :])]
    return []
