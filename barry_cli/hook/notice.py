"""The notice hook: ``PYTHON -I -S ENTRY EVENTS FINGERPRINT || exit 0``.

It tells the session of an event, and brings back what the session has to say to the agent. It
guards nothing: whatever fails is silent, and the harness goes on as if it had not been called.
"""

import posix

from barry_cli.hook.answer import Answer, fill, write
from barry_cli.hook.event import BYTES, Unreadable, parse_event, read_all, text_part
from barry_cli.hook.notice_file import Notices, Told, read_notices

SECONDS = 5
"""After this long the harness goes on without an answer."""

LINE = 1_000_000
"""The longest line that is sent, in bytes."""

PART = 65_536
"""How much of each part is sent where the whole would be too long, in characters."""


def main(arguments: "list[str]") -> None:
    """Tell of the event that standard input holds, give back what is said, and end."""
    code = 0
    try:
        import _signal as signals  # type: ignore[import-not-found]  # what builds on it costs

        signals.signal(signals.SIGALRM, _late)
        signals.pthread_sigmask(signals.SIG_UNBLOCK, (signals.SIGALRM,))
        signals.alarm(SECONDS)
        path, expected = arguments
        held = read_notices(path, expected)
        data = read_all(0, BYTES)
        event = parse_event(data)
        told = _told(held, event)
        if told is not None:
            code = _exchange(held, told, event, data.decode())
    except BaseException:  # noqa: S110 - nobody's session ends for want of a message
        pass
    posix._exit(code)  # noqa: SLF001 - its public name is in os


def _late(*given: object) -> None:
    posix._exit(0)  # noqa: SLF001 - as above


def _told(held: Notices, event: "dict[str, object]") -> "Told | None":
    for each in held.formats:
        if "event" not in each.paths or text_part(event, each.paths["event"]) == each.event:
            return each
    return None


def _exchange(held: Notices, told: Told, event: "dict[str, object]", text: str) -> int:
    import _socket

    path, key, session = held.listener
    link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    link.connect(path)
    link.sendall(_frame(told, event, text, key, session))
    if told.message is None:
        return 0
    data = b""
    while not data.endswith(b"\n"):
        piece = link.recv(1 << 16)
        if not piece or len(data) > BYTES:
            raise Unreadable("the session didn't answer")
        data += piece
    said = text_part(parse_event(data), ("text",))
    if not said:
        return 0
    code = _give(told.message, said)
    # Only now is it the harness's: a session that hears nothing takes it as not given.
    link.sendall(b'{"type": "given"}\n')
    return code


def _frame(told: Told, event: "dict[str, object]", text: str, key: str, session: str) -> bytes:
    from _json import encode_basestring_ascii

    parts = {name: text_part(event, keys) for name, keys in told.paths.items() if name != "input"}
    said = {"type": "notice", "key": key, "session": session, "kind": told.kind}
    head = ", ".join([f'"{name}": {encode_basestring_ascii(each)}' for name, each in said.items()])
    head += f', "takes": {"false" if told.message is None else "true"}'
    line = ""
    for most, whole in ((len(text), True), (len(text), False), (PART, False)):
        inner = ", ".join(
            [f'"{name}": {encode_basestring_ascii(each[:most])}' for name, each in parts.items()]
        )
        line = f'{{{head}, "parts": {{{inner}}}'
        if whole:
            line += f', "event": {encode_basestring_ascii(text)}'
        if len(line) < LINE:
            break
    return f"{line}}}\n".encode()


def _give(form: Answer, said: str) -> int:
    out, is_json, error, code = form
    write(1, fill(out, said, is_json))
    write(2, fill(error, said, False))
    return code
