"""JSON texts, read by the interpreter's own scanner: what the fast door has in place of `json`."""

BLANKS = " \t\n\r"


class NotJson(ValueError):
    """The text isn't one JSON document. Its own text says why, as the end of a sentence."""


class _Strict:
    """JSON as it is written down, without the additions that Python allows."""

    strict = True
    object_hook = None
    object_pairs_hook: object = None
    parse_float = float
    parse_int = int

    @staticmethod
    def parse_constant(word: str) -> object:
        raise ValueError(f"{word} is no JSON number")


def _once(pairs: "list[tuple[str, object]]") -> "dict[str, object]":
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


class _Once(_Strict):
    """The same, without keys that stand twice."""

    object_pairs_hook: object = staticmethod(_once)


def parse(text: str, once: bool = False) -> object:
    """The value of a text that is one JSON document and no more. `once`: no key may stand twice.
    Raises NotJson.
    """
    from _json import make_scanner

    body = text.strip(BLANKS)
    try:
        value, end = make_scanner(_Once if once else _Strict)(body, 0)  # type: ignore[arg-type]  # by its attributes
    # The scanner says of an empty text that an iteration ended, and of some others that the
    # interpreter is at fault.
    except (ValueError, RecursionError, StopIteration, SystemError):
        raise NotJson("it isn't JSON") from None
    if end != len(body):
        raise NotJson("it is more than one JSON document")
    found: object = value
    return found
