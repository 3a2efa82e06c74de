"""The walk: from a reading to every call in it, and to all that those run in turn."""

from barry_cli.policy.ruling.programs import (
    editors,
    environment,
    late,
    little,
    repeated,
    screens,
    shells,
    special,
)
from barry_cli.policy.ruling.programs.call import (
    DEEPEST,
    HEAVIEST,
    HOLE,
    LONGEST,
    MOST,
    WIDEST,
    Call,
    Found,
    Place,
    Run,
    Scope,
    Script,
)
from barry_cli.policy.ruling.programs.chains import key
from barry_cli.policy.ruling.programs.code import LANGUAGES, coded, language
from barry_cli.policy.ruling.programs.git import dashed, git
from barry_cli.policy.ruling.programs.helpers import may_run
from barry_cli.policy.ruling.programs.positional import (
    moves_arguments,
    resolved,
    uses_arguments,
)
from barry_cli.policy.ruling.programs.shells import SHELLS, Inner
from barry_cli.policy.ruling.programs.wrapped import HOLDERS, wrapped, wrapper_of
from barry_cli.policy.ruling.programs.wrappers import ALIASES, WRAPPERS
from barry_cli.policy.ruling.shell.nodes import PLACES, Command, Reading
from barry_cli.policy.ruling.shell.reading import read


def _console(call: Call) -> list[Inner]:
    from barry_cli.policy.ruling.programs import consoles

    return consoles.console(call)


def _pager(call: Call) -> list[Inner]:
    from barry_cli.policy.ruling.programs import consoles

    return consoles.pager(call)


_SPECIAL = {
    ".": shells.sourced,
    "alias": late.aliased,
    "at": shells.scheduled,
    "batch": shells.scheduled,
    "bind": late.bound,
    "capsh": little.capsh,
    "compgen": late.completed,
    "complete": late.completed,
    "crontab": shells.scheduled_lines,
    "ed": editors.editor,
    "emacs": little.emacs,
    "env": environment.env,
    "eval": shells.evaluated,
    "exe": shells.itself,
    "fd": repeated.fd,
    "find": repeated.find,
    "flock": special.locked,
    "gdb": editors.debugger,
    "git": git,
    "hash": late.hashed,
    "make": little.make,
    "mapfile": shells.called_back,
    "parallel": repeated.parallel,
    "readarray": shells.called_back,
    "runcon": little.labelled,
    "runuser": special.switched,
    "scp": special.ssh_copies,
    "sg": little.grouped,
    "newgrp": little.grouped,
    "screen": screens.screen,
    "script": special.recorded,
    "start-stop-daemon": special.started,
    "sed": editors.sed,
    "sftp": special.ssh_copies,
    "socat": little.socat,
    "source": shells.sourced,
    "ssh": special.ssh,
    "su": special.switched,
    "tar": special.archived,
    "tmux": screens.tmux,
    "trap": shells.trapped,
    "vim": editors.editor,
    "xargs": repeated.xargs,
    "xterm": little.terminal,
    **dict.fromkeys(("[", "let", "printf", "read", "test", "unset", "wait"), late.subscripted),
    **dict.fromkeys(("declare", "export", "local", "readonly", "typeset"), late.declared),
    **dict.fromkeys(("expect", "tclsh", "wish"), little.tcl),
    **dict.fromkeys(
        "psql mysql mariadb sqlite3 sqlite duckdb lldb ghci ftp lftp mail".split(), _console
    ),
    **dict.fromkeys(("less", "more", "most"), _pager),
    **dict.fromkeys(("gcc", "g++", "cc", "clang"), little.compiled),
    **dict.fromkeys(SHELLS, shells.shell),
    **dict.fromkeys(LANGUAGES, coded),
}
_KNOWN = frozenset((*_SPECIAL, *WRAPPERS, *HOLDERS, *ALIASES))


def walk(reading: Reading) -> Found:
    """Every call of the line. Never raises."""
    found = Found(reading.text)
    if reading.unparseable:
        found.fail(reading.unparseable, (0, len(reading.text)))
    scope = Scope(Place(reading.text, 0, 0, len(reading.text)))
    found.readings.append((reading, scope))
    _commands(reading.commands, scope, found)
    return found


def _commands(commands: list[Command], scope: Scope, found: Found) -> None:
    bodies: dict[str, list[Command]] = {}
    for command in commands:
        if command.group is not None and command.in_function:
            bodies.setdefault(command.function, []).append(command)
    later = {name: body for name, body in bodies.items() if uses_arguments(body)}
    if later:
        scope.bodies = {**scope.bodies, **later}
    for command in commands:
        if later and command.group is not None and command.function in later:
            continue
        _command(command, scope, found)
    for name, body in later.items():
        if name not in scope.called:  # it may be called by what this line doesn't show
            _body(body, scope, None, found)


def _command(command: Command, scope: Scope, found: Found) -> None:
    words = command.words
    if scope.arguments is not None or scope.holes:
        words = resolved(words, scope)
    for assignment in command.assignments:
        value = assignment.value
        if value is not None and may_run(assignment.name, value):
            host = Call(words or [value], command, scope, scope.host)
            _inner(late.given(assignment.name, value, host), host, found)
    if words:
        _call(Call(words, command, scope, scope.host), found)


def _call(call: Call, found: Found) -> None:
    found.words += len(call.words)
    if (
        found.full
        or len(found.calls) >= MOST + len(found.readings[0][0].commands)
        or found.words > WIDEST
    ):
        _fill(call, found)
        return
    found.calls.append(call)
    name = call.name
    program = call.words[0]
    if program.text is None and (not name or (program.many and _moves_places(found.text))):
        found.fail(
            "the name of a program can't be known",
            call.scope.place.span(call.words[0].start, call.words[0].end),
        )
        return
    body = call.scope.bodies.get(name)
    if body is not None and call.words[0].text == name:
        call.scope.called.add(name)
        if call.depth < LONGEST:
            _body(body, call.scope, call, found)
    if name in _KNOWN or name[:4] == "git-" or name[-1:].isdigit() or key(name) != name:
        if call.depth >= LONGEST:
            found.fail("commands run commands too deep", (call.start, call.end))
            return
        _inner(_ran_by(call), call, found)


def _moves_places(text: str) -> bool:
    """The line may give $HOME or $PWD another value, which may split a word."""
    for place in PLACES:
        text = text.replace(place, "")
    return any(sign in text for sign in ("HOME", "PWD", "IFS", "cd ", "pushd"))


def _body(body: list[Command], scope: Scope, call: Call | None, found: Found) -> None:
    """A function's body, with the arguments of the call, or with unknown ones."""
    inner = Scope(scope.place)
    inner.depth = scope.depth
    inner.holes = scope.holes
    inner.portable = scope.portable
    inner.bodies = scope.bodies
    inner.called = scope.called
    inner.host = scope.host
    if call is not None:
        if not moves_arguments(body, call.words[1:]):
            inner.arguments = call.words[1:]
            inner.zero = scope.zero
        inner.host = call
    for command in body:
        _command(command, inner, found)


def _ran_by(call: Call) -> list[Inner]:
    """What the call runs in turn."""
    name = key(call.name)
    entry, at = wrapper_of(call) if name in HOLDERS or name in WRAPPERS else ("", 1)
    handler = _SPECIAL.get(name) if name not in HOLDERS or not entry else None
    if handler is not None:
        return handler(call)
    if not entry:
        return coded(call) if language(call.name) else dashed(call) if name[:4] == "git-" else []
    if "entrypoint:" in entry:
        return special.contained(call, entry, at)
    if entry == WRAPPERS["nix shell"]:
        return special.nixed(call, at)
    return wrapped(call, entry, at)


def _fill(call: Call, found: Found) -> None:
    """Take in no more: whatever is left can't be known."""
    found.full = True
    found.fail("the line runs too many commands", (call.start, call.end))


def _inner(inner: list[Inner], call: Call, found: Found) -> None:
    if len(inner) > MOST:
        _fill(call, found)
    for item in inner:
        if found.full:
            return
        if isinstance(item, Run):
            if not item.words:  # `flock FILE --` names nothing to run
                continue
            _call(Call(item.words, call.command, call.scope, call), found)
        elif isinstance(item, Script):
            _script(item, call, found)
        else:
            words = item.words or call.words
            found.fail(item.why, call.scope.place.span(words[0].start, words[-1].end))


def _script(script: Script, call: Call, found: Found) -> None:
    """Read a text that the call runs."""
    place = script.place or call.scope.place
    words = script.words or call.words
    start = min(word.start for word in words)
    end = max(word.end for word in words)
    text = script.text
    if text is None:
        if not script.lenient:
            found.fail("the text of a command can't be known", place.span(start, end))
        return
    found.read += len(text)
    if call.scope.depth >= DEEPEST or found.read > HEAVIEST:
        found.fail("commands stand in commands too deep", place.span(start, end))
        return
    reading = read(text, script.portable)
    if reading.unparseable:
        if script.lenient:
            return
        found.fail(reading.unparseable, place.span(start, end))
    scope = Scope(place.inner(text, start, end))
    scope.depth = call.scope.depth + 1
    scope.portable = script.portable
    scope.host = call
    scope.holes = HOLE in text
    if script.inherits:
        scope.arguments, scope.zero = call.scope.arguments, call.scope.zero
        scope.bodies, scope.called = call.scope.bodies, call.scope.called
    else:
        scope.arguments, scope.zero = script.arguments, script.zero
    if scope.arguments is not None and moves_arguments(reading.commands, scope.arguments):
        scope.arguments = None
    found.readings.append((reading, scope))
    _commands(reading.commands, scope, found)
