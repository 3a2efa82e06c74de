"""Modules from one file, which holds the code of many: nothing is looked for.

A module comes to life when something of it is asked for, or when one of its functions is called: to
name a function costs nothing.
"""

import marshal
import posix
import sys

Index = tuple[tuple[str, bool, str, int], ...]
"""Of each module its name, whether it is a package, the names of its functions with a blank before
and after each, the size of its code in bytes. The codes stand at the end of the file, in order."""

_PLACES: "dict[str, tuple[int, int, int, str]]" = {}
"""Of modules that aren't alive: file, offset and size of the code, and their functions."""


SIZE = 8
"""With so many bytes a file begins that tells how long what follows is: index and machine code."""


def load_file(path: str) -> None:
    """Have the modules of a file that begins with its index. Raises OSError, and what marshal
    raises for a file that isn't whole.
    """
    descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    size = int.from_bytes(posix.read(descriptor, SIZE), "big")
    index, machine_code = marshal.loads(posix.read(descriptor, size))  # noqa: S302 - Barry's own
    posix.close(descriptor)
    load(index, machine_code, path)


def load(index: Index, machine_code: "dict[str, str]", path: str) -> None:
    """Have the modules of a file that aren't there yet. Raises OSError.

    ``machine_code``: files of the interpreter's own that they import.
    """
    there = sys.modules
    if machine_code:
        sys.meta_path.insert(0, _Finder(machine_code))  # type: ignore[arg-type]  # its type costs
    descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    at = posix.fstat(descriptor).st_size - sum([size for _, _, _, size in index])
    for name, is_package, functions, size in index:
        if name not in there:
            made = there[name] = _Late(name)
            above, _, last = name.rpartition(".")
            made.__package__ = name if is_package else above
            if is_package:
                places = there[above].__path__ if above else ()
                made.__path__ = [f"{place}/{last}" for place in places]
            if above:
                setattr(there[above], last, made)
            _PLACES[name] = (descriptor, at, size, functions)
        at += size


class _Late(type(sys)):  # type: ignore[misc]  # the type of modules, which has no name here
    """A module that isn't alive yet."""

    # Not __getattr__: before that is asked, the interpreter writes an error message each time.
    def __getattribute__(self, name: str) -> object:
        own = _OWN(self, "__dict__")
        if name in own:
            return own[name]
        if name[:2] == "__":
            return _OWN(self, name)
        if f" {name} " not in _PLACES[own["__name__"]][3]:
            return getattr(_alive(self), name)

        def later(*given: object, **named: object) -> object:
            return getattr(_alive(self), name)(*given, **named)

        return later


_OWN = object.__getattribute__


def _alive(module: _Late) -> _Late:
    """The module, brought to life if it isn't yet. While it is, it has what ran so far."""
    if type(module) is _Late:
        descriptor, at, size, _ = _PLACES.pop(module.__name__)
        module.__class__ = type(sys)  # type: ignore[assignment]  # it is a plain one from now on
        exec(marshal.loads(posix.pread(descriptor, size, at)), module.__dict__)  # noqa: S102, S302
    return module


class _Finder:
    """Finds files of machine code without looking for them."""

    def __init__(self, files: "dict[str, str]") -> None:
        self._files = files

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        file = self._files.get(name)
        if file is None:
            return None
        # Part of every interpreter, and there already.
        loader = sys.modules["_frozen_importlib_external"].ExtensionFileLoader(name, file)
        return type(sys.__spec__)(name, loader, origin=file)
