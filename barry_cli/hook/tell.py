"""Telling the session what was ruled. Nothing depends on it: a session that is gone is no loss."""

from barry_cli.policy.ruling.told import facts
from barry_cli.policy.ruling.verdict import Verdict

SECONDS = 0.2
"""How long the telling may hold the harness up."""


def tell(listener: "tuple[str, str, str]", tool: str, call: str, verdict: Verdict) -> None:
    """Send one line of JSON to the session's socket: its key, the call, the verdict's keys.

    What was ruled on is left out: the session knows the call. Raises nothing.
    """
    try:
        import _socket
        from _json import encode_basestring_ascii

        path, key, session = listener
        said = {"type": "ruled", "key": key, "session": session, "tool": tool, "call": call}
        parts = [(name, encode_basestring_ascii(value)) for name, value in said.items()]
        parts += [(name, value) for name, value in facts(verdict) if name != "text"]
        line = "{" + ", ".join([f'"{name}": {value}' for name, value in parts]) + "}\n"
        link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        link.settimeout(SECONDS)
        link.connect(path)
        # One send, so that one deadline holds for all of it.
        link.send(line.encode())
    except Exception:  # noqa: S110 - the ruling was given; this was only word of it
        pass
