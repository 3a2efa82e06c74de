"""Modules from their code: no file is looked for and none is read."""

import marshal
import sys

Bundle = "tuple[bytes, dict[str, bytes]]"
"""Code that is always needed, marshalled: name, whether it is a package, code, in the order in
which they need each other, packages before what they hold. And by name, what may be needed."""


def load(always: bytes, perhaps: "dict[str, bytes]") -> None:
    """Make the modules that aren't there yet; the others when they are imported."""
    kind = type(sys)
    there = sys.modules
    if perhaps:
        sys.meta_path.insert(0, _Finder(perhaps))  # type: ignore[arg-type]  # its type costs imports
    for name, is_package, code in marshal.loads(always):
        if name in there:
            continue
        made = kind(name)
        above, _, last = name.rpartition(".")
        made.__package__ = name if is_package else above
        if is_package:
            places = there[above].__path__ if above else ()
            made.__path__ = [f"{place}/{last}" for place in places]
        there[name] = made
        exec(code, made.__dict__)  # noqa: S102 - our own code, as the import system would
        if above:
            setattr(there[above], last, made)


class _Finder:
    """Finds a module by its name alone, and is its loader."""

    def __init__(self, code: "dict[str, bytes]") -> None:
        self._code = code

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        spec: object = type(sys.__spec__)(name, self)  # type: ignore[arg-type]  # as above
        return spec if name in self._code else None

    def create_module(self, spec: object) -> None:
        return None

    def exec_module(self, module: object) -> None:
        code = marshal.loads(self._code[module.__dict__["__name__"]])
        exec(code, module.__dict__)  # noqa: S102 - as above
