"""An adapter's code, loaded into this process from the folder of its package.

``sys.path`` stays as it is. The package is known by its own name, so that its imports of itself,
relative or absolute, and its own data files work.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING

from barry_cli.registry.content import PackageProblem, locate, top_of
from barry_cli.registry.ledger import describe

if TYPE_CHECKING:
    from types import ModuleType

_ours: dict[str, str] = {}
"""Top packages that were loaded from here -> the file they were made from."""


def load_object(path: str, entry: str) -> object:
    """What ``module:attribute`` names in the package of a folder, freshly loaded.

    Raises PackageProblem with the reason when it can't be loaded, whatever the code does, and
    when it changes the current folder, the umask or ``sys.path``; those are put back.
    """
    held = _Held()
    try:
        value = _value(path, entry)
    finally:
        changed = held.put_back()
    if changed:
        _forget(top_of(entry))
        raise PackageProblem(*changed)
    return value


def changing(what: str) -> str:
    """The problem of a package that changes something of the process that loads it."""
    return f"it changes {what} while it is loaded, and a package only declares"


class _Held:
    """What a package must leave as it was, as far as that is cheap to see and to put back."""

    def __init__(self) -> None:
        self._path, self._entries = sys.path, list(sys.path)
        self._folder, self._umask = current_folder(), current_umask()

    def put_back(self) -> list[str]:
        """Put it back; gives the problems."""
        changed = []
        if sys.path is not self._path or self._path != self._entries:
            changed.append(changing("sys.path"))
            sys.path = self._path
            self._path[:] = self._entries
        if current_folder() != self._folder:
            changed.append(changing("the current folder"))
            with suppress(OSError):  # a folder that is gone can't be gone back to
                os.chdir(self._folder or "/")
        if current_umask() != self._umask:
            changed.append(changing("the umask"))
            os.umask(self._umask)
        return changed


def current_folder() -> str | None:
    """The current folder, or None where it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return None


def current_umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _value(path: str, entry: str) -> object:
    module, _, attribute = entry.partition(":")
    try:
        value: object = load_module(path, module)
        for name in attribute.split("."):
            value = getattr(value, name)
    except PackageProblem:
        raise
    except AttributeError as error:
        raise PackageProblem(f"{module} has no {attribute}") from error
    except (Exception, SystemExit) as error:
        raise PackageProblem(failure(error, path)) from error
    return value


def load_module(path: str, module: str) -> ModuleType:
    """Run a module of the package in a folder, its package first, and give it back.

    Modules of an earlier load of the same package are dropped: what runs is what is there now.
    Raises PackageProblem when it isn't there or would stand in for another module, and whatever
    its code raises; then nothing of it stays loaded.
    """
    top = top_of(module)
    located = locate(path, module)
    if there := _imported(top, located.file):
        return import_module(module) if module != top else there
    _forget(top)
    folders = None if located.folder is None else [located.folder]
    spec = spec_from_file_location(top, located.file, submodule_search_locations=folders)
    if spec is None or spec.loader is None:
        raise PackageProblem(f"{located.file} is not Python")
    _ours[top] = located.file
    made = sys.modules[top] = module_from_spec(spec)
    try:
        spec.loader.exec_module(made)
        return import_module(module) if module != top else made
    except BaseException:
        _forget(top)
        raise


def _imported(top: str, file: str) -> ModuleType | None:
    """The package, where the process itself has imported it from this very file.

    Raises PackageProblem when its name is that of another module.
    """
    if top in sys.stdlib_module_names or top == "barry_cli":
        raise PackageProblem(f"the package's name {top} is taken by a module of Python or Barry")
    there = sys.modules.get(top)
    if there is None or top in _ours:
        return None
    other = getattr(there, "__file__", None) or "a module without a file"
    if not os.path.exists(other) or not os.path.samefile(other, file):
        raise PackageProblem(f"the package's name {top} is taken by {other}")
    return there


def failure(error: BaseException, path: str) -> str:
    """Why code failed to load, with the place in the package where it did."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno or 1}: {error.msg}"
    at = _place(error, path)
    if isinstance(error, SystemExit):
        return f"{at}it ends the process (sys.exit {error.code!r}) while it is loaded"
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"{at}it imports {error.name}, which is not installed here"
    return f"{at}{describe(error)}"


def _place(error: BaseException, path: str) -> str:
    """``file:line: `` of the innermost frame in the package, or nothing."""
    place = ""
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith(path.rstrip("/") + "/"):
            place = f"{file}:{trace.tb_lineno}: "
        trace = trace.tb_next
    return place


def _forget(top: str) -> None:
    _ours.pop(top, None)
    for name in [name for name in sys.modules if name == top or name.startswith(f"{top}.")]:
        del sys.modules[name]
