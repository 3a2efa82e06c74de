"""Telling the session what was ruled. Nothing depends on it: a session that is gone is no loss."""

SECONDS = 0.2
"""How long the telling may hold the harness up."""


def tell(listener: "tuple[str, str, str]", facts: "dict[str, str | int]") -> None:
    """Send one line of JSON to the session's socket, with its token. Raises nothing."""
    try:
        import _socket
        from _json import encode_basestring_ascii

        path, token, session = listener
        parts = []
        for name, value in {"token": token, "session": session, **facts}.items():
            text = encode_basestring_ascii(value) if type(value) is str else str(value)
            parts.append(f'"{name}":{text}')
        line = "{" + ",".join(parts) + "}\n"
        link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        link.settimeout(SECONDS)
        link.connect(path)
        # One send, so that one deadline holds for all of it.
        link.send(line.encode())
    except Exception:  # noqa: S110 - the ruling was given; this was only word of it
        pass
