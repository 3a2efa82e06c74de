"""Whatever a package does while it is loaded is one clear problem, and nothing of it stays."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from barry_cli.registry.adapters import Adapters
from barry_cli.registry.examine import Examined
from tests.unit.registry.packages import package_of, write_package


async def look(path: Path, seconds: float = 20) -> Examined:
    return await Adapters(load_seconds=seconds).inspect(path)


async def test_a_good_package_has_a_record_and_no_problem(tmp_path: Path) -> None:
    found = await look(write_package(tmp_path))
    assert found.problems == []
    assert found.checked > 50
    assert found.record is not None
    assert found.record.id == found.called == "toy"
    assert found.record.bag is not None
    assert found.record.bag.manifest.tools["Shell"].field == "command"
    assert found.record.checked == found.checked


async def test_nothing_is_written_into_the_package(tmp_path: Path) -> None:
    path = write_package(tmp_path)
    before = sorted(path.rglob("*"))
    await look(path)
    assert sorted(path.rglob("*")) == before


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("import sys; sys.exit(3)", "__init__.py:1: it ends the process (sys.exit 3)"),
        ("raise SystemExit('bye')", "(sys.exit 'bye')"),
        ("import os; os._exit(3)", "its process ended with status 3"),
        ("import os; os.abort()", "its process was ended by SIGABRT"),
        ("import os, signal; os.kill(os.getpid(), 9)", "its process was ended by SIGKILL"),
        ("import ctypes; ctypes.string_at(0)", "its process was ended by SIGSEGV"),
        ("raise ValueError('no\\nway')", "__init__.py:1: ValueError: no way"),
        ("raise KeyboardInterrupt", "loading it raised KeyboardInterrupt"),
        ("raise GeneratorExit", "loading it raised GeneratorExit"),
        ("class E(Exception):\n  def __str__(s): 1/0\nraise E", "__init__.py:3: E"),
        ("def broken(:\n  pass", "__init__.py:1: invalid syntax"),
        ("x = '\\0'\n\0", "null bytes"),
        ("import nowhere_at_all", "__init__.py:1: it imports nowhere_at_all, which is not"),
        ("def f(): f()\nf()", "RecursionError"),
        ("x = bytearray(64 << 30)", "MemoryError"),
        ("print('hello')", "it printed while it was loaded"),
        ("import os; os.write(1, b'\\xff' * 99999)", "it printed while it was loaded"),
        ("import os; os.fork()", "__init__.py:1: it starts a process (os.fork)"),
        ("import subprocess; subprocess.run('true')", "it starts a process (subprocess.Popen)"),
        ("import os; os.system('true')", "it starts a process (os.system)"),
        ("import os; os.execv('/bin/true', ['true'])", "it starts a process (os.exec)"),
        ("try:\n  import os; os.fork()\nexcept Exception: pass", "it starts a process (os.fork)"),
    ],
)
async def test_what_it_does_while_it_is_loaded_is_one_problem(
    tmp_path: Path, code: str, part: str
) -> None:
    found = await look(write_package(tmp_path, before=code))
    (problem,) = found.problems
    assert part in problem
    assert found.record is None


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("adapter = {}", "of type dict, not Adapter"),
        ("adapter = Adapter", "of type type, not Adapter"),
        ("del adapter", "barry_adapter_toy has no adapter"),
    ],
)
async def test_an_entry_that_is_no_adapter_is_one_problem(
    tmp_path: Path, code: str, part: str
) -> None:
    (problem,) = (await look(write_package(tmp_path, after=code))).problems
    assert part in problem


async def test_a_warning_is_no_problem(tmp_path: Path) -> None:
    code = "import sys, warnings; warnings.warn('old'); print('note', file=sys.stderr)"
    assert (await look(write_package(tmp_path, before=code))).problems == []


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("while True: pass", "it did not finish loading within 1 seconds"),
        ("while True: print('x' * 4096)", "within 1 seconds, and kept printing"),
        (
            "import signal; signal.signal(15, signal.SIG_IGN)\nwhile True: pass",
            "it did not finish loading within 1 seconds",
        ),
    ],
)
async def test_what_does_not_end_is_ended(tmp_path: Path, code: str, part: str) -> None:
    began = time.monotonic()
    (problem,) = (await look(write_package(tmp_path, before=code), seconds=1)).problems
    assert part in problem
    assert time.monotonic() - began < 10


HIDDEN_FORK = """
import ctypes, os, time
if ctypes.CDLL(None).fork() == 0:
    os.setsid()
    if ctypes.CDLL(None).fork() == 0:
        with open({mark!r}, "w") as out:
            out.write(str(os.getpid()))
        time.sleep(60)
    os._exit(0)
while not os.path.exists({mark!r}):
    time.sleep(0.01)
time.sleep(0.05)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only a process group is ended")
async def test_a_process_that_it_starts_behind_everybodys_back_is_ended(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    path = write_package(tmp_path / "p", before=HIDDEN_FORK.format(mark=str(mark)))
    await look(path)
    pid = int(mark.read_text())
    for _ in range(100):
        if not os.path.exists(f"/proc/{pid}"):
            break
        time.sleep(0.02)
    assert not os.path.exists(f"/proc/{pid}")


async def test_its_copies_have_nothing_to_say(tmp_path: Path) -> None:
    found = await look(write_package(tmp_path, before="import ctypes; ctypes.CDLL(None).fork()"))
    assert found.problems == []  # the one answer is whole, whoever else ran to the end


async def test_it_sees_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TOY_API_KEY", "SOME_TOKEN", "SSH_AUTH_SOCK", "PYTHONSTARTUP", "LD_PRELOAD"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("LC_TIME", "C")
    code = "import os; raise ValueError(' '.join(sorted(os.environ)))"
    (problem,) = (await look(write_package(tmp_path, before=code))).problems
    seen = set(problem.partition("ValueError: ")[2].split())
    known = {"HOME", "PATH", "LANG", "LANGUAGE", "TMPDIR", "TZ", "VIRTUAL_ENV", "BARRY_HOME"}
    assert {"HOME", "PATH", "BARRY_HOME", "LC_TIME"} <= seen
    assert {name for name in seen if not name.startswith(("LC_", "PYTHON"))} <= known
    assert "PYTHONSTARTUP" not in seen


async def test_its_dependencies_are_those_of_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/needed_by_toy.py").write_text("")
    path = write_package(tmp_path / "p", before="import needed_by_toy")
    assert len((await look(path)).problems) == 1
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "lib")
    assert (await look(path)).problems == []


async def test_a_module_in_the_current_folder_is_nobodys_dependency(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "planted.py").write_text("")
    (tmp_path / "pydantic.py").write_text("raise SystemExit('planted')")
    path = write_package(tmp_path / "p", before="import planted")
    monkeypatch.chdir(tmp_path)
    (problem,) = (await look(path)).problems
    assert "it imports planted, which is not installed here" in problem


async def test_faults_of_declarations_and_of_the_bag_are_told_together(tmp_path: Path) -> None:
    path = write_package(
        tmp_path, more="vendor='v', options={'type': 'x'},", bag='name = "toy"\n[tolls]'
    )
    problems = (await look(path)).problems
    assert len(problems) == 2
    assert problems[0].startswith("options: type")
    assert problems[1].endswith("bag.toml: tolls is not a known key; did you mean tools?")


async def test_a_bag_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    path = write_package(tmp_path)
    (package_of(path) / "bag.toml").unlink()
    (problem,) = (await look(path)).problems
    assert problem.endswith("bag.toml: it can't be read: No such file or directory")


async def test_evidence_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    path = write_package(tmp_path)
    checks = package_of(path) / "checks.py"
    checks.write_text("def guest(proof): ...")
    (problem,) = (await look(path)).problems
    assert "barry_adapter_toy.checks:guest is not an async function" in problem
    checks.write_text("import nowhere_at_all")
    (problem,) = (await look(path)).problems
    assert "No module named 'nowhere_at_all'" in problem
    checks.unlink()
    (problem,) = (await look(path)).problems
    assert "there is no module barry_adapter_toy.checks" in problem


async def test_the_entry_point_is_named_as_the_adapter(tmp_path: Path) -> None:
    path = write_package(tmp_path)
    project = path / "pyproject.toml"
    project.write_text(project.read_text().replace('toy = "', 'tony = "'))
    (problem,) = (await look(path)).problems
    assert problem == "its entry point is named tony, and its id is toy"


async def test_a_package_that_changes_while_it_is_checked_is_refused(tmp_path: Path) -> None:
    path = write_package(tmp_path)
    new = package_of(path) / "new.py"
    project = package_of(path) / "checks.py"
    project.write_text(project.read_text() + f"open({str(new)!r}, 'a').close()\n")
    (problem,) = (await look(path)).problems
    assert "changed while they were checked" in problem


async def test_an_answer_that_it_forges_is_no_answer(tmp_path: Path) -> None:
    code = """
import os
for fd in range(3, 1024):
    try: os.write(fd, b"{forged")
    except OSError: pass
"""
    found = await look(write_package(tmp_path, before=code))
    assert found.record is None
    assert found.problems == ["its answer can't be read: something else was written over it"]


def test_the_child_finds_its_own_barry(tmp_path: Path) -> None:
    """Run from a folder that is not on the path of the interpreter, as from a source tree."""
    path = write_package(tmp_path / "p")
    root = Path(__file__).resolve().parents[3]
    code = (
        "import asyncio, sys; sys.path.insert(0, sys.argv[1])\n"
        "from barry_cli.registry.adapters import Adapters\n"
        "print(asyncio.run(Adapters().inspect(sys.argv[2])).problems)"
    )
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", code, root, path],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "[]\n"


CHANGES = [
    ("import os; os.chdir('/tmp')", "it changes the current folder while"),
    ("import os; os.umask(0)", "it changes the umask while"),
    ("import sys; sys.path.append('/nowhere')", "it changes sys.path while"),
    ("import sys; sys.meta_path.reverse()", "it changes sys.meta_path while"),
    ("import os; os.environ['TOY'] = '1'", "it changes the environment while"),
    ("import signal; signal.signal(15, signal.SIG_IGN)", "it changes what SIGTERM does while"),
    ("import signal; signal.pthread_sigmask(0, [15])", "it changes which signals are blocked"),
    ("import sys, types; sys.modules['json'] = types.ModuleType('json')", "the module json while"),
    ("import sys, types; sys.modules['wave'] = types.ModuleType('wave')", "the module wave while"),
    ("import sys; del sys.modules['decimal']", "it changes the module decimal while"),
    (
        "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()",
        "it leaves a thread running",
    ),
    ("import _thread, time; _thread.start_new_thread(time.sleep, (60,))", "it leaves a thread"),
]


@pytest.mark.parametrize(("code", "part"), CHANGES)
async def test_what_it_changes_of_the_process_is_a_problem(
    tmp_path: Path, code: str, part: str
) -> None:
    found = await look(write_package(tmp_path, after=code))
    (problem,) = found.problems
    assert part in problem
    assert problem.endswith("and a package only declares")
    assert found.record is None


async def test_everything_that_it_changes_is_named_at_once(tmp_path: Path) -> None:
    code = "import os, signal; os.umask(0); os.chdir('/tmp'); signal.signal(2, signal.SIG_IGN)"
    problems = (await look(write_package(tmp_path, after=code))).problems
    assert len(problems) == 3


async def test_evidence_that_changes_the_process_is_no_better(tmp_path: Path) -> None:
    path = write_package(tmp_path)
    with (package_of(path) / "checks.py").open("a") as checks:
        checks.write("import os; os.umask(0)\n")
    (problem,) = (await look(path)).problems
    assert "it changes the umask" in problem


async def test_using_the_library_changes_nothing(tmp_path: Path) -> None:
    code = """
import asyncio, concurrent.futures, json, logging, subprocess, wave, xml.dom.minidom
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    pool.submit(json.dumps, {}).result()
"""
    assert (await look(write_package(tmp_path, before=code))).problems == []
