"""Modules from one file, which holds the code of many: nothing is looked for.

They know nothing of those that the interpreter imports. One is made when something of it is asked
for, or when one of its functions is called: to name a function costs nothing.
"""

import marshal
import posix
import sys

Index = tuple[tuple[str, str, int], ...]
"""Of each module its name, the names of its functions with a blank before and after each, and the
size of its code in bytes. The codes stand at the end of the file, in order."""

MODULES, LATER = "__modules__", "__later__"
"""Under these names a module finds all others (the first) and functions of theirs (the second)."""

SIZE = 8
"""With so many bytes a file begins that tells how long what follows is: index and machine code."""


def load_file(path: str) -> "Modules":
    """The modules of a file that begins with its index. Raises OSError, and what marshal raises
    for a file that isn't whole.
    """
    descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    size = int.from_bytes(posix.read(descriptor, SIZE), "big")
    index, machine_code = marshal.loads(posix.read(descriptor, size))  # noqa: S302 - Barry's own
    posix.close(descriptor)
    return load(index, machine_code, path)


def load(index: Index, machine_code: "dict[str, str]", path: str) -> "Modules":
    """The modules of a file. ``machine_code``: files of the interpreter's own that they import.

    Raises OSError.
    """
    if machine_code:
        sys.meta_path.insert(0, _Finder(machine_code))  # type: ignore[arg-type]  # its type costs
    modules = Modules()
    modules.descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    at = posix.fstat(modules.descriptor).st_size
    for name, functions, size in reversed(index):
        at -= size
        modules.places[name] = (at, size, functions)
    return modules


class Modules(dict[str, object]):
    """The modules by name. One that isn't there yet is made."""

    def __init__(self) -> None:
        self.descriptor = -1
        self.places: dict[str, tuple[int, int, str]] = {}

    def __missing__(self, name: str) -> object:
        at, size, _ = self.places[name]
        made = self[name] = type(sys)(name)
        made.__dict__[MODULES] = self
        made.__dict__[LATER] = self.later
        code = posix.pread(self.descriptor, size, at)
        exec(marshal.loads(code), made.__dict__)  # noqa: S102, S302 - Barry's own
        return made

    def later(self, module: str, name: str = "") -> object:
        """A function that makes its module when it is called; without its name, the module."""
        if module in self:
            return getattr(self[module], name) if name else self[module]
        if not name:
            return _Late(self, module)

        def function(*given: object, **named: object) -> object:
            return getattr(self[module], name)(*given, **named)

        return function

    def call(self, module: str, name: str, *given: object) -> object:
        """What a function gives."""
        return getattr(self[module], name)(*given)


class _Late:
    """A module that is made when something of it is asked for that isn't a function."""

    __slots__ = ("module", "modules")

    def __init__(self, modules: Modules, module: str) -> None:
        self.modules = modules
        self.module = module

    # Not __getattr__: before that is asked, the interpreter writes an error message each time.
    def __getattribute__(self, name: str) -> object:
        modules, module = _OWN(self, "modules"), _OWN(self, "module")
        if f" {name} " in modules.places[module][2]:
            return modules.later(module, name)
        return getattr(modules[module], name)


_OWN = object.__getattribute__


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
