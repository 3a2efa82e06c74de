"""Modules from their code objects: no file is looked for and none is read."""

import sys


def load(modules: "tuple[tuple[str, bool, object], ...]") -> None:
    """Make each module that isn't there yet: name, whether it is a package, code.

    They come in the order in which they need each other, packages before what they hold.
    """
    kind = type(sys)
    there = sys.modules
    for name, is_package, code in modules:
        if name in there:
            continue
        made = kind(name)
        above, _, last = name.rpartition(".")
        made.__package__ = name if is_package else above
        if is_package:
            places = there[above].__path__ if above else ()
            made.__path__ = [f"{place}/{last}" for place in places]
        there[name] = made
        exec(code, made.__dict__)  # type: ignore[arg-type]  # noqa: S102 - it is a code object
        if above:
            setattr(there[above], last, made)
