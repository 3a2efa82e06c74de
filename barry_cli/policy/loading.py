"""Modules from their code: no file is looked for and none is read."""

import marshal
import sys

def load(always: bytes, perhaps: "dict[str, bytes | str]") -> None:
    """Make the modules that aren't there yet.

    ``always``: marshalled, name, whether it is a package and code of each, in the order in which
    they need each other, packages before what they hold. ``perhaps``: by name the code of those
    that are made when they are imported, or a file of machine code.
    """
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

    def __init__(self, code: "dict[str, bytes | str]") -> None:
        self._code = code

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        code = self._code.get(name)
        if code is None:
            return None
        loader: object = self
        if isinstance(code, str):
            # Part of every interpreter, and there already.
            loader = sys.modules["_frozen_importlib_external"].ExtensionFileLoader(name, code)
        return type(sys.__spec__)(name, loader, origin=code if loader is not self else None)  # type: ignore[arg-type]  # as above

    def create_module(self, spec: object) -> None:
        return None

    def exec_module(self, module: object) -> None:
        code = marshal.loads(self._code[module.__dict__["__name__"]])  # type: ignore[arg-type]
        exec(code, module.__dict__)  # noqa: S102 - as above
