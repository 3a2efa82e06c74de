"""A throw-away adapter with its harness, and Barry to run it with: fixtures that tests can bend."""

from __future__ import annotations

import asyncio
import io
import json
import os
import pprint
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pexpect

from barry_cli.base.paths import Folders
from barry_cli.base.processes import ProcessIdentity, descendants, identify, is_alive, subreaper
from barry_cli.registry.adapters import Adapters
from barry_cli.turns.store.sessions import SessionRow, Sessions

ROOT = Path(__file__).resolve().parents[1]

ADAPTER = '''
"""A toy: what it declares and how it plans is bent by SPEC."""

from pathlib import Path

from barry_cli.adapters import (
    Adapter, Binary, Evidence, Guarantees, HarnessCapabilities, Install, LaunchMode, Login,
    NativeControl, OfferedModel, Pin, PlanDraft, Requirements, SessionMode, Vendor, VendorCode,
    define_adapter,
)
from barry_cli.sessions import Endpoint

SPEC = @SPEC@
TOOLS = ("Shell", "Read", "Write", "Edit", "Think")
GATING = "none" if SPEC["tool_denial"] == "none" else "static"
GUARANTEES = Guarantees(
    capture="post-hoc", delivery="none", gating=GATING, identity="none", interrupt=False,
    keeps_vendor_ui=True, steer=False,
)
NATIVE = NativeControl(
    grantable=("Shell", "Read", "Write", "Edit", "Think"), inseparable=(("Write", "Edit"),),
    uncontrolled={"Think": "it is built in"},
)


class Records:
    def find(self, harness_session_id, cwd, env):
        path = Path(cwd, ".toy", harness_session_id)
        return path if path.is_file() else None

    def list(self, cwd, env):
        found = sorted(Path(cwd, ".toy").glob("*"), key=lambda each: -each.stat().st_mtime_ns)
        return iter([each.name for each in found])

    def read(self, path):
        return iter(())


async def plan(config):
    with PlanDraft("Toy", config, GUARANTEES) as draft:
        asked = draft.config
        if SPEC["tmp_dirs"]:
            settings = draft.file("settings.json", "{}")
            draft.args.append(f"--settings={settings}")
        if asked.resume is not None:
            which = asked.resume.harness_session_id or ("last" if asked.resume.last else "pick")
            draft.args.append(f"--resume={which}")
        if asked.model:
            draft.args.append(f"--model={asked.model}")
        if asked.endpoint is not None:
            draft.env["TOY_URL"] = asked.endpoint.url
            if asked.endpoint.key is not None:
                draft.secrets.append(asked.endpoint.key.get_secret_value())
                draft.env["TOY_ENDPOINT_PASS"] = draft.secrets[-1]
        if SPEC["tool_denial"] == "native":
            if denied := draft.denied(TOOLS, NATIVE):
                draft.args.append(f"--deny={','.join(denied)}")
        draft.args += [f"--root={root}" for root in asked.project_roots or ()]
        draft.args += [f"--{name}={value}" for name, value in (asked.options or {}).items()]
        draft.args += ["--relaxed"] if asked.strict_mcp_config is False else []
        draft.env["TOY_UNSET"] = None
        for text in SPEC["warnings"]:
            draft.warn(text)
        if SPEC["lowers"]:
            draft.lower("the toy is worn out", gating="none")
        known = config.session_id if SPEC["reserves"] else None
        records = Records()

        async def discover():
            exec(SPEC["discovering"])
            return next(records.list(config.cwd, config.env), None)

        exec(SPEC["planning"])
        if SPEC["waits"]:
            import asyncio
            await asyncio.sleep(0.01)
        made = draft.finish(
            SPEC["command"], harness_session_id=known,
            discover=discover if SPEC["discover"] else None,
        )
    result = {"plan": made}
    exec(SPEC["planned"], globals(), result)
    return result["plan"]


async def list_models(env):
    exec(SPEC["listing"])
    return eval(SPEC["models"])


def events(line):
    import json
    from barry_cli.agents import Quota, Raw, reset_time
    from barry_cli.sessions import Done, Failed, Init, Result, Text

    row = json.loads(line)
    known = {
        "id": lambda value: (Init(harness_session_id=value),),
        "say": lambda value: (Text(text=value),),
        "fail": lambda value: (Failed(error=value),),
        "full": lambda value: (Quota("it is full", reset_time(value)), Failed(error="it is full")),
        "answer": lambda value: (Result(result="", structured=value),),
        "done": lambda value: (Done(),),
    }
    return known.get(next(iter(row), ""), lambda value: (Raw(line),))(next(iter(row.values()), 0))


async def start(config, engine):
    from barry_cli.agents import AgentAdapter, CapabilitySettings, Command, agent_session

    def request(input):
        args = ["--turn", *(f"--deny={tool}" for tool in input.denied_tools)]
        if input.output_schema is not None:
            args.append("--schema")
        if input.continuation is not None:
            args.append(f"--resume={input.continuation.id}")
            args += ["--fork"] if input.continuation.fork else []
        return Command(command="toy", args=tuple(args), stdin=input.text)

    exec(SPEC["driving"])
    return await agent_session(
        AgentAdapter(
            name="Toy", request=request, events=events, requires_finished_event=True,
            resumable=True, forkable=True, lost=lambda text: "no conversation" in text,
            unavailable=lambda text: "unavailable" in text, usage="unavailable",
            capabilities=CapabilitySettings(session_resume=True),
        ),
        config,
        guarantees=HOSTED.guarantees,
        warnings=SPEC["hosted_warnings"],
    )


def mode(plan):
    return LaunchMode(
        guarantees=GUARANTEES, verified_on=SPEC["version"], native=NATIVE, build=SPEC["build"],
        platforms=SPEC["platforms"], plan=plan,
        evidence=Evidence(check="checks:guest", proves="that it starts"),
    )


HOSTED = SessionMode(
    guarantees=Guarantees(
        capture="total", delivery="wake", gating=SPEC["hosted_gating"], identity="inherent",
        interrupt=True, keeps_vendor_ui=False, steer=False,
    ),
    verified_on=SPEC["version"], structured_output=SPEC["structured"], start=start,
    native=NATIVE, platforms=SPEC["platforms"],
    evidence=Evidence(check="checks:guest", proves="that it starts"),
)

adapter = define_adapter(Adapter(
    id=SPEC["id"],
    label="Toy",
    aliases=SPEC["aliases"],
    bag=".",
    experimental=SPEC["experimental"],
    vendor=SPEC["vendor"],
    vendor_code=VendorCode(
        vendors=(
            Vendor(id="othervendor", label="Other", models=(
                OfferedModel(id="othervendor/big", label="Big"),
            )),
            Vendor(id="keyless", label="Keyless"),
            Vendor(id="failing", label="Failing"),
        ),
        factories={
            "othervendor": lambda name, env: Endpoint(
                url="http://127.0.0.1:9/v1", api="toyco", key=env.get("TOY_OTHER_KEY"),
            ),
            "keyless": lambda name, env: Endpoint(url="http://127.0.0.1:9/v1", api="toyco"),
            "failing": lambda name, env: {}["nothing"],
        },
    ) if SPEC["vendors"] else None,
    capabilities=HarnessCapabilities(
        endpoint=SPEC["endpoint"], mcp_transports=(), skills_mount="none",
        system_prompt_format="unsupported", tool_denial=SPEC["tool_denial"],
        without_key=SPEC["without_key"],
    ),
    requirements=Requirements(
        binary=Binary(
            command="toy", version_args=("--version",),
            version_pattern=r"toy ([0-9]+[.][0-9.]+)",
            pin=Pin(version=SPEC["version"], enforced_by="nothing replaces it"),
            install=Install(fallback="make one"),
        ),
        environment=("TOY_*",),
        session_marks=("TOY_SESSION", "TOY_INNER_*"),
        login=Login(variables=("TOY_KEY",), conflicts=(("TOY_KEY", "TOY_TOKEN"),), needed=False),
    ),
    native_tools=TOOLS,
    options={
        "type": "object", "additionalProperties": False,
        "properties": {"theme": {"enum": ["dark", "light"]}, "depth": {"type": "integer"}},
    } if SPEC["options"] else None,
    transcript=Records(),
    list_models=list_models if SPEC["models"] else None,
    resolve_binary=(lambda: eval(SPEC["other"])) if SPEC["other"] else None,
    default_mode="hosted" if "guest" not in SPEC["modes"] else "guest",
    modes={
        "guest": mode(plan) if "guest" in SPEC["modes"] else None,
        "instrumented": mode(plan) if "instrumented" in SPEC["modes"] else None,
        "hosted": HOSTED if "hosted" in SPEC["modes"] else None,
    },
))
'''

PLAIN: dict[str, Any] = {
    "id": "toy",
    "aliases": ("oldtoy",),
    "version": "1.2.3",
    "modes": ("guest",),
    "tmp_dirs": False,
    "discover": False,
    "reserves": False,
    "waits": False,
    "lowers": False,
    "warnings": (),
    "command": "toy",
    "build": "binary",
    "platforms": None,
    "experimental": None,
    "vendor": "toyco",
    "vendors": True,
    "endpoint": "configurable",
    "without_key": "unauthenticated",
    "tool_denial": "native",
    "options": True,
    "models": "",  # an expression: what the harness lists
    "listing": "pass",
    "other": "",  # an expression: the program that isn't the harness
    "planning": "pass",  # code run while planning, with the draft in reach
    "planned": "pass",  # code run afterwards, which may replace `plan`
    "discovering": "pass",  # code run whenever the conversation is looked for
    "hosted_gating": "static",  # driven, it asks nothing
    "hosted_warnings": (),
    "structured": "prompted",
    "driving": "pass",  # code run when a driven session starts, with its config in reach
}

BAG = """
name = "toy"
settings = [".toyrc", "~/.toy/**"]
[tools]
Shell = { kind = "shell", field = "command" }
Read = { kind = "read", field = "path" }
Write = { kind = "write", field = "path" }
Edit = { kind = "write", field = "path" }
Think = { kind = "other" }
[categories]
shell = ["Shell"]
file-reads = ["Read"]
file-writes = ["Write", "Edit"]
"""

HARNESS = """#!@PYTHON@ -IS
import json, os, signal, sys, time
if sys.argv[1:] == ["--version"]:
    print("toy @VERSION@")
    sys.exit()
note = os.environ.get("TOY_NOTE")
if note:
    seen = {"pid": os.getpid(), "parent": os.getppid(), "argv": sys.argv, "cwd": os.getcwd(),
            "env": dict(os.environ), "at": time.time_ns()}
    part = f"{note}.{os.getpid()}"
    with open(part, "w") as file:
        json.dump(seen, file)
    os.rename(part, note)
if "--turn" in sys.argv:
    def put(**row):
        print(json.dumps(row), flush=True)
    kept = [word[9:] for word in sys.argv if word.startswith("--resume=")]
    if kept and not os.path.exists(os.path.join(".toy", kept[0])):
        print("there is no conversation " + kept[0], file=sys.stderr)
        sys.exit(1)
    name = kept[0] if kept and "--fork" not in sys.argv else f"toy-{os.getpid()}"
    put(id=name)
    os.makedirs(".toy", exist_ok=True)
    for line in sys.stdin.read().splitlines():
        word, _, rest = line.partition(" ")
        with open(os.path.join(".toy", name), "a") as file:
            file.write(line + chr(10))
        if word in ("say", "fail"):
            put(**{word: rest})
        elif word in ("full", "answer"):
            put(**{word: json.loads(rest)})
        elif word == "exit":
            sys.exit(int(rest))
        elif word == "hang":
            time.sleep(600)
        elif word == "denied":
            put(say=" ".join(word[7:] for word in sys.argv if word.startswith("--deny=")))
        elif word == "before":
            put(say=open(os.path.join(".toy", kept[0])).readline().strip() if kept else "nothing")
    put(done=True)
    sys.exit()
if "deaf" in sys.argv:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
if "gentle" in sys.argv:
    signal.signal(signal.SIGTERM, lambda number, frame: os._exit(0))
print(f"<ready {os.getpid()}>", flush=True)
while line := sys.stdin.readline():
    word, _, rest = line.strip().partition(" ")
    if word == "quit":
        sys.exit(int(rest or 0))
    if word == "die":
        os.kill(os.getpid(), int(rest))
    if word == "name":
        os.makedirs(".toy", exist_ok=True)
        open(os.path.join(".toy", rest), "w").close()
    print(f"<{word} done>", flush=True)
"""


def write_adapter(folder: Path, **spec: Any) -> Path:
    """An adapter package in a folder; ``spec`` bends PLAIN."""
    unknown = set(spec) - set(PLAIN)
    assert not unknown, unknown
    whole = {**PLAIN, **spec}
    module = f"barry_adapter_{whole['id'].replace('-', '_')}"
    package = folder / module
    package.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "barry-adapter-{whole["id"]}"\nversion = "0.1.0"\n'
        f'[project.entry-points."barry.adapters"]\n{whole["id"]} = "{module}:adapter"\n'
    )
    (package / "__init__.py").write_text(ADAPTER.replace("@SPEC@", pprint.pformat(whole)))
    (package / "checks.py").write_text("async def guest(proof):\n    await proof.launch()\n")
    (package / "bag.toml").write_text(BAG)
    return folder


def write_harness(path: Path, text: str = HARNESS, *, version: str = "1.2.3") -> Path:
    """An executable of the harness, or of any other script, at a path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("@PYTHON@", sys.executable).replace("@VERSION@", version))
    path.chmod(0o755)
    return path


class Toys:
    """Registry records of toy adapters, each made once: checking a package takes a moment."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[str, dict[str, Any]] = {}

    def record(self, **spec: Any) -> dict[str, Any]:
        key = repr(sorted(spec.items()))
        if key not in self._made:
            where = self._folder / f"toy{len(self._made)}"
            self._made[key] = self._added(where, write_adapter(where / "package", **spec))
        return self._made[key]

    def shipped(self, name: str) -> dict[str, Any]:
        """The record of an adapter that travels with Barry."""
        if name not in self._made:
            self._made[name] = self._added(self._folder / f"shipped-{name}", name)
        return self._made[name]

    def _added(self, where: Path, package: Path | str) -> dict[str, Any]:
        home = Folders(*(where / name for name in ("config", "data", "state", "cache", "run")))
        registry = Adapters(home)
        asyncio.run(registry.add(package))
        (row,) = registry.rows()
        return row


@dataclass(frozen=True)
class Done:
    """How a run of Barry's went."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        """The one object on stderr of a failure under ``--json``."""
        return json.loads(self.err)["error"]


class Barry:
    """Barry's command line in a home of a test's own, with the toy on PATH."""

    def __init__(self, top: Path, toys: Toys) -> None:
        self.top = top
        self.work = top / "work"
        self.bin = top / "bin"
        self.note = top / "note"
        self._toys = toys
        self._children: list[pexpect.spawn[str]] = []
        home = os.environ["BARRY_HOME"]
        names = ("config", "data", "state", "cache", "run")
        self.folders = Folders(*(Path(home, name) for name in names))
        self.sessions = Sessions(self.folders)
        self.work.mkdir()
        write_harness(self.bin / "toy")
        self.env = {
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "HOME": os.environ["HOME"],
            "BARRY_HOME": home,
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "TOY_NOTE": str(self.note),
        }

    def install(self, **spec: Any) -> None:
        """Have this toy installed, besides those of another id that are."""
        self._install(self._toys.record(**spec))

    def install_shipped(self, name: str) -> None:
        """Have an adapter that travels with Barry installed, too."""
        self._install(self._toys.shipped(name))

    def _install(self, record: dict[str, Any]) -> None:
        path = self.folders.registry
        kept = json.loads(path.read_text())["adapters"] if path.exists() else []
        rows = [row for row in kept if row["id"] != record["id"]] + [record]
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(json.dumps({"schema": 1, "adapters": rows}))

    def run(
        self,
        *words: str,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
        python: tuple[str, ...] = (),
        **more: Any,
    ) -> Done:
        """Barry without a terminal. ``python``: what to run instead of Barry's own door."""
        done = subprocess.run(
            [sys.executable, *(python or ("-m", "barry_cli")), *words],
            env=self.surroundings(env),
            cwd=cwd or self.work,
            **{"stdin": subprocess.DEVNULL, "capture_output": True, **more},
            text=True,
            timeout=60,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def surroundings(self, env: Mapping[str, str | None] | None = None) -> dict[str, str]:
        merged = {**self.env, **(env or {})}
        return {name: value for name, value in merged.items() if value is not None}

    def open(
        self,
        *words: str,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
        program: tuple[str, ...] = (),
    ) -> pexpect.spawn[str]:
        """Barry (or another program) in a terminal of its own."""
        argv = [*(program or (sys.executable, "-m", "barry_cli")), *words]
        child = pexpect.spawn(
            argv[0],
            argv[1:],
            env=self.surroundings(env),
            cwd=str(cwd or self.work),
            timeout=20,
            echo=False,
            encoding="utf-8",
            dimensions=(40, 400),
        )
        child.delaybeforesend = None
        child.logfile_read = io.StringIO()
        self._children.append(child)
        return child

    def launch(self, *words: str, **more: Any) -> pexpect.spawn[str]:
        """``barry session launch toy WORDS``, waited for until the toy is up."""
        child = self.open("session", "launch", "toy", *words, **more)
        child.expect(r"<ready (\d+)>")
        return child

    def refused(self, *words: str, **more: Any) -> Done:
        """A run in a terminal that is expected to end by itself; all that it wrote is ``err``."""
        child = self.open(*words, **more)
        code = self.ended(child)
        return Done(code, "", written(child))

    def ended(self, child: pexpect.spawn[str]) -> int:
        """The exit status, or minus the signal, of a child that is about to end."""
        child.expect(pexpect.EOF)
        child.wait()
        child.close()
        return -child.signalstatus if child.signalstatus is not None else int(child.exitstatus)

    def started(self) -> Any:
        """What the toy was started with, by its own account."""
        assert eventually(self.note.exists, 10)
        return json.loads(self.note.read_text())

    def row(self) -> SessionRow:
        """The only session."""
        (row,) = self.sessions.all()
        return row

    def listed(self) -> Any:
        """The only session, as ``session list`` has it."""
        (session,) = self.run("session", "list", "--json").json["sessions"]
        return session

    def litter(self) -> list[Path]:
        """Folders that plans made and that are still there."""
        return sorted(self.folders.launches.glob("*"))

    @contextmanager
    def leaves_no_process(self) -> Iterator[None]:
        """Whatever was started inside, and all that it started, has ended soon after."""
        before = set(descendants(os.getpid()))
        with subreaper():
            yield
            assert eventually(lambda: set(descendants(os.getpid())) <= before, 20)

    @contextmanager
    def leaves_nothing(self) -> Iterator[None]:
        """Inside, nothing may be recorded, left running or left lying about."""
        registry = read(self.folders.registry)
        rows = self.sessions.all() if self.folders.database.exists() else []
        with self.leaves_no_process():
            yield
        assert read(self.folders.registry) == registry
        if rows or self.folders.database.exists():
            assert self.sessions.all() == rows
        assert self.litter() == []
        assert not self.note.exists()

    def close(self) -> None:
        for child in self._children:
            if not child.closed:
                child.close(force=True)


def written(child: pexpect.spawn[str]) -> str:
    """All that a child has written, without colours."""
    text = str(child.logfile_read.getvalue()).replace("\r\n", "\n")
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def read(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def says(done: Done, code: int, *parts: str) -> None:
    """Assert a refusal: its exit code, one sentence, one hint, no traceback, these words in it."""
    lines = done.err.strip().splitlines()
    assert done.code == code, done
    assert lines, done
    errors = [line for line in lines if line.startswith("error: ")]
    hints = [line for line in lines if line.startswith("hint: ")]
    assert len(errors) == 1, done.err
    assert len(hints) == 1, done.err
    assert "Traceback" not in done.err
    for part in parts:
        assert part in done.err, (part, done.err)


def eventually(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def alive(pid: int) -> bool:
    identity = identify(pid)
    return identity is not None and is_alive(identity)


def identity_of(pid: int) -> ProcessIdentity:
    identity = identify(pid)
    assert identity is not None
    return identity
