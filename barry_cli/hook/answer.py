"""The answer to a harness, in the form that its adapter's data gives."""

import posix

Answer = tuple[tuple[str, ...], bool, tuple[str, ...], int]
"""Standard output cut at each place for the reason, whether it is JSON, standard error cut alike,
and the exit code."""

NO_OPINION: Answer = ((), False, (), 0)


def fill(pieces: "tuple[str, ...]", reason: str, is_json: bool) -> bytes:
    """The text with the reason in its places."""
    if len(pieces) < 2:
        text = "".join(pieces)
    elif is_json:
        from _json import encode_basestring_ascii

        text = encode_basestring_ascii(reason)[1:-1].join(pieces)
    else:
        text = reason.join(pieces)
    return text.encode("utf-8", "backslashreplace")


def write(descriptor: int, data: bytes) -> None:
    """All of it. Raises OSError."""
    while data:
        data = data[posix.write(descriptor, data) :]
