"""What makes a public module lazy: a name is imported when it is first asked for."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def face(
    name: str, where: dict[str, str]
) -> "tuple[Callable[[str], object], Callable[[], list[str]], list[str]]":
    """``__getattr__``, ``__dir__`` and ``__all__`` for a module that re-exports ``where``."""
    home = sys.modules[name].__dict__
    names = sorted(where)

    def get(attribute: str) -> object:
        at = where.get(attribute)
        if at is None:
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        value = home[attribute] = getattr(__import__(at, fromlist=("*",)), attribute)
        return value

    return get, lambda: names, names
