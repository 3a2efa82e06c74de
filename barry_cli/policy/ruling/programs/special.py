"""Programs whose way of naming a command fits no table."""

from barry_cli.policy.ruling.programs.call import Call, Run, Script, joined
from barry_cli.policy.ruling.programs.helpers import helping_script
from barry_cli.policy.ruling.programs.options import scan
from barry_cli.policy.ruling.programs.shells import Inner, input_script
from barry_cli.policy.ruling.programs.wrapped import behind_dashes, wrapped
from barry_cli.policy.ruling.programs.wrappers import WRAPPERS
from barry_cli.policy.ruling.shell.nodes import Word

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


def ssh(call: Call) -> list[Inner]:
    """The words behind the host are joined and read by the shell there."""
    words = call.words
    options = _SSH.replace(" M ", " M: ") if call.name == "autossh" else _SSH
    found = scan(words, 1, options)
    inner: list[Inner] = _ssh_settings(found.given)
    if found.stop:
        return inner
    ran = False
    for at in found.at:
        behind = scan(words, at + 1, options)
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
    """`scp` and `sftp`: -o as ssh has it, -S a program."""
    entry = WRAPPERS.get(call.name, "")
    found = scan(call.words, 1, entry.partition(" ")[2], through=True)
    return [*_ssh_settings(found.given), *wrapped(call, entry, 1)]


def switched(call: Call) -> list[Inner]:
    """`su` and `runuser`."""
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
    for at, flag in enumerate(operands[:-1]):  # `su user -- -c '..'`
        if flag.text == "-c":
            inner += [Script(joined(operands[at + 1 : at + 2]), operands[at + 1 : at + 2])]
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
    """`docker run` and its kin: --entrypoint puts another program in front."""
    options = entry.partition(" ")[2]
    found = scan(call.words, at, options)
    for name, value in found.given:
        if name == "entrypoint" and value is not None and value.text != "" and found.at:
            return [Run([value, *call.words[start + 1 :]]) for start in found.at]
    return wrapped(call, entry, at)


def started(call: Call) -> list[Inner]:
    """`start-stop-daemon`: -x names the program, its arguments stand behind `--`."""
    options = "x: exec: a: startas: p: pidfile: n: name: u: user: c: chuid: d: chdir: start stop"
    found = scan(call.words, 1, options)
    named = [v for n, v in found.given if n in {"x", "exec", "a", "startas"} and v is not None]
    return [Run([program, *behind_dashes(call.words, 1)]) for program in named]


def nixed(call: Call, at: int) -> list[Inner]:
    """`nix develop` and nix shell: `-c` and all words behind it."""
    words = call.words
    for index in range(at, len(words) - 1):
        if words[index].text in {"-c", "--command"}:
            return [Run(words[index + 1 :])]
    return []
