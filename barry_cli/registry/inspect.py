"""The child that loads somebody's package and checks it. Run as a script: FD ORDER.

The answer goes to the descriptor FD, which nothing but this file knows of: what the package prints
is not an answer. Starting a process while it is loaded is refused where it happens.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from typing import Any

_PROCESS_EVENTS = frozenset(
    {
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.spawn",
        "os.system",
        "pty.spawn",
        "subprocess.Popen",
    }
)
_MEMORY_BYTES = 4 << 30


def main(argv: list[str]) -> None:
    """Answer the order, whatever the package does, and end without running anything of its."""
    answer_to, order = int(argv[1]), json.loads(argv[2])
    own = os.getpid()
    os.set_inheritable(answer_to, False)
    _limit()
    _find_barry()
    try:
        answer = _examine(order)
    except BaseException as error:  # whatever the package's objects do when they are looked at
        answer = {"checked": 0, "problems": [f"checking it raised {type(error).__name__}"]}
    # A copy of this process that the package made somehow has nothing to say.
    if os.getpid() == own:
        _write(answer_to, json.dumps(answer).encode())
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue
    os._exit(0)


def _limit() -> None:
    """No core files, and an end to the memory that a runaway package can take."""
    import resource

    for kind, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, _MEMORY_BYTES)):
        try:
            _, hard = resource.getrlimit(kind)
            soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (soft, hard))
        except (OSError, ValueError):
            continue  # a system without this limit


def _find_barry() -> None:
    """Import the Barry that this file belongs to, wherever it is, and leave the path as it was."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path.insert(0, root)
    try:
        import barry_cli.registry.check  # noqa: F401  # loaded before the package can interfere
    finally:
        sys.path.remove(root)


def _examine(order: dict[str, Any]) -> dict[str, Any]:
    from barry_cli.contract.data import snapshot
    from barry_cli.registry.check import check_adapter
    from barry_cli.registry.content import PackageProblem, top_of
    from barry_cli.registry.load import load_object
    from barry_cli.registry.records import InstalledBag, snapshot_adapter
    from barry_cli.registry.traces import Traces

    started = _watch(order["path"])
    path, entry = order["path"], order["entry"]
    traces = Traces()
    try:
        adapter: Any = load_object(path, entry)
    except PackageProblem as problem:
        # What comes of a refused start is no second problem.
        return {"checked": 0, "problems": started or [*problem.problems, *traces.problems()]}
    except BaseException as error:  # KeyboardInterrupt and the like, raised by the package
        return {"checked": 0, "problems": [f"loading it raised {type(error).__name__}"]}
    folder, manifest, problems = _bag(adapter, path, entry)
    check = check_adapter(adapter, bag_manifest=manifest, package=top_of(entry))
    # Only now: looking for the evidence has imported more of the package.
    problems = [*started, *check.problems, *problems, *traces.problems()]
    own_id = getattr(adapter, "id", None)
    if not problems and own_id != order["called"]:
        problems.append(f"its entry point is named {order['called']}, and its id is {own_id}")
    answer = {
        "checked": check.checked,
        "problems": problems,
        "id": own_id if isinstance(own_id, str) and not problems else None,
    }
    if not problems:
        bag = InstalledBag(path=folder, manifest=manifest) if manifest is not None else None
        answer["record"] = snapshot(
            snapshot_adapter(
                adapter,
                package_name=order["packageName"],
                version=order["version"],
                source=order["source"],
                path=path,
                entry=entry,
                content_hash=order["contentHash"],
                content_stamp=order["contentStamp"],
                checked=check.checked,
                installed_at=order["installedAt"],
                bag=bag,
            )
        )
    return answer


def _bag(adapter: Any, path: str, entry: str) -> tuple[str, Any, list[str]]:
    """The folder of the bag, its manifest, and what is wrong with it."""
    from barry_cli.bags.manifest import BagRefused, read_bag
    from barry_cli.registry.content import locate

    declared = getattr(adapter, "bag", None)
    if not isinstance(declared, str):
        return "", None, []
    located = locate(path, entry)
    home = located.folder or os.path.dirname(located.file)
    folder = os.path.normpath(os.path.join(home, declared))
    try:
        return folder, read_bag(folder), []
    except BagRefused as refused:
        return folder, None, [f"{refused.path}: {problem}" for problem in refused.problems]


def _watch(path: str) -> list[str]:
    """From now on refuse to start processes; the list fills with where that was tried."""
    tried: list[str] = []

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event in _PROCESS_EVENTS:
            place = ""
            frame = inspect.currentframe()
            while frame is not None:
                file = frame.f_code.co_filename
                if file.startswith(path.rstrip("/") + "/"):
                    place = f"{file}:{frame.f_lineno}: "
                    break
                frame = frame.f_back
            problem = f"{place}it starts a process ({event}) while it is loaded"
            if problem not in tried:
                tried.append(problem)
            raise PermissionError("a package starts no process while it is loaded")

    sys.addaudithook(hook)
    return tried


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    main(sys.argv)
