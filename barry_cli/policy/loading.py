"""A program from one file: each of its definitions is made when something first names it.

Behind the program's own names stand the builtins, and behind those the definitions that nobody
has named yet: a mapping, which the interpreter asks for a name that it found nowhere before.
"""

import builtins
import marshal
import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FunctionType
else:  # to import it would cost
    FunctionType = type(lambda: None)

Head = tuple[str, dict[str, str], str, str, tuple[int, ...]]
"""The name that the program begins with; the files of machine code that it imports; the names of
its second piece, a blank before and after each; the names of those that stand alone, with blanks
between; and where each piece ends, in bytes.

The pieces stand at the end of the file, as marshal writes them. Two hold what most calls need,
definitions by name: the first is read at once, the second with the first one of it that is named.
The others hold one definition each, in the order of the names.

A definition is the code of a function; data, alone in a tuple; the code of a function, its defaults
and its defaults by keyword; or the code of a statement, and which of the names that it binds."""

LATER, METHOD, FOUND = "__later__", "__method__", "__found__"
"""Under these names a definition finds what gives it a function, or a method, that isn't made, and
what looks names up in a text."""


def load(head: Head, descriptor: int) -> "FunctionType":
    """The function that a program begins with, its definitions at the end of an open file."""
    start, machine_code, often, alone, ends = head
    waiting = _Waiting(builtins.__dict__)
    waiting["__import__"] = waiting.imported
    waiting.machine_code, waiting.descriptor, waiting.ends = machine_code, descriptor, ends
    waiting.begin = posix.fstat(descriptor).st_size - ends[-1]
    waiting.often, waiting.alone, waiting.places = often, alone, {}
    waiting.ready = waiting.piece(0)
    # Builtins are found at once among the names: each one found behind them costs an exception.
    waiting.names = names = dict(builtins.__dict__)
    names["__builtins__"] = waiting
    names[LATER], names[METHOD], names[FOUND] = waiting.later, waiting.method, found
    return waiting.function(start)


class _Waiting(dict[str, object]):
    """The builtins; and what is named for the first time is made."""

    alone: str
    begin: int
    descriptor: int
    ends: "tuple[int, ...]"
    machine_code: "dict[str, str]"
    names: "dict[str, object]"
    often: str
    places: "dict[str, int]"
    ready: "dict[str, object]"

    def __missing__(self, name: str) -> object:
        # Raises KeyError for what isn't there, which the interpreter makes a NameError.
        made = self.ready.pop(name, None)
        if made is None:
            if f" {name} " in self.often:
                self.often = ""
                self.ready |= self.piece(1)
                return self[name]
            made = self.piece(self.place(name))
        names = self.names
        if type(made) is tuple:
            if len(made) == 1:
                made = made[0]
            elif len(made) == 2:
                code, own = made
                bound: dict[str, object] = {}
                exec(code, names, bound)  # noqa: S102 - our own
                made = bound[own]
            else:
                code, defaults, by_keyword = made
                made = FunctionType(code, names, None, defaults)
                made.__kwdefaults__ = by_keyword
        else:
            made = FunctionType(made, names)  # type: ignore[arg-type]  # it is code
        names[name] = made
        return made

    def place(self, name: str) -> int:
        """Which piece holds a definition that stands alone. Most calls ask for none."""
        if not self.places:
            self.places = dict(zip(self.alone.split(" "), range(2, len(self.ends)), strict=False))
        return self.places[name]

    def piece(self, place: int) -> "dict[str, object]":
        """What a piece of the file holds. Of those that hold one definition it is that."""
        at = self.ends[place - 1] if place else 0
        data = posix.pread(self.descriptor, self.ends[place] - at, self.begin + at)
        made: dict[str, object] = marshal.loads(data)  # noqa: S302 - our own
        return made

    def imported(self, name: str, *given: object) -> object:
        """What an import statement gives: to look for a module as the interpreter does costs."""
        if name not in sys.modules:
            file = self.machine_code.get(name)
            if file is None:
                return builtins.__import__(name)
            import _imp

            module = _imp.create_dynamic(type(sys.__spec__)(name, None, origin=file))
            _imp.exec_dynamic(module)
            sys.modules[name] = module
        return sys.modules[name]

    def function(self, name: str) -> "FunctionType":
        """A function of the program's."""
        # Nobody asks for anything else.
        return self.names.get(name) or self[name]  # type: ignore[return-value]  # as it says

    def later(self, name: str) -> object:
        """A function that stands for another one, which is made when this one is called."""

        def function(*given: object, **named: object) -> object:
            return self.function(name)(*given, **named)

        return function

    def method(self, name: str) -> object:
        """A function that becomes another one when it is called."""
        made = FunctionType(_becomes.__code__, self.names)
        made.__kwdefaults__ = {"_own": (self, name, made)}
        return made


def _becomes(*given: object, _own: "tuple[_Waiting, str, FunctionType]", **named: object) -> object:
    waiting, name, function = _own
    made = waiting.function(name)
    function.__defaults__, function.__kwdefaults__ = made.__defaults__, made.__kwdefaults__
    function.__code__ = made.__code__
    return function(*given, **named)


def found(text: str, name: object, default: object = None) -> object:
    """What a name stands for in a text that has a line for each: the name, a tab, and that."""
    if type(name) is not str or "\n" in name:
        return default
    at = text.find(f"\n{name}\t")
    if at < 0:
        return default
    at += len(name) + 2
    return text[at : text.index("\n", at)]
